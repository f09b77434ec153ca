from __future__ import annotations

import numpy as np
import pytest

from microgen.ir.graph import DType, TensorType
from microgen.ops.add import OP, AddAttrs
from microgen.ops.base import Activation
from tests.ops.litert_oracle import (
    FUSED,
    Case,
    activation_type,
    assert_equal,
    needs_litert,
    random_activation,
    random_activation_function,
    random_values,
)


def random_shapes(rng: np.random.Generator) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Two shapes that broadcast: dimensions of 1 and missing leading ones on either side."""
    shape = [int(n) for n in rng.integers(1, 6, int(rng.integers(1, 5)))]
    pair = [shape, list(shape)]
    if rng.random() < 0.7:
        for one in pair:
            one[:] = [1 if rng.random() < 0.3 else n for n in one]
        shorter = pair[int(rng.integers(2))]
        del shorter[: int(rng.integers(len(shorter)))]
    return tuple(pair[0]), tuple(pair[1])


def random_case(seed: int) -> Case:
    rng = np.random.default_rng(seed)
    types = [random_activation(rng, shape) for shape in random_shapes(rng)]
    off = 2.0 ** (rng.uniform(-12, 12) if rng.random() < 0.4 else 0)
    output = activation_type((), 2 * types[0].scale * off, int(rng.integers(-128, 128)))
    activation = random_activation_function(rng)
    constants = [int(rng.integers(2))] if rng.random() < 0.4 else []
    assert output.quant is not None
    return Case(
        OP.name,
        AddAttrs(activation),
        types,
        [random_values(rng, t.shape) for t in types],
        output.quant,
        "ADD",
        "AddOptions",
        {"fusedActivationFunction": FUSED[activation]},
        constants=constants,
        version=2,
    )


@needs_litert
@pytest.mark.parametrize("block", range(8))
def test_equals_litert(block: int) -> None:
    for seed in range(block * 50, block * 50 + 50):
        assert_equal(random_case(seed))


def test_shapes_must_broadcast() -> None:
    types = [TensorType((2, 3), DType.INT8), TensorType((2, 2), DType.INT8)]
    with pytest.raises(ValueError, match=r"int8\[2,3\] and int8\[2,2\] do not broadcast"):
        OP.infer(AddAttrs(Activation.NONE), types)


def test_scales_too_far_apart() -> None:
    data, output = activation_type((1,), 1.0, 0), activation_type((1,), 2.0**-19, 0)
    attrs = AddAttrs(Activation.NONE)
    assert "2**19 times the output scale" in str(OP.check(attrs, [data, data], [output]))


def test_each_operand_must_be_int8() -> None:
    data, wrong = activation_type((1,), 1.0, 0), TensorType((1,), DType.INT32)
    attrs = AddAttrs(Activation.NONE)
    assert "the right input is int32[1]" in str(OP.check(attrs, [data, wrong], [data]))
