from __future__ import annotations

import numpy as np
import pytest

from microgen.graph.ir.graph import DType
from microgen.graph.ops.base import Pair
from microgen.graph.ops.moves.pads import PAD, PadAttrs
from tests.kernels.conformance.every_dtype import dtype_of, random_array, random_type
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
def test_equals_litert() -> None:
    for seed in range(120):
        assert_equal(random_case(seed))


@pytest.mark.parametrize(
    ("pads", "sentence"),
    [
        (((1, 1),), r"pads for 1 axes; the input is int8\[2,3\]"),
        (((0, 0), (-1, 0)), "must not be negative"),
    ],
)
def test_impossible_pads(pads: tuple[Pair, ...], sentence: str) -> None:
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
