from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from microgen.graph.ir.graph import DType
from microgen.graph.ops.elementwise.product import PRELU, PReluAttrs
from tests.kernels.conformance.litert_oracle import (
    Case,
    activation_type,
    assert_equal,
    float_type,
    needs_litert,
    random_activation,
    random_floats,
    random_values,
)
from tests.kernels.unary.unary_cases import int16_type

ATTRS = PReluAttrs()


def _alpha_shape(rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The data's shape, with some axes 1, and some of the first axes left out."""
    partial = tuple(n if rng.random() < 0.6 else 1 for n in shape)
    return partial[int(rng.integers(len(shape))) :]


def random_case(seed: int) -> Case:
    rng = np.random.default_rng(seed)
    data = random_activation(rng, tuple(int(n) for n in rng.integers(1, 6, rng.integers(1, 5))))
    alpha = random_activation(rng, _alpha_shape(rng, data.shape))
    scale = data.scale * 2.0 ** rng.uniform(-8, 4)
    output = (
        data if rng.random() < 0.2 else activation_type((), scale, int(rng.integers(-128, 128)))
    )
    arrays = [random_values(rng, kind.shape) for kind in (data, alpha)]
    constants = [1] if rng.random() < 0.8 else []
    assert output.quant is not None
    return Case(
        PRELU.name, ATTRS, [data, alpha], arrays, output.quant, "PRELU", "", constants=constants
    )


@needs_litert
@pytest.mark.parametrize("block", range(6))
def test_equals_litert(block: int) -> None:
    for seed in range(block * 50, block * 50 + 50):
        assert_equal(random_case(seed))


@needs_litert
@pytest.mark.parametrize("zero_points", [(0, 0), (3, -128), (-128, 127), (127, 5)])
def test_every_value_with_every_alpha(zero_points: tuple[int, int]) -> None:
    every = np.arange(-128, 128).astype(np.int8)
    data = activation_type((256, 256), 0.05, zero_points[0])
    alpha = activation_type((256,), 0.01, zero_points[1])
    arrays = [np.repeat(every[:, None], 256, axis=1), every]
    output = activation_type((), 0.04, 7)
    assert output.quant is not None
    case = Case(PRELU.name, ATTRS, [data, alpha], arrays, output.quant, "PRELU", "", constants=[1])
    assert_equal(case)


def _float_case(seed: int) -> Case:
    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.integers(1, 6, rng.integers(1, 5)))
    types = [float_type(shape), float_type(_alpha_shape(rng, shape))]
    arrays = [random_floats(rng, kind.shape) for kind in types]
    return Case(
        PRELU.name,
        ATTRS,
        types,
        arrays,
        None,
        "PRELU",
        "",
        constants=[1],
        output_dtype=DType.FLOAT32,
    )


def _int16_case(seed: int) -> Case:
    """A case of int16 data with int8 alpha."""
    rng = np.random.default_rng(seed)
    case = random_case(seed)
    shape, scale = case.types[0].shape, 2.0 ** rng.uniform(-16, -4)
    data = replace(int16_type(scale), shape=shape)
    output = int16_type(scale * 2.0 ** rng.uniform(-8, 4)).quant
    values = rng.integers(-(2**15), 2**15, shape).astype(np.int16)
    return replace(
        case,
        types=[data, case.types[1]],
        arrays=[values, case.arrays[1]],
        output_quant=output,
        output_dtype=DType.INT16,
    )


@needs_litert
@pytest.mark.parametrize("block", range(4))
def test_int16_and_floats_equal_litert(block: int) -> None:
    for seed in range(block * 50, block * 50 + 50):
        assert_equal(_int16_case(seed))
        assert_equal(_float_case(seed))


@needs_litert
@pytest.mark.parametrize("zero_point", [0, -128, 127])
def test_int16_extremes_with_every_alpha(zero_point: int) -> None:
    every = np.arange(-128, 128).astype(np.int8)
    extremes = np.array([[-(2**15)], [2**15 - 1], [-1], [0], [1]], np.int16)
    data = replace(int16_type(0.001), shape=(5, 256))
    arrays = [np.repeat(extremes, 256, axis=1), every]
    types = [data, activation_type((256,), 0.01, zero_point)]
    for power in range(-16, 0, 3):
        output = int16_type(2.0**power).quant
        assert_equal(replace(_int16_case(0), types=types, arrays=arrays, output_quant=output))


def test_alpha_must_broadcast_to_the_data() -> None:
    data, alpha = activation_type((1, 3), 1, 0), activation_type((2, 3), 1, 0)
    with pytest.raises(ValueError, match="it must broadcast to the data"):
        PRELU.infer(ATTRS, [data, alpha])


def test_constraints() -> None:
    data, tiny = activation_type((1,), 1.0, 0), activation_type((1,), 2.0**-40, 0)
    assert "is 2**30 or more" in str(PRELU.check(ATTRS, [data, data], [tiny]))
    wide = int16_type(1.0, 1)
    assert "the alpha is int16[1]; it must be int8" in str(PRELU.check(ATTRS, [data, wide], [data]))
    assert "the alpha is int16[1]; it must be int8" in str(PRELU.check(ATTRS, [wide, wide], [wide]))
