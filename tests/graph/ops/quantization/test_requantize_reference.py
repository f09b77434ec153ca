from __future__ import annotations

import numpy as np
import pytest

from microgen.graph.ir.graph import DType, Quant, TensorType
from microgen.graph.ops.quantization.rescale import REQUANTIZE, RequantizeAttrs
from tests.kernels.conformance.litert_oracle import (
    Case,
    activation_type,
    assert_equal,
    needs_litert,
    random_activation,
)
from tests.kernels.quantization.test_requantize import WIDE, random_values, random_wide


def random_case(seed: int) -> Case:
    """A case of every int8 value. The output's scale is near or equal, and every third time far."""
    rng = np.random.default_rng(seed)
    data = random_activation(rng, (4, 64))
    exponent = rng.uniform(-28, 28) if seed % 3 == 0 else rng.choice([0, rng.uniform(-3, 3)])
    zero_point = int(rng.choice([data.zero_point, -128, 127, int(rng.integers(-128, 128))]))
    output = activation_type((), data.scale * 2.0**exponent, zero_point).quant
    assert output is not None
    values = rng.permutation(np.arange(-128, 128)).astype(np.int8).reshape(4, 64)
    return Case(
        REQUANTIZE.name, RequantizeAttrs(), [data], [values], output, "QUANTIZE", "", version=2
    )


@needs_litert
@pytest.mark.parametrize("block", range(6))
def test_equals_litert(block: int) -> None:
    for seed in range(block * 50, block * 50 + 50):
        assert_equal(random_case(seed))


def wide_case(seed: int) -> Case:
    """A case between int8, int16 and int32."""
    rng, (source, target) = np.random.default_rng(seed), WIDE[seed % len(WIDE)]
    data, output = random_wide(rng, source, target, 12)
    values = random_values(rng, source)
    if source is DType.INT32:
        values = values[np.abs(values * (data.scale[0] / output.scale[0])) < 2**30]
    kind = TensorType(values.shape, source, data)
    return Case(
        REQUANTIZE.name,
        RequantizeAttrs(),
        [kind],
        [values],
        output,
        "QUANTIZE",
        "",
        version=2,
        output_dtype=target,
    )


@needs_litert
def test_other_widths_equal_litert() -> None:
    for seed in range(120):
        assert_equal(wide_case(seed))


@pytest.mark.parametrize(
    ("source", "target", "sentence"),
    [
        (DType.INT8, DType.INT32, "the output is int32[1]; it must be int8 or uint8 or int16"),
        (DType.INT32, DType.INT32, "the output is int32[1]; it must be int8 or int16"),
        (
            DType.INT64,
            DType.INT8,
            "the input is int64[1]; it must be int8 or uint8 or int16",
        ),
    ],
)
def test_pairs_that_litert_does_not_have(source: DType, target: DType, sentence: str) -> None:
    data, output = (TensorType((1,), d, Quant((1.0,), (0,))) for d in (source, target))
    assert str(REQUANTIZE.check(RequantizeAttrs(), [data], [output])).startswith(sentence)


def test_constraints() -> None:
    data, tiny = activation_type((1,), 1.0, 0), activation_type((1,), 2.0**-40, 0)
    found = REQUANTIZE.check(RequantizeAttrs(), [data], [tiny])
    assert "output's scale is too small for the input's" in str(found)
