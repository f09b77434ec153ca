"""Cases of int16 additions by shifts: their scales are used as powers of two."""

from __future__ import annotations

import numpy as np

from microgen.graph.ir.graph import ArrayType, DType
from microgen.graph.ops.base import OpDefinition
from microgen.graph.ops.elementwise.addition import AdditionAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.conformance.litert_oracle import FUSED, Case

Scales = tuple[float, float, float]  # scales of the left and right input and of the output

BY_SHIFTS: tuple[Scales, ...] = (
    (1.0, 1.0, 1.0),
    (2.0**-12, 2.0**-3, 2.0**-3),
    (2.0**-3 * 1.0005, 2.0**-3, 2.0**-3 * 0.9995),
    (2.0**-10, 2.0**-11, 2.0**-10),
    (1.0, 2.0**-15, 1.0),
)
NOT_BY_SHIFTS: tuple[Scales, ...] = (
    (1.0, 1.0, 0.5),
    (0.5, 0.5, 1.0),
    (1.0, 2.0**-16, 1.0),
    (1.0, 1.001, 1.0),
    (1.0, 2.0, 1.0),
)
SHAPE = (40, 50)


def _types(scales: Scales) -> list[ArrayType]:
    return [ArrayType(SHAPE, DType.INT16, c.quant(scale)) for scale in scales]


def litert_case(op: str, code: str, options: str, attrs: AdditionAttrs, scales: Scales) -> Case:
    """Values of the whole range.

    The operator's options say that scales are powers of two, which is the default of the file
    format.
    """
    *inputs, output = _types(scales)
    fused = {"fusedActivationFunction": FUSED[attrs.activation]}
    return Case(
        op,
        attrs,
        inputs,
        _values(),
        output.quant,
        code,
        options,
        fused,
        version=2,
        output_dtype=DType.INT16,
    )


def _values() -> list[c.Array]:
    rng = np.random.default_rng(1)
    return [rng.integers(-(2**15), 2**15, SHAPE).astype(np.int16) for _ in range(2)]


def kernel_cases(op: str, attrs: AdditionAttrs) -> list[c.Case]:
    """The same cases for kernels."""
    cases = []
    for scales in BY_SHIFTS:
        *inputs, output = _types(scales)
        tensors = tuple(map(c.Tensor, inputs, _values()))
        cases.append(c.Case(f"{scales}", op, attrs, tensors, output.quant, DType.INT16))
    return cases


def refusal(op: OpDefinition, attrs: AdditionAttrs, scales: Scales) -> str:
    """The sentence that ``check`` returns."""
    *inputs, output = _types(scales)
    return str(op.check(attrs, inputs, [output]))


def check_refusals(op: OpDefinition, attrs: AdditionAttrs) -> None:
    """Checks that another dtype and operands that are broadcast are refused."""
    data = ArrayType(SHAPE, DType.INT8, c.quant(1.0))
    assert "by shifts int16 is added" in str(op.check(attrs, [data, data], [data]))
    data, row = (ArrayType(shape, DType.INT16, c.quant(1.0)) for shape in (SHAPE, SHAPE[1:]))
    assert "are not broadcast" in str(op.check(attrs, [data, row], [data]))
