"""bitcast: the same bits, read as numbers of another dtype."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, Attrs, DType, TensorType
from microgen.graph.ops.base import Op, Operands, Shape, one_input
from microgen.graph.ops.cost import moved


@dataclass(frozen=True, slots=True)
class BitcastAttrs(Attrs):
    """Input: plain numbers of any rank. The output's are of the same size."""


def infer(_attrs: BitcastAttrs, inputs: Sequence[TensorType]) -> tuple[Shape, ...]:
    """The input's shape."""
    return (one_input("bitcast", inputs).shape,)


def check(
    _attrs: BitcastAttrs, inputs: Sequence[TensorType], outputs: Sequence[TensorType]
) -> str | None:
    """Plain numbers of one size. The output is not bool."""
    (data,), (output,) = inputs, outputs
    if data.dtype.nbytes != output.dtype.nbytes or data.quant or output.quant:
        return f"the input is {data}, the output {output}; both must be plain numbers of one size"
    if output.dtype is DType.BOOL:
        return f"the output is {output}; it must not be bool, whose bytes are 0 or 1 only"
    return None


def reference(_attrs: BitcastAttrs, operands: Operands) -> tuple[Array, ...]:
    """The bytes, which are little-endian."""
    data = np.ascontiguousarray(operands.inputs[0])
    return (data.view(operands.output_types[0].dtype.numpy).reshape(operands.inputs[0].shape),)


def parts(_attrs: BitcastAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return ("bitcast",)


OP = Op("bitcast", BitcastAttrs, infer, check, reference, parts, cost=moved)
