"""Kernels for reductions over axes, and for running results along an axis."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import groupby
from math import prod

import numpy as np

from microgen.base.errors import short
from microgen.graph.arithmetic import in_float32 as arithmetic
from microgen.graph.arithmetic.int8 import quantize_multiplier
from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ops import limits
from microgen.graph.ops.reductions.extremes import ArgExtremeAttrs, MaxAttrs, MinAttrs, TopKAttrs
from microgen.graph.ops.reductions.reduction import (
    MeanAttrs,
    ReductionAttrs,
    SumAttrs,
    SumParameters,
    count,
    sum_parameters,
)
from microgen.graph.ops.reductions.running import RunningAttrs
from microgen.kernels import base
from microgen.kernels.work import Work, work

_SIZES = 6  # (kept, reduced) three times: any axes of up to five dimensions, most of up to eight


def _refusal(dtype: DType) -> base.Refuse:
    """Refusal unless the data is of that dtype and three reduced groups can hold the axes."""

    def refusal(node: Node, graph: Graph) -> str | None:
        shape = alternating(node, graph)
        if len(shape) > _SIZES:
            return f"the axes reduced make {len(shape) // 2} groups, the kernel takes 3"
        return base.only(dtype)(node, graph)

    return refusal


def shape_fields(node: Node, graph: Graph) -> base.Fields:
    """``shape`` in the form of ``crt/include/microgen/reductions/reduction.h``."""
    return (("shape", _sizes(node, graph)),)


def _sizes(node: Node, graph: Graph) -> tuple[int, ...]:
    shape = alternating(node, graph)
    return (*(1 for _ in range(_SIZES - len(shape))), *shape)


def alternating(node: Node, graph: Graph) -> tuple[int, ...]:
    """Sizes of adjacent axes of one kind multiplied: kept, reduced, kept, reduced, ..."""
    attrs = base.attrs_of(node, ReductionAttrs)
    (data,), _ = base.types(node, graph)
    # An axis of size 1 would only split a group.
    axes = [(axis in attrs.axes, n) for axis, n in enumerate(data.shape) if n != 1]
    groups = [(k, prod(n for _, n in group)) for k, group in groupby(axes, lambda a: a[0])]
    first = () if groups and not groups[0][0] else (1,)
    last = () if groups and groups[-1][0] else (1,)
    return (*first, *(size for _, size in groups), *last)


def kernel(name: str, dtype: DType, params: base.Params) -> base.Implementation:
    """The kernel ``mg_reduce_<name>`` of ``reduction.h``."""
    symbol = f"mg_reduce_{name}"
    return base.Implementation(symbol, _refusal(dtype), params)


def _sum_fields_s8(node: Node, graph: Graph, scale: SumParameters) -> base.Fields:
    attrs = base.attrs_of(node, ReductionAttrs)
    (data,), output = base.types(node, graph)
    return (
        *shape_fields(node, graph),
        # The sum of stored values has the zero point once for each of them.
        ("bias", -data.zero_point * count(attrs, data)),
        ("multiplier", scale.multiplier),
        ("shift", scale.shift),
        ("output_offset", output.zero_point),
        ("is_unsigned", int(isinstance(attrs, SumAttrs) and attrs.is_unsigned)),
    )


def _mean_in_float32_fields(node: Node, graph: Graph) -> base.Fields:
    """Fields of ``mg_reduce_mean_in_float_s8_params``."""
    assert isinstance(node.attrs, MeanAttrs)
    (data,), output = base.types(node, graph)
    scale = arithmetic.scale_of_mean(data, output, count(node.attrs, data))
    return (
        *shape_fields(node, graph),
        ("bias", -data.zero_point * count(node.attrs, data)),
        *base.scale_fields(quantize_multiplier(float(scale))),
        ("output_offset", output.zero_point),
    )


def _sum_fields_s16(node: Node, graph: Graph, scale: SumParameters) -> base.Fields:
    return (*shape_fields(node, graph), ("multiplier", scale.multiplier), ("shift", scale.shift))


def _sum_work(node: Node, graph: Graph) -> Work:
    """Parts of the loops of sums of int8, beside the usual ones: values that are added in blocks of
    eight and four columns and singly, and in rows."""
    shape = _sizes(node, graph)
    parts, count, size = shape[0] * shape[2], shape[3], shape[4]
    is_columns = shape[1] == shape[5] == 1
    is_rows = not is_columns and shape[1] == shape[3] == 1
    each = count * parts if is_columns else 0
    return {
        **work(node, graph),
        "summed_eight": each * -(-size // 8),
        "summed_four": each * (size // 4),
        "summed_one": each * (size % 4),
        "result_eight": parts * -(-size // 8) * is_columns,
        "result_four": parts * (size // 4) * is_columns,
        "summed_row": prod(shape) * is_rows,
    }


def sum_kernels(
    scale: Callable[[Node, Graph], SumParameters], divisor: Callable[[Node, Graph], int]
) -> tuple[base.Implementation, ...]:
    """``mg_reduce_sum_s8``, ``_s16`` and ``_f32``; the last divides by ``divisor``."""

    def fields_s8(node: Node, graph: Graph) -> base.Fields:
        return _sum_fields_s8(node, graph, scale(node, graph))

    def fields_s16(node: Node, graph: Graph) -> base.Fields:
        return _sum_fields_s16(node, graph, scale(node, graph))

    def fields_f32(node: Node, graph: Graph) -> base.Fields:
        return (*shape_fields(node, graph), ("divisor", float(divisor(node, graph))))

    return (
        replace(kernel("sum_s8", DType.INT8, fields_s8), work=_sum_work),
        kernel("sum_s16", DType.INT16, fields_s16),
        kernel("sum_f32", DType.FLOAT32, fields_f32),
    )


MEAN_IN_FLOAT32 = kernel("mean_in_float_s8", DType.INT8, _mean_in_float32_fields)
EVERY = kernel("all_bool", DType.BOOL, shape_fields)
PLAIN_SUM = kernel("sum_s32", DType.INT32, shape_fields)


def extreme_kernels(*, is_minimum: bool) -> tuple[base.Implementation, ...]:
    """The kernels of one of the two directions, such as ``mg_reduce_max_<dtype>``."""

    def params(node: Node, graph: Graph) -> base.Fields:
        return (*shape_fields(node, graph), ("is_minimum", int(is_minimum)))

    def of_floats(node: Node, graph: Graph) -> base.Fields:
        assert isinstance(node.attrs, MaxAttrs | MinAttrs)
        # A minimum begins with the greatest number, so that any other one replaces it.
        find = limits.greatest if is_minimum else limits.least
        first = find(np.dtype(np.float32), infinite=node.attrs.from_infinity)
        return (*params(node, graph), ("first", float(first)))

    return (
        kernel("max_s8", DType.INT8, params),
        kernel("max_s16", DType.INT16, params),
        kernel("max_s32", DType.INT32, params),
        kernel("max_f32", DType.FLOAT32, of_floats),
    )


def _sum_scale(node: Node, graph: Graph) -> SumParameters:
    (data,), output = base.types(node, graph)
    return sum_parameters(data, output)


def _arg_extreme_refusal(dtype: DType) -> base.Refuse:
    # Not base.only: positions do not depend on a scale, and the output has another dtype.
    def refusal(node: Node, graph: Graph) -> str | None:
        found = graph.types[node.inputs[0]].dtype
        if found is not dtype:
            why = f"{short(node.inputs[0])!r} is {found.value}, the kernel reads {dtype.value}"
            return base.Mismatch(base.Trait.DTYPE, why)
        return None

    return refusal


def _arg_extreme_kernels(*, is_minimum: bool) -> tuple[base.Implementation, ...]:
    """The kernels of one of the two directions, such as ``mg_argmax_<dtype>``, for any output dtype
    of the ops."""

    def params(node: Node, graph: Graph) -> base.Fields:
        attrs = base.attrs_of(node, ArgExtremeAttrs)
        (data,), output = base.types(node, graph)
        return (
            *base.axis_fields(data.shape, attrs.axis),
            ("is_minimum", int(is_minimum)),
            ("output_bytes", output.dtype.nbytes),
        )

    return tuple(
        base.Implementation(f"mg_argmax_{base.suffix(dtype)}", _arg_extreme_refusal(dtype), params)
        for dtype in (DType.INT8, DType.INT32, DType.FLOAT32)
    )


def _topk_params(node: Node, graph: Graph) -> base.Fields:
    attrs = base.attrs_of(node, TopKAttrs)
    (data,), output = base.types(node, graph)
    return (
        *base.axis_fields(data.shape, attrs.axis),
        ("k", attrs.k),
        ("is_largest", int(attrs.is_largest)),
        ("output_bytes", output.dtype.nbytes),
    )


def _running_params(node: Node, graph: Graph) -> base.Fields:
    attrs = base.attrs_of(node, RunningAttrs)
    return (
        *base.axis_fields(graph.types[node.inputs[0]].shape, attrs.axis),
        ("exclusive", int(attrs.exclusive)),
        ("reverse", int(attrs.reverse)),
    )


def _running_kernels(op: str) -> tuple[base.Implementation, ...]:
    """``mg_<op>_<dtype>`` of ``cumulation.h``."""
    return tuple(
        base.Implementation(
            symbol=f"mg_{op}_{base.suffix(dtype)}",
            refusal=base.only(dtype),
            params=_running_params,
            in_place=base.as_is,
        )
        for dtype in (DType.INT32, DType.INT64, DType.FLOAT32)
    )


BY_OP = {
    "all": (EVERY,),
    "max": extreme_kernels(is_minimum=False),
    "min": extreme_kernels(is_minimum=True),
    "sum": (*sum_kernels(_sum_scale, divisor=lambda *_: 1), PLAIN_SUM),
    "argmax": _arg_extreme_kernels(is_minimum=False),
    "argmin": _arg_extreme_kernels(is_minimum=True),
    "topk": tuple(
        base.Implementation(
            f"mg_topk_{base.suffix(dtype)}", _arg_extreme_refusal(dtype), _topk_params
        )
        for dtype in DType
        if dtype is not DType.BOOL
    ),
    "cumsum": _running_kernels("cumsum"),
    "cumprod": _running_kernels("cumprod"),
}
