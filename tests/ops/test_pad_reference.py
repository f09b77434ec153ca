from __future__ import annotations

import numpy as np
import pytest

from microgen.ops.base import Pair
from microgen.ops.pad import OP, PadAttrs
from tests.ops.litert_oracle import (
    Case,
    activation_type,
    assert_equal,
    int32_constant,
    needs_litert,
    random_activation,
    random_values,
)
from tests.tflite_builder import TensorSpec


def random_case(seed: int) -> Case:
    """PAD fills with the zero point, PADV2 with a value of its own."""
    rng = np.random.default_rng(seed)
    data = random_activation(rng, tuple(int(n) for n in rng.integers(1, 6, rng.integers(1, 5))))
    pads = rng.choice([0, 0, 1, 2, 3], (len(data.shape), 2)).astype(np.int32)
    is_v2 = rng.random() < 0.5
    quant = data.quant
    assert quant is not None
    value = np.array([rng.integers(-128, 128) if is_v2 else data.zero_point], np.int8)
    pairs = tuple((int(before), int(after)) for before, after in pads)
    extra = [int32_constant("pads", pads)]
    if is_v2:
        extra.append(TensorSpec("value", (1,), "int8", value, quant.scale, quant.zero_point))
    return Case(
        OP.name,
        PadAttrs(pairs, int(value[0])),
        [data],
        [random_values(rng, data.shape)],
        quant,
        "PADV2" if is_v2 else "PAD",
        "PadV2Options" if is_v2 else "PadOptions",
        extra=extra,
        version=2,
    )


@needs_litert
def test_equals_litert() -> None:
    for seed in range(80):
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
        OP.infer(PadAttrs(pads, 0), [activation_type((2, 3), 1.0, 0)])


def test_the_value_must_be_an_int8() -> None:
    data = activation_type((1,), 1.0, 0)
    assert "the padding's value is 200" in str(OP.check(PadAttrs(((0, 0),), 200), [data], [data]))
