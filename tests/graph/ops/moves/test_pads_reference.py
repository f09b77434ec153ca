from __future__ import annotations

import numpy as np
import pytest

from microgen.base.errors import ModelError
from microgen.graph.ir.graph import DType
from microgen.graph.ops.base import Pair
from microgen.graph.ops.moves.pads import MIRROR_PAD, PAD, MirrorPadAttrs, PadAttrs
from tests.kernels.conformance import litert_models
from tests.kernels.conformance.every_dtype import dtype_of, random_array, random_type
from tests.kernels.conformance.litert_models import Model, in_every_dtype
from tests.kernels.conformance.litert_oracle import (
    Case,
    activation_type,
    assert_equal,
    int32_constant,
    needs_litert,
)
from tests.support.tflite_builder import TensorSpec


def random_case(seed: int) -> Case:
    """A random case: PAD fills with the zero point, PADV2 with a given value."""
    rng, dtype = np.random.default_rng(seed), dtype_of(seed)
    shape = tuple(int(n) for n in rng.integers(1, 6, rng.integers(1, 5)))
    data = random_type(rng, shape, dtype)
    pads = rng.choice([0, 0, 1, 2, 3], (len(data.shape), 2)).astype(np.int32)
    is_v2 = rng.random() < 0.5
    value = random_array(rng, (1,), dtype)
    pairs = tuple((int(before), int(after)) for before, after in pads)
    extra = [int32_constant("pads", pads)]
    if is_v2:
        of = (data.quant.scale, data.quant.zero_point) if data.quant else ((), ())
        extra.append(TensorSpec("value", (1,), dtype.value, value, *of))
    return Case(
        PAD.name,
        PadAttrs(pairs, value.item() if is_v2 else data.zero),
        [data],
        [random_array(rng, data.shape, dtype)],
        data.quant,
        "PADV2" if is_v2 else "PAD",
        "PadV2Options" if is_v2 else "PadOptions",
        extra=extra,
        version=2,
        output_dtype=dtype,
    )


@needs_litert
def test_pad_equals_litert() -> None:
    for seed in range(120):
        assert_equal(random_case(seed))


@pytest.mark.parametrize(
    ("pads", "sentence"),
    [
        (((1, 1),), r"pads for 1 axes; the input is int8\[2,3\]"),
        (((0, 0), (-1, 0)), "must not be negative"),
    ],
)
def test_pad_impossible_pads(pads: tuple[Pair, ...], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        PAD.infer(PadAttrs(pads, 0), [activation_type((2, 3), 1.0, 0)])


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (200, DType.INT8),
        (-40000, DType.INT16),
        (0.5, DType.INT32),
        (2, DType.BOOL),
        (0.1, DType.FLOAT32),
        (1e39, DType.FLOAT32),
    ],
)
def test_the_value_must_be_of_the_dtype(value: float, dtype: DType) -> None:
    data = random_type(np.random.default_rng(0), (1,), dtype)
    said = PAD.check(PadAttrs(((0, 0),), value), [data], [data])
    assert said == f"the padding's value is {value}; it must be of {dtype.value}"


def random_model(seed: int) -> Model:
    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.integers(1, 6, int(rng.integers(1, 5))))
    mode = int(rng.integers(2))
    pads = np.array([rng.integers(0, n + mode, 2) for n in shape])
    output = tuple(int(n) for n in np.array(shape) + pads.sum(axis=1))
    stated = [int32_constant("pads", pads)]
    name = "MirrorPadOptions"
    return Model("MIRROR_PAD", [shape], [output], stated, name, {"mode": mode}, seed=seed)


@needs_litert
def test_mirror_pad_equals_litert() -> None:
    for model in in_every_dtype(random_model, 20):
        litert_models.assert_equal(model)


@pytest.mark.parametrize(
    ("attrs", "sentence"),
    [
        (MirrorPadAttrs(((1, 1),), True), "pads for 1 axes"),
        (MirrorPadAttrs(((0, 0), (0, 3)), False), r"3 elements is padded by \(0, 3\); 0 to 2"),
        (MirrorPadAttrs(((0, 0), (4, 0)), True), "0 to 3 are expected"),
        (MirrorPadAttrs(((-1, 0), (0, 0)), True), "0 to 2 are expected"),
    ],
)
def test_mirror_pad_impossible_pads(attrs: MirrorPadAttrs, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        MIRROR_PAD.infer(attrs, [activation_type((2, 3), 1.0, 0)])


def test_an_unknown_mode_is_refused() -> None:
    pads = [int32_constant("pads", np.zeros((1, 2)))]
    model = Model("MIRROR_PAD", [(2,)], [(2,)], pads, "MirrorPadOptions", {"mode": 7})
    with pytest.raises(ModelError, match="the mode 7"):
        model.load()
