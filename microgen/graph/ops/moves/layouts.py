"""The elements of whole tensors in another order, repeated or joined."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Arrays, Attrs, Types
from microgen.graph.ops.base import Operands, Shape, Shapes, expect_axis, one_input
from microgen.graph.ops.constraints import all_unchanged
from microgen.graph.ops.cost import rearranged
from microgen.graph.ops.moves import mover


@dataclass(frozen=True, slots=True)
class BroadcastToAttrs(Attrs):
    """broadcast_to: the data repeated along axes of size 1, and along new ones.

    Input: data of any dtype, whose shape broadcasts to ``shape`` as in numpy.
    """

    shape: Shape


def _broadcast_to_infer(attrs: BroadcastToAttrs, inputs: Types) -> Shapes:
    """``shape`` itself."""
    one_input("broadcast_to", inputs)
    own, shape = inputs[0].shape, attrs.shape
    # Shapes are aligned at their last axes.
    last = shape[len(shape) - len(own) :]
    if len(own) > len(shape) or any(a not in (1, b) for a, b in zip(own, last, strict=True)):
        raise ValueError(
            f"the input {inputs[0]} does not broadcast to [{','.join(map(str, shape))}]"
        )
    return (shape,)


def _broadcast_to_reference(attrs: BroadcastToAttrs, operands: Operands) -> Arrays:
    # Source: TFLite reference/broadcast_to.h, BroadcastTo; fill.cc, Eval.
    return (np.broadcast_to(operands.inputs[0], attrs.shape).copy(),)


BROADCAST_TO = mover(
    "broadcast_to",
    BroadcastToAttrs,
    _broadcast_to_infer,
    _broadcast_to_reference,
    cost=rearranged,
)


@dataclass(frozen=True, slots=True)
class ConcatenateAttrs(Attrs):
    """concatenate: tensors joined one after the other along an axis.

    Inputs: one or more tensors of one dtype. ``axis`` counts from the front.
    """

    axis: int


def _concatenate_infer(attrs: ConcatenateAttrs, inputs: Types) -> Shapes:
    """The first input's shape, with the sum of all sizes along the axis."""
    if not inputs:
        raise ValueError("concatenate has no input; one or more are expected")
    first, axis = inputs[0].shape, attrs.axis
    expect_axis(axis, inputs[0], "first input")
    for other in inputs[1:]:
        if _without(other.shape, axis) != _without(first, axis):
            raise ValueError(f"{inputs[0]} and {other} differ in more than their axis {axis}")
    return ((*first[:axis], sum(t.shape[axis] for t in inputs), *first[axis + 1 :]),)


def _without(shape: Shape, axis: int) -> Shape | None:
    return (*shape[:axis], -1, *shape[axis + 1 :]) if axis < len(shape) else None


def _concatenate_check(_attrs: ConcatenateAttrs, inputs: Types, outputs: Types) -> str | None:
    """One dtype and quantization for all. TFLite's concatenation.cc refuses others, also int8."""
    return all_unchanged(inputs, outputs[0])


def _concatenate_reference(attrs: ConcatenateAttrs, operands: Operands) -> Arrays:
    # Source: TFLite reference/concatenation.h, Concatenation.
    return (np.concatenate(operands.inputs, attrs.axis),)


CONCATENATE = mover(
    "concatenate",
    ConcatenateAttrs,
    _concatenate_infer,
    _concatenate_reference,
    check=_concatenate_check,
    cost=rearranged,
)


@dataclass(frozen=True, slots=True)
class TransposeAttrs(Attrs):
    """transpose: the axes in another order.

    Input: data of any dtype. Axis k of the output is axis ``axes[k]`` of the data.
    """

    axes: tuple[int, ...]


def _transpose_infer(attrs: TransposeAttrs, inputs: Types) -> Shapes:
    """The sizes in their new order."""
    one_input("transpose", inputs)
    shape = inputs[0].shape
    if sorted(attrs.axes) != list(range(len(shape))):
        raise ValueError(f"{list(attrs.axes)} is not an order of the axes of the input {inputs[0]}")
    return (tuple(shape[axis] for axis in attrs.axes),)


def transpose_reference(attrs: TransposeAttrs, operands: Operands) -> Arrays:
    """Source: TFLite reference/transpose.h, Transpose."""
    return (operands.inputs[0].transpose(attrs.axes).copy(),)


TRANSPOSE = mover(
    "transpose", TransposeAttrs, _transpose_infer, transpose_reference, cost=rearranged
)


# Source: TVM topi/transform.h, layout_transform, of layouts that split no axis: a transpose.


@dataclass(frozen=True, slots=True)
class LayoutTransformAttrs(Attrs):
    """layout_transform: the axes in another order, each named by a letter.

    Input: data of any dtype. A layout has one upper-case letter per axis, outermost first: "NCHW"
    is the default of Relay's 2-D ops, and kernels compute in "NHWC".
    """

    src_layout: str
    dst_layout: str

    @property
    def axes(self) -> tuple[int, ...]:
        """Axis k of the output is axis ``axes[k]`` of the data."""
        return tuple(self.src_layout.index(letter) for letter in self.dst_layout)


def _layout_transform_infer(attrs: LayoutTransformAttrs, inputs: Types) -> Shapes:
    """The sizes in their new order."""
    one_input("layout_transform", inputs)
    source, target = attrs.src_layout, attrs.dst_layout
    letters = set(source)
    is_order = len(letters) == len(source) and sorted(source) == sorted(target)
    if not is_order or not (source.isupper() and source.isalpha()):
        raise ValueError(f"{target!r} is not an order of the axes of {source!r}")
    shape = inputs[0].shape
    if len(shape) != len(source):
        raise ValueError(
            f"the input {inputs[0]} does not have the {len(source)} axes of {source!r}"
        )
    return (tuple(shape[axis] for axis in attrs.axes),)


LAYOUT_TRANSFORM = mover(
    "layout_transform",
    LayoutTransformAttrs,
    _layout_transform_infer,
    transpose_reference,
    cost=rearranged,
)


OPS = (BROADCAST_TO, CONCATENATE, TRANSPOSE, LAYOUT_TRANSFORM)
