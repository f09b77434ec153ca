"""Scales and zero points of QuantizeLinear, DequantizeLinear and operators that contain them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microgen.base.errors import short
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.frontends.quantization import SMALLEST_SCALE
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import Array, DType, Quant

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
        """As the graph has it; there must be no blocks."""
        axis = None if self.scale.size == 1 else self.axis
        scale = tuple(map(float, self.scale.ravel()))
        return Quant(scale, tuple(map(int, self.zero_point.ravel())), axis)

    def over(self, shape: tuple[int, ...]) -> tuple[Array, Array]:
        """Scale and zero point as they are broadcast to a tensor of that shape."""
        if self.block:
            last = shape[self.axis]
            return tuple(  # type: ignore[return-value]
                np.repeat(each, self.block, self.axis).take(range(last), self.axis)
                for each in (self.scale, self.zero_point)
            )
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
    found = Scales(values, whole, *_along(node, data, values.shape, values.size))
    _check(node, scales, found)
    return found


def _whole(node: OnnxNode, zeros: BuiltTensor, scales: Array) -> Array:
    assert zeros.value is not None
    if zeros.value.size != scales.size:
        raise node.invalid(f"has {scales.size} scales, but {zeros.value.size} zero points")
    return zeros.value.astype(np.int64).reshape(scales.shape)


def broadcast(node: OnnxNode, data: BuiltTensor, position: int) -> BuiltTensor | None:
    """Computed scales or zero points as they are broadcast to ``data``; None if left out."""
    found = node.optional(position)
    if found is None or found.type.size == 1:
        return None if found is None else node.reshaped(found, ())
    axis, block = _along(node, data, found.shape, found.type.size)
    if block:
        raise node.unsupported("has computed scales of blocks", supported="constants")
    along = [1] * len(data.shape)
    along[axis] = found.type.size
    return node.reshaped(found, along)


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


def _check(node: OnnxNode, tensor: BuiltTensor, found: Scales) -> None:
    # Scales must be finite and not negative; scales of whole tensors, which may be computed, also
    # normal.
    least = SMALLEST_SCALE if found.scale.size == 1 and not found.block else 0.0
    wrong = ~((found.scale >= least) & (found.scale < np.inf))
    if wrong.any():
        raise node.invalid(
            f'has the scale {found.scale[wrong][0]:g} in "{short(tensor.name)}"; a positive, '
            "finite, normal float32 is expected"
        )


def zero_dtype(node: OnnxNode, position: int) -> DType | None:
    """The dtype of a zero point, which the stored values also have; None without a zero point."""
    found = node.optional(position)
    return None if found is None else found.dtype


def fits(quant: Quant, dtype: DType) -> bool:
    """Whether computed tensors may have the quantization: one scale, and a zero point that the
    graph has for the dtype."""
    low, high = {DType.INT8: (-128, 127), DType.UINT8: (0, 255)}.get(dtype, (0, 0))
    is_known = dtype in _OF_NODES and quant.is_per_tensor
    return is_known and low <= quant.zero_point[0] <= high
