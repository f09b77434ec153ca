"""Cases of qnn.add, qnn.subtract and qnn.mul, for both tests of each."""

from __future__ import annotations

import numpy as np

from microgen.graph import ops
from microgen.graph.arithmetic.terms import Rounding
from microgen.graph.ir.graph import ArrayType, DType
from microgen.graph.ops.elementwise.rescaled import RescaledAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.conformance import tvm_oracle
from tests.kernels.quantization.test_rescale import ROUNDINGS, random_scale

SHAPES = (((2, 3, 4), (2, 3, 4)), ((5,), (1,)), ((2, 1, 3), (4, 1)), ((), (3, 2)), ((2, 50), (50,)))


def random_case(op: str, seed: int) -> c.Case:
    """A case whose scales are near the output's, equal to it, or far off."""
    rng = np.random.default_rng(seed)
    lhs, rhs, output = (c.random_quant(rng) for _ in range(3))
    scales = [random_scale(rng, output.scale[0]) for _ in range(2)]
    if op == "qnn.mul":
        scales[1] = float(np.float32(min(scales[1], 1e3) / output.scale[0]))
    pairs = [(s, q.zero_point[0]) for s, q in zip(scales, (lhs, rhs), strict=True)]
    attrs_type = ops.registry()[op].attrs
    assert issubclass(attrs_type, RescaledAttrs)
    to = (output.scale[0], output.zero_point[0])
    attrs = attrs_type(*pairs[0], *pairs[1], *to, list(ROUNDINGS)[seed % 2])
    inputs = tuple(c.int8(rng, shape, lhs) for shape in SHAPES[seed % len(SHAPES)])
    return c.Case(f"{op} {seed}", op, attrs, inputs, output)


def by_tvm(case: c.Case) -> tvm_oracle.Array:
    """The result by TVM's definitions."""
    a = case.attrs
    assert isinstance(a, RescaledAttrs)
    pairs = (
        (a.lhs_scale, a.lhs_zero_point),
        (a.rhs_scale, a.rhs_zero_point),
        (a.output_scale, a.output_zero_point),
    )
    lhs, rhs = (tensor.array for tensor in case.inputs)
    return tvm_oracle.elementwise(case.op, lhs, rhs, pairs, ROUNDINGS[a.rounding])


def assert_defined(op: str, seeds: range) -> None:
    """Checks that the reference equals the definitions."""
    for seed in seeds:
        case = random_case(op, seed)
        np.testing.assert_array_equal(case.expected, by_tvm(case), err_msg=str(case.attrs))


def sentence(op: str, *, dtype: DType = DType.INT8, **changes: object) -> str | None:
    """The sentence of the op's check for a case that is valid except for the changes."""
    sound: dict[str, object] = {
        "lhs_scale": 1.0,
        "lhs_zero_point": 0,
        "rhs_scale": 1.0,
        "rhs_zero_point": 0,
        "output_scale": 1.0,
        "output_zero_point": 0,
        "rounding": next(iter(ROUNDINGS)),
    }
    definition = ops.registry()[op]
    kind = ArrayType((2,), DType.INT8)
    attrs = definition.attrs(**{**sound, **changes})
    return definition.check(attrs, [ArrayType((2,), dtype), kind], [kind])


def check_constraints(op: str) -> None:
    """Checks the op's refusals, each of which has its own sentence."""
    assert sentence(op) is None
    assert "left input is uint8[2]" in str(sentence(op, dtype=DType.UINT8))
    assert "zero point is 128" in str(sentence(op, rhs_zero_point=128))
    assert "a scale is -1" in str(sentence(op, output_scale=-1.0))
    assert "too small" in str(sentence(op, output_scale=2.0**-40))
    assert "rounded 'double'" in str(sentence(op, rounding=Rounding.DOUBLE))
