from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from microgen.ops.base import Activation
from microgen.ops.clip import OP, ClipAttrs
from microgen.quantize import quantize_multiplier
from tests.ops.litert_oracle import (
    Case,
    activation_type,
    assert_equal,
    needs_litert,
    random_activation,
    random_values,
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
        OP.name,
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
    # so that a kernel may leave the multiplication out
    assert quantize_multiplier(1.0) == (1 << 30, 1)


def test_constraints() -> None:
    data = activation_type((1,), 1.0, 0)
    assert "needs an activation" in str(OP.check(ClipAttrs(Activation.NONE), [data], [data]))
    tiny = activation_type((1,), 2.0**-40, 0)
    found = OP.check(ClipAttrs(Activation.RELU), [data], [tiny])
    assert "output's scale is too small for the input's" in str(found)
