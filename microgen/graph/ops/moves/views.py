"""The same bytes: copied, or read as another shape or dtype."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Arrays, Attrs, DType, Types
from microgen.graph.ops.base import OpDefinition, Operands, Shape, Shapes, like_input, one_input
from microgen.graph.ops.constraints import same_dtype_constraint
from microgen.graph.ops.cost import rearranged
from microgen.graph.ops.moves import mover


class CopyAttrs(Attrs):
    """copy: the same bytes in another buffer.

    Input: data of any dtype and rank.
    """


def _copy_reference(_attrs: CopyAttrs, operands: Operands) -> Arrays:
    """A copy of the input."""
    return (operands.inputs[0].copy(),)


COPY = mover("copy", CopyAttrs, like_input("copy"), _copy_reference, cost=rearranged)


class BitcastAttrs(Attrs):
    """bitcast: the same bits, read as numbers of another dtype.

    Input: plain numbers of any rank. The output's are of the same size.
    """


def _bitcast_check(_attrs: BitcastAttrs, inputs: Types, outputs: Types) -> str | None:
    """Plain numbers of one size. The output is not bool."""
    (data,), (output,) = inputs, outputs
    if data.dtype.nbytes != output.dtype.nbytes or data.quant or output.quant:
        return f"the input is {data}, the output {output}; both must be plain numbers of one size"
    if output.dtype is DType.BOOL:
        return f"the output is {output}; it must not be bool, whose bytes are 0 or 1 only"
    return None


def _bitcast_reference(_attrs: BitcastAttrs, operands: Operands) -> Arrays:
    """The bytes, which are little-endian."""
    data = np.ascontiguousarray(operands.inputs[0])
    return (data.view(operands.output_types[0].dtype.numpy).reshape(operands.inputs[0].shape),)


BITCAST = OpDefinition(
    "bitcast",
    BitcastAttrs,
    like_input("bitcast"),
    _bitcast_check,
    _bitcast_reference,
    cost=rearranged,
)


@dataclass(frozen=True, slots=True)
class ReinterpretAttrs(Attrs):
    """qnn.reinterpret: the same stored values under another shape, scale and zero point.

    Input: data of any dtype. ``shape`` is the whole shape of the output.

    In Relay, scales are arguments of the operators, so two operators may read different numbers
    from one tensor.
    """

    shape: Shape


def _reinterpret_check(_attrs: ReinterpretAttrs, inputs: Types, outputs: Types) -> str | None:
    """Dtype unchanged."""
    return same_dtype_constraint(inputs[0], outputs[0])


@dataclass(frozen=True, slots=True)
class ReshapeAttrs(Attrs):
    """reshape: the same bytes under another shape.

    Input: data of any dtype. ``shape`` is the whole new shape, without -1.
    """

    shape: Shape


def _reshape_infer(attrs: ReshapeAttrs | ReinterpretAttrs, inputs: Types) -> Shapes:
    """The new shape."""
    one_input("reshape", inputs)
    size = math.prod(attrs.shape)
    if min(attrs.shape, default=1) < 0 or size != inputs[0].size:
        raise ValueError(
            f"the input {inputs[0]} has {inputs[0].size} elements; the new shape "
            f"[{','.join(map(str, attrs.shape))}] does not"
        )
    return (attrs.shape,)


def _reshape_reference(attrs: ReshapeAttrs | ReinterpretAttrs, operands: Operands) -> Arrays:
    """The input's elements in row-major order."""
    return (operands.inputs[0].reshape(attrs.shape),)


REINTERPRET = mover(
    "qnn.reinterpret",
    ReinterpretAttrs,
    _reshape_infer,
    _reshape_reference,
    check=_reinterpret_check,
    cost=rearranged,
    is_view=True,
)

RESHAPE = mover(
    "reshape", ReshapeAttrs, _reshape_infer, _reshape_reference, cost=rearranged, is_view=True
)


OPS = (COPY, BITCAST, REINTERPRET, RESHAPE)
