from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from microgen.graph.arithmetic.int8 import quantize_multiplier
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import DType
from microgen.graph.ops.unary.activations import CLIP, ClipAttrs
from tests.kernels.conformance.litert_oracle import (
    Case,
    activation_type,
    assert_equal,
    by_reference,
    float_type,
    needs_litert,
    random_activation,
    random_values,
)
from tests.kernels.unary.unary_cases import (
    Operator,
    check_floats,
    check_int16,
    check_int16_is_refused,
    powers,
)

CODES = {
    Activation.RELU: "RELU",
    Activation.RELU6: "RELU6",
    Activation.RELU_N1_TO_1: "RELU_N1_TO_1",
}

VERSIONS = {Activation.RELU: 2, Activation.RELU6: 2, Activation.RELU_N1_TO_1: 1}


def random_case(seed: int) -> Case:
    rng = np.random.default_rng(seed)
    data = random_activation(rng, tuple(int(n) for n in rng.integers(1, 8, rng.integers(1, 5))))
    output = data
    if rng.random() < 0.7:
        scale = data.scale * 2.0 ** rng.uniform(-10, 6)
        output = activation_type((), scale, int(rng.integers(-128, 128)))
    activation = list(CODES)[int(rng.integers(3))]
    assert output.quant is not None
    return Case(
        CLIP.name,
        ClipAttrs(activation),
        [data],
        [random_values(rng, data.shape)],
        output.quant,
        CODES[activation],
        "",
        version=VERSIONS[activation],
    )


@needs_litert
@pytest.mark.parametrize("block", range(6))
def test_equals_litert(block: int) -> None:
    for seed in range(block * 50, block * 50 + 50):
        assert_equal(random_case(seed))


@needs_litert
@pytest.mark.parametrize("activation", CODES)
def test_equal_quantization_is_a_pure_clamp(activation: Activation) -> None:
    data = activation_type((1, 256), 0.05, -3)
    values = np.arange(-128, 128).astype(np.int8).reshape(1, 256)
    case = replace(random_case(0), types=[data], arrays=[values], code=CODES[activation])
    case = replace(case, version=VERSIONS[activation])
    assert data.quant is not None
    assert_equal(replace(case, attrs=ClipAttrs(activation), output_quant=data.quant))


def test_a_scale_of_one_changes_nothing() -> None:
    # So a kernel may leave out the multiplication.
    assert quantize_multiplier(1.0) == (1 << 30, 1)


def test_constraints() -> None:
    data = activation_type((1,), 1.0, 0)
    assert "needs an activation" in str(CLIP.check(ClipAttrs(Activation.NONE), [data], [data]))
    tiny = activation_type((1,), 2.0**-40, 0)
    found = CLIP.check(ClipAttrs(Activation.RELU), [data], [tiny])
    assert "output's scale is too small for the input's" in str(found)


@needs_litert
@pytest.mark.parametrize("activation", CODES)
def test_floats_equal_litert(activation: Activation) -> None:
    check_floats(CLIP.name, ClipAttrs(activation), Operator(CODES[activation]))


@needs_litert
@pytest.mark.parametrize("activation", [Activation.RELU, Activation.RELU6])
def test_int16_equals_litert(activation: Activation) -> None:
    operator = Operator(CODES[activation], version=2)
    check_int16(CLIP.name, ClipAttrs(activation), operator, powers(-16, -4, (-16.0, -4.0)))


@needs_litert
@pytest.mark.parametrize("activation", [Activation.RELU, Activation.RELU6])
def test_int16_of_equal_scales_equals_litert(activation: Activation) -> None:
    operator = Operator(CODES[activation], version=2)
    check_int16(CLIP.name, ClipAttrs(activation), operator, lambda _rng: (0.001, 0.001), count=1)


RATIOS = ((1.0, 1e10), (1e-10, 1.0), (1e-30, 1e10), (1.0, 2.0**32), (1.0, 2.0**33), (0.5, 2.0**31))


@needs_litert
@pytest.mark.parametrize("activation", [Activation.RELU, Activation.RELU6])
@pytest.mark.parametrize("scales", RATIOS)
def test_int16_of_a_far_larger_scale_equals_litert(
    activation: Activation, scales: tuple[float, float]
) -> None:
    operator = Operator(CODES[activation], version=2)
    check_int16(CLIP.name, ClipAttrs(activation), operator, lambda _rng: scales, count=1)


@needs_litert
@pytest.mark.parametrize("activation", CODES)
@pytest.mark.parametrize("scales", RATIOS)
def test_int8_of_a_far_larger_scale_equals_litert(
    activation: Activation, scales: tuple[float, float]
) -> None:
    data, output = (activation_type((1, 256), s, z) for s, z in zip(scales, (-3, 5), strict=True))
    values = np.arange(-128, 128).astype(np.int8).reshape(1, 256)
    case = replace(random_case(0), types=[data], arrays=[values], code=CODES[activation])
    case = replace(case, attrs=ClipAttrs(activation), version=VERSIONS[activation])
    assert_equal(replace(case, output_quant=output.quant))


def test_int16_is_refused_by_one() -> None:
    check_int16_is_refused(CLIP.name, ClipAttrs(Activation.RELU_N1_TO_1))


def test_infinity_becomes_the_largest_float_as_in_fused_activations() -> None:
    array = np.array([np.inf, -np.inf, np.nan, -0.0], np.float32)
    case = replace(
        random_case(0),
        attrs=ClipAttrs(Activation.RELU),
        types=[float_type((4,))],
        arrays=[array],
        output_quant=None,
        output_dtype=DType.FLOAT32,
    )
    expected = [np.finfo(np.float32).max, 0, np.nan, 0]
    np.testing.assert_array_equal(by_reference(case), np.array(expected, np.float32))
