"""Operators that reduce axes, or sum along one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tflite.ArgMaxOptions import ArgMaxOptions
from tflite.ArgMinOptions import ArgMinOptions
from tflite.BuiltinOptions import BuiltinOptions
from tflite.CumsumOptions import CumsumOptions
from tflite.ReducerOptions import ReducerOptions

from microgen.frontends.tflite import micro
from microgen.frontends.tflite.importers.arguments import integers, resolved_axis
from microgen.frontends.tflite.layers import FileLayer, Importer
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import Attrs
from microgen.graph.ops.reductions.extremes import ArgMaxAttrs, ArgMinAttrs, MaxAttrs, MinAttrs
from microgen.graph.ops.reductions.reduction import AllAttrs, MeanAttrs, SumAttrs
from microgen.graph.ops.reductions.running import CumsumAttrs


def _axes(layer: FileLayer) -> tuple[tuple[int, ...], bool]:
    """The axes, ascending and without duplicates, and whether the output keeps them."""
    layer.expect_inputs(2)
    options = layer.options(ReducerOptions, BuiltinOptions.ReducerOptions, required=False)
    rank = len(layer.data(0).type.shape)
    axes = {resolved_axis(layer, axis, rank) for axis in integers(layer, 1)}
    return tuple(sorted(axes)), bool(options.number("KeepDims"))


def _reduced(layer: FileLayer, op: str, attrs: Attrs) -> BuiltTensor:
    # The second input, the axes, is in the attributes.
    return layer.emit(op, attrs, (layer.data(0),), layer.output())


def _mean(layer: FileLayer) -> BuiltTensor:
    return _reduced(layer, "mean", MeanAttrs(*_axes(layer)))


def _sum(layer: FileLayer) -> BuiltTensor:
    is_quantized = layer.data(0).type.quant is not None
    is_unsigned = layer.numerics.sums_bytes and is_quantized and not layer.is_unsigned(0)
    return _reduced(layer, "sum", SumAttrs(*_axes(layer), is_unsigned))


def _max(layer: FileLayer) -> BuiltTensor:
    return _reduced(layer, "max", MaxAttrs(*_axes(layer)))


def _min(layer: FileLayer) -> BuiltTensor:
    return _reduced(layer, "min", MinAttrs(*_axes(layer)))


def _all(layer: FileLayer) -> BuiltTensor:
    return _reduced(layer, "all", AllAttrs(*_axes(layer)))


def _position_axis(layer: FileLayer, schema: Any, code: int) -> int:
    layer.expect_inputs(2)
    # The only option is the output's dtype, which its tensor also has.
    layer.options(schema, code, required=False)
    return _one_axis(layer)


def _one_axis(layer: FileLayer) -> int:
    stated = integers(layer, 1)
    if len(stated) != 1:
        raise layer.invalid(f"has {len(stated)} axes; one is expected")
    return resolved_axis(layer, stated[0], len(layer.data(0).type.shape))


def _arg_max(layer: FileLayer) -> BuiltTensor:
    axis = _position_axis(layer, ArgMaxOptions, BuiltinOptions.ArgMaxOptions)
    return _reduced(layer, "argmax", ArgMaxAttrs(axis))


def _arg_min(layer: FileLayer) -> BuiltTensor:
    axis = _position_axis(layer, ArgMinOptions, BuiltinOptions.ArgMinOptions)
    return _reduced(layer, "argmin", ArgMinAttrs(axis))


def _cumsum(layer: FileLayer) -> BuiltTensor:
    layer.expect_inputs(2)
    options = layer.options(CumsumOptions, BuiltinOptions.CumsumOptions, required=False)
    exclusive, reverse = (bool(options.number(name)) for name in ("Exclusive", "Reverse"))
    attrs, data = CumsumAttrs(_one_axis(layer), exclusive, reverse), layer.data(0)
    if not micro.has_own(layer, data):
        return _reduced(layer, "cumsum", attrs)
    zero = data.type.zero_point
    terms = micro.plus(layer, micro.wide(layer, data), -zero)
    # One zero point more for the stored 0 with which TFLite Micro begins each sum.
    total = micro.plus(layer, layer.emit("cumsum", attrs, (terms,)), -zero)
    return micro.rescaled(layer, total, data)


IMPORTERS: Mapping[str, Importer] = {
    "ARG_MAX": _arg_max,
    "ARG_MIN": _arg_min,
    "CUMSUM": _cumsum,
    "MEAN": _mean,
    "REDUCE_ALL": _all,
    "REDUCE_MAX": _max,
    "REDUCE_MIN": _min,
    "SUM": _sum,
}
