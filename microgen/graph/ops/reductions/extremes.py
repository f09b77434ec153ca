"""The extremes over axes, and their positions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Arrays, Attrs, DType, Types
from microgen.graph.ops import bounds, limits
from microgen.graph.ops.base import OpDefinition, Operands, Shapes, one_input
from microgen.graph.ops.constraints import ALL_FAMILIES, activation_constraint, unchanged_constraint
from microgen.graph.ops.reductions.reduction import ReductionAttrs, greatest_error, infer

_INDICES = (DType.INT32, DType.INT64)


@dataclass(frozen=True, slots=True)
class ExtremeAttrs(ReductionAttrs):
    """Input: int8, int16, int32 or float32 data of any rank. The output has its quantization.

    ``from_infinity``: the extreme of infinities of one sign is that infinity, as in ONNX. If not,
    it is finite, as in TFLite and Relay, whose searches begin at the worst finite value.
    """

    from_infinity: bool = False


class MaxAttrs(ExtremeAttrs):
    """The attributes of an extreme."""


class MinAttrs(ExtremeAttrs):
    """The attributes of an extreme."""


def _extreme_check(_attrs: ExtremeAttrs, inputs: Types, outputs: Types) -> str | None:
    """One dtype, quantization unchanged."""
    return unchanged_constraint(inputs[0], outputs[0], (*ALL_FAMILIES, DType.INT32))


@dataclass(frozen=True, slots=True)
class ArgExtremeAttrs(Attrs):
    """``axis`` is counted from the front."""

    axis: int


def _arg_extreme_infer(attrs: ArgExtremeAttrs, inputs: Types) -> Shapes:
    """The input's shape without the axis."""
    one_input("argmax or argmin", inputs)
    shape = inputs[0].shape
    if not 0 <= attrs.axis < len(shape):
        raise ValueError(f"the axis {attrs.axis} is not one of {inputs[0]}")
    return ((*shape[: attrs.axis], *shape[attrs.axis + 1 :]),)


def _arg_extreme_check(_attrs: ArgExtremeAttrs, inputs: Types, outputs: Types) -> str | None:
    """int8, int32 or float32 data, and positions that are plain int32 or int64 numbers."""
    if outputs[0].dtype not in _INDICES or outputs[0].quant is not None:
        return f"the output is {outputs[0]}; it must be int32 or int64 without quantization"
    return activation_constraint("input", inputs[0], (DType.INT8, DType.INT32, DType.FLOAT32))


class ArgMaxAttrs(ArgExtremeAttrs):
    """Input: int8, int32 or float32 data of one or more dimensions. Output: int32 or int64."""


class ArgMinAttrs(ArgExtremeAttrs):
    """Input: int8, int32 or float32 data of one or more dimensions. Output: int32 or int64."""


@dataclass(frozen=True, slots=True)
class TopKAttrs(Attrs):
    """topk: the positions of the greatest or least values along an axis, the best first.

    Input: numbers of any dtype but bool; stored values are compared. Output: int32 or int64, the
    positions of the ``k`` greatest values along ``axis``, or of the least ones unless
    ``is_largest``. Of equal values the first one is the best, and NaN is the worst.
    """

    axis: int
    k: int
    is_largest: bool


def _topk_infer(attrs: TopKAttrs, inputs: Types) -> Shapes:
    """The input's shape with ``k`` elements along the axis."""
    shape = one_input("topk", inputs).shape
    if not 0 <= attrs.axis < len(shape):
        raise ValueError(f"the axis {attrs.axis} is not one of {inputs[0]}")
    if not 1 <= attrs.k <= shape[attrs.axis]:
        raise ValueError(
            f"{attrs.k} values are wanted of axis {attrs.axis} of {inputs[0]}; 1 to "
            f"{shape[attrs.axis]} are expected"
        )
    return ((*shape[: attrs.axis], attrs.k, *shape[attrs.axis + 1 :]),)


def _topk_check(_attrs: TopKAttrs, inputs: Types, outputs: Types) -> str | None:
    """Numbers, and positions that are plain int32 or int64."""
    if inputs[0].dtype is DType.BOOL:
        return f"the input is {inputs[0]}; it must be numbers"
    if outputs[0].dtype not in _INDICES or outputs[0].quant is not None:
        return f"the output is {outputs[0]}; it must be int32 or int64 without quantization"
    return None


def _topk_reference(attrs: TopKAttrs, operands: Operands) -> Arrays:
    # Source: ONNX, TopK.
    data = np.moveaxis(operands.inputs[0], attrs.axis, -1)
    if attrs.is_largest:  # the reverse of the ascending order of the reversed values
        order = data.shape[-1] - 1 - np.argsort(data[..., ::-1], -1, "stable")[..., ::-1]
    else:
        order = np.argsort(data, -1, "stable")
    nan = np.isnan(np.take_along_axis(data, order, -1))
    # numpy sorts NaN last, so among the greatest it would come first.
    order = np.take_along_axis(order, np.argsort(nan, -1, "stable"), -1)
    best = np.moveaxis(order[..., : attrs.k], -1, attrs.axis)
    return (np.ascontiguousarray(best, operands.output_types[0].dtype.numpy),)


def _over_axes(name: str, attrs: type[Attrs], function: np.ufunc, which: str) -> OpDefinition:
    """The extreme value over some axes. ``function`` ignores NaN: fmax or fmin."""
    worst = limits.least if function is np.fmax else limits.greatest

    def reference(attrs: ExtremeAttrs, operands: Operands) -> Arrays:
        """The extreme stored value, which means the extreme real one. NaN is ignored.

        Source: TFLite reduce.cc, EvalGeneric.
        """
        data = operands.inputs[0]
        first = worst(data.dtype, infinite=attrs.from_infinity)
        reduced = function.reduce(data, axis=attrs.axes, keepdims=attrs.keep_dims, initial=first)
        return (np.asarray(reduced),)

    bound = bounds.elementwise(greatest_error, roundings=0)
    about = f"the {which} value over some axes"
    return OpDefinition(name, attrs, infer, _extreme_check, reference, bound=bound, about=about)


def _position(name: str, attrs: type[Attrs], sign: int, which: str) -> OpDefinition:
    """The position of the greatest value, times ``sign``, along an axis."""
    find, worst = (np.argmax, -np.inf) if sign > 0 else (np.argmin, np.inf)

    def reference(attrs: ArgExtremeAttrs, operands: Operands) -> Arrays:
        """The first of equal values. NaN at position 0 gives 0; any other NaN is ignored.

        Source: TFLite reference/arg_min_max.h, ArgMinMax.
        """
        data = operands.inputs[0]
        positions = find(np.where(np.isnan(data), worst, data), axis=attrs.axis)
        # Nothing exceeds a NaN with which the search begins.
        leading = np.isnan(data.take(0, attrs.axis))
        return (np.where(leading, 0, positions).astype(operands.output_types[0].dtype.numpy),)

    about = f"the position of the {which} value along one axis"
    shapes = _arg_extreme_infer
    return OpDefinition(name, attrs, shapes, _arg_extreme_check, reference, about=about)


OPS = (
    _over_axes("max", MaxAttrs, np.fmax, "greatest"),
    _over_axes("min", MinAttrs, np.fmin, "least"),
    _position("argmax", ArgMaxAttrs, 1, "greatest"),
    _position("argmin", ArgMinAttrs, -1, "least"),
    OpDefinition("topk", TopKAttrs, _topk_infer, _topk_check, _topk_reference),
)
