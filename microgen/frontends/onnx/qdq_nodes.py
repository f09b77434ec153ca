"""Scales and zero points of QuantizeLinear, DequantizeLinear and operators that contain them; the
nodes from floats to stored integers and back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from microgen.base.errors import short
from microgen.frontends.onnx.composing import cast
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.frontends.quantization import (
    NORMAL_SCALE,
    SMALLEST_SCALE,
    ZERO_POINTS,
    reinterpreted,
)
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import Array, DType, Quant, Stored, frozen
from microgen.graph.ops import budget
from microgen.graph.ops.cost import elementwise
from microgen.graph.ops.division.divide import DivideAttrs
from microgen.graph.ops.elementwise.addition import AddAttrs, SubtractAttrs
from microgen.graph.ops.elementwise.choices import MaximumAttrs, MinimumAttrs
from microgen.graph.ops.elementwise.product import MultiplyAttrs
from microgen.graph.ops.quantization.conversions import DequantizeAttrs, QuantizeAttrs
from microgen.graph.ops.unary.functions import RoundAttrs
from microgen.graph.unsigned import HALF, flipped, moved

NARROW = (DType.INT8, DType.UINT8, DType.INT16, DType.UINT16)
ACCEPTED = (*NARROW, DType.INT32)
_OF_NODES = (DType.INT8, DType.UINT8, DType.INT16, DType.INT32)


@dataclass(frozen=True, slots=True)
class Scales:
    """Constant scales and zero points."""

    scale: Array  # float32, of the shape of ``zero_point``
    zero_point: Array  # int64
    axis: int  # of the scales, if there are several
    block: int = 0  # indices of the axis for one scale; 0: each has its own

    @property
    def quant(self) -> Quant:
        """The quantization as the graph stores it, for scales without blocks."""
        axis = None if self.scale.size == 1 else self.axis
        scale = tuple(map(float, self.scale.ravel()))
        return Quant(scale, tuple(map(int, self.zero_point.ravel())), axis)

    def over(self, shape: tuple[int, ...]) -> tuple[Array, Array]:
        """Scale and zero point, broadcast to a tensor of the shape ``shape``."""
        if self.block:
            # The last block may reach past the end of the axis.
            last = shape[self.axis]
            wide = [np.repeat(v, self.block, self.axis) for v in (self.scale, self.zero_point)]
            scale, zero = (each.take(range(last), self.axis) for each in wide)
            return scale, zero
        along = [1] * len(shape)
        if self.scale.size > 1:
            along[self.axis] = -1
        return self.scale.reshape(along), self.zero_point.reshape(along)


def read(node: OnnxNode, data: BuiltTensor, scale: int, zero_point: int) -> Scales | None:
    """The scales and zero points at these positions, for ``data``; None if they are computed.
    ModelError if they do not fit ``data``."""
    scales, zeros = node.tensor(scale), node.optional(zero_point)
    if scales.value is None or (zeros is not None and zeros.value is None):
        return None
    values = scales.value.astype(np.float32)
    whole = np.zeros(values.shape, np.int64) if zeros is None else _whole(node, zeros, values)
    result = Scales(values, whole, *_along(node, data, values.shape, values.size))
    _check(node, scales, result)
    return result


def _whole(node: OnnxNode, zeros: BuiltTensor, scales: Array) -> Array:
    assert zeros.value is not None
    if zeros.value.size != scales.size:
        raise node.invalid(f"has {scales.size} scales, but {zeros.value.size} zero points")
    return zeros.value.astype(np.int64).reshape(scales.shape)


def broadcast(node: OnnxNode, data: BuiltTensor, position: int) -> BuiltTensor | None:
    """Computed scales or zero points, broadcast to ``data``; None if left out."""
    tensor = node.optional(position)
    if tensor is None or tensor.type.size == 1:
        return None if tensor is None else node.reshaped(tensor, ())
    axis, block = _along(node, data, tensor.shape, tensor.type.size)
    if block:
        raise node.unsupported("has computed scales of blocks", supported="constants")
    along = [1] * len(data.shape)
    along[axis] = tensor.type.size
    return node.reshaped(tensor, along)


def _along(node: OnnxNode, data: BuiltTensor, shape: tuple[int, ...], size: int) -> tuple[int, int]:
    """The axis of the scales, and the length of their blocks."""
    rank, block = len(data.shape), int(node.attr("block_size", 0))
    if size == 1 and not block:
        return 0, 0
    axis = int(node.attr("axis", 1))
    # The attribute's default is 1, which a vector does not have.
    axis = 0 if rank == 1 else axis
    if not -rank <= axis < rank:
        raise node.invalid(f"has the axis {axis}, but the tensor has {rank} axes")
    axis %= rank
    wanted = tuple(-(-n // block) if block and i == axis else n for i, n in enumerate(data.shape))
    if block and (block < 0 or shape != wanted):
        raise node.invalid(f"has scales {list(shape)} for blocks of {block} of {data.type}")
    if not block and shape != (data.shape[axis],):
        raise node.invalid(f"has scales {list(shape)} along axis {axis} of {data.type}")
    return axis, block


def _check(node: OnnxNode, tensor: BuiltTensor, constants: Scales) -> None:
    # Scales must be finite and not negative; scales of whole tensors, which may be computed, also
    # normal.
    least = SMALLEST_SCALE if constants.scale.size == 1 and not constants.block else 0.0
    wrong = ~((constants.scale >= least) & (constants.scale < np.inf))
    if wrong.any():
        raise node.invalid(
            f'has the scale {constants.scale[wrong][0]:g} in "{short(tensor.name)}"; {NORMAL_SCALE}'
        )


def fits(quant: Quant, dtype: DType) -> bool:
    """Whether computed tensors may have the quantization: one scale, and a zero point that the
    graph has for the dtype."""
    if dtype not in _OF_NODES or not quant.is_per_tensor:
        return False
    low, high = ZERO_POINTS[dtype.value]
    return low <= quant.zero_point[0] <= high


# Floats to stored integers and back.

_HALF_INT4 = 8


def dequantized(node: OnnxNode, data: BuiltTensor, scales: Scales) -> BuiltTensor:
    """The numbers that stored integers mean, float32: (stored - zero point) * scale.

    Source: ONNX's operator DequantizeLinear.
    """
    if data.is_constant:
        return _constant(node, data, scales)
    if not scales.block and fits(scales.quant, data.dtype):
        typed = reinterpreted(node, data, scales.quant)
        kinds: dict[str, Any] = {"dtype": DType.FLOAT32, "quant": None, "hint": "float"}
        return node.emit("qnn.dequantize", DequantizeAttrs(), (typed,), **kinds)
    scale, zero = scales.over(data.shape)
    return scaled(node, data, node.constant(scale, "scale"), zero)


def scaled(
    node: OnnxNode, data: BuiltTensor, scale: BuiltTensor, zero: Array | BuiltTensor
) -> BuiltTensor:
    """The result of ``dequantized`` by float arithmetic, for scales or zero points that the op
    cannot have."""
    floats = cast(node, reinterpreted(node, data, None), DType.FLOAT32)
    if not isinstance(zero, BuiltTensor):
        zero = node.constant(np.asarray(zero).astype(np.float32), "zero")
    lhs = node.emit(
        "subtract", SubtractAttrs(Activation.NONE), (floats, cast(node, zero, DType.FLOAT32))
    )
    return node.emit("multiply", MultiplyAttrs(Activation.NONE), (lhs, scale))


def _constant(node: OnnxNode, data: BuiltTensor, scales: Scales) -> BuiltTensor:
    """A constant as floats, which are computed if something needs more than the stored form."""
    assert data.value is not None
    # A Quant has no blocks, and unsigned integers become signed ones only if they have 8 bits.
    if scales.block or data.dtype is DType.UINT16:
        scale, zero = scales.over(data.shape)
        budget.spend(elementwise(None, (data.type,), ()), node.where)
        with np.errstate(over="ignore"):
            floats = (data.value.astype(np.int64) - zero).astype(np.float32) * scale
        return node.constant(floats.astype(np.float32), "float")
    values, quant = data.value, scales.quant
    # The graph's stored integers are signed, so unsigned ones move by half of their range.
    if data.is_int4 and data.dtype is DType.UINT8:
        values, quant = (values - np.uint8(_HALF_INT4)).view(np.int8), moved(quant, -_HALF_INT4)
    elif data.dtype is DType.UINT8:
        values, quant = flipped(values), moved(quant, -HALF)
    # Operators may convert one tensor any number of times.
    budget.spend_array(values.nbytes, node.where)
    return node.dequantized(Stored(frozen(values), quant, data.is_int4), "float")


def quantized(node: OnnxNode, data: BuiltTensor, scales: Scales, dtype: DType) -> BuiltTensor:
    """The stored integers of numbers: round(x / scale) + zero point, saturated; halves are rounded
    to even.

    Source: ONNX's operator QuantizeLinear.
    """
    floats = cast(node, data, DType.FLOAT32)
    if scales.block == 0 and fits(scales.quant, dtype):
        kinds: dict[str, Any] = {"dtype": dtype, "quant": scales.quant, "hint": "stored"}
        return node.emit("qnn.quantize", QuantizeAttrs(ties_even=True), (floats,), **kinds)
    scale, zero = scales.over(data.shape)
    zeros = node.constant(zero.astype(np.float32), "zero")
    return divided(node, floats, node.constant(scale, "scale"), zeros, dtype)


def divided(
    node: OnnxNode, data: BuiltTensor, scale: BuiltTensor, zero: BuiltTensor, dtype: DType
) -> BuiltTensor:
    """The result of ``quantized`` by float arithmetic, for scales or zero points that the op cannot
    have."""
    limits = np.iinfo(dtype.numpy)
    quotient = node.emit("divide", DivideAttrs(Activation.NONE, False), (data, scale))
    whole = node.emit("round", RoundAttrs(), (quotient,))
    shifted = node.emit("add", AddAttrs(Activation.NONE), (whole, cast(node, zero, DType.FLOAT32)))
    low, high = (node.constant(np.array(v, np.float32), "limit") for v in (limits.min, limits.max))
    least = node.emit("maximum", MaximumAttrs(), (shifted, low))
    inside = node.emit("minimum", MinimumAttrs(), (least, high))
    return cast(node, inside, dtype)
