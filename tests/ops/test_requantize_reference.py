from __future__ import annotations

import numpy as np
import pytest

from microgen.ops.requantize import OP, RequantizeAttrs
from tests.ops.litert_oracle import (
    Case,
    activation_type,
    assert_equal,
    needs_litert,
    random_activation,
)


def random_case(seed: int) -> Case:
    """Every int8 value, to a scale that is near, equal, or (every third) far."""
    rng = np.random.default_rng(seed)
    data = random_activation(rng, (4, 64))
    exponent = rng.uniform(-28, 28) if seed % 3 == 0 else rng.choice([0, rng.uniform(-3, 3)])
    zero_point = int(rng.choice([data.zero_point, -128, 127, int(rng.integers(-128, 128))]))
    output = activation_type((), data.scale * 2.0**exponent, zero_point).quant
    assert output is not None
    values = rng.permutation(np.arange(-128, 128)).astype(np.int8).reshape(4, 64)
    return Case(OP.name, RequantizeAttrs(), [data], [values], output, "QUANTIZE", "", version=2)


@needs_litert
@pytest.mark.parametrize("block", range(6))
def test_equals_litert(block: int) -> None:
    for seed in range(block * 50, block * 50 + 50):
        assert_equal(random_case(seed))


def test_constraints() -> None:
    data, tiny = activation_type((1,), 1.0, 0), activation_type((1,), 2.0**-40, 0)
    found = OP.check(RequantizeAttrs(), [data], [tiny])
    assert "output's scale is too small for the input's" in str(found)
