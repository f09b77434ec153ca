"""Operators that reduce axes, compute running sums along an axis, or add tensors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from tflite.AddNOptions import AddNOptions
from tflite.ArgMaxOptions import ArgMaxOptions
from tflite.ArgMinOptions import ArgMinOptions
from tflite.CumsumOptions import CumsumOptions
from tflite.ReducerOptions import ReducerOptions

from microgen.frontends.tflite.importers.arguments import (
    Importer,
    integers,
    one_axis,
    resolved_axis,
)
from microgen.frontends.tflite.layers import FileLayer
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import Attrs, DType, Quant
from microgen.graph.ops.comparisons.comparison import LogicalAttrs
from microgen.graph.ops.elementwise.addition import AddAttrs
from microgen.graph.ops.elementwise.product import MultiplyAttrs
from microgen.graph.ops.moves.layouts import TransposeAttrs
from microgen.graph.ops.moves.slices import StridedSliceAttrs
from microgen.graph.ops.moves.views import ReinterpretAttrs, ReshapeAttrs
from microgen.graph.ops.quantization.conversions import CastAttrs
from microgen.graph.ops.quantization.rescale import RequantizeAttrs
from microgen.graph.ops.reductions.extremes import (
    ArgExtremeAttrs,
    ArgMaxAttrs,
    ArgMinAttrs,
    MaxAttrs,
    MinAttrs,
)
from microgen.graph.ops.reductions.product import ProdAttrs
from microgen.graph.ops.reductions.reduction import AllAttrs, MeanAttrs, ReductionAttrs, SumAttrs
from microgen.graph.ops.reductions.running import CumprodAttrs, CumsumAttrs


def _reduced(layer: FileLayer, op: str, attrs: Attrs) -> BuiltTensor:
    # The second input, the axes, is in the attributes.
    return layer.emit(op, attrs, (layer.data(0),), layer.output())


def _axes(layer: FileLayer) -> tuple[tuple[int, ...], bool]:
    """The axes, ascending and without duplicates, and whether the output keeps them."""
    rank = len(layer.data(0).type.shape)
    # A negative axis and its positive form are the same axis, so the set has it once.
    axes = {resolved_axis(layer, axis, rank) for axis in integers(layer, 1)}
    return tuple(sorted(axes)), layer.flag("KeepDims")


def _reduction(op: str, attrs: type[ReductionAttrs]) -> Importer:
    return Importer(
        lambda layer: _reduced(layer, op, attrs(*_axes(layer))), (2,), optional=ReducerOptions
    )


def _any(layer: FileLayer) -> BuiltTensor:
    """Any value is true unless all are false."""
    false = layer.emit("logical_not", LogicalAttrs(), (layer.data(0),))
    none = layer.emit("all", AllAttrs(*_axes(layer)), (false,))
    return layer.emit("logical_not", LogicalAttrs(), (none,), layer.output())


def _product(layer: FileLayer) -> BuiltTensor:
    """For plain numbers, the last of running products of the values over the axes."""
    data, output = layer.data(0), layer.output()
    axes, keep = _axes(layer)
    if data.type.quant is not None:
        return layer.emit("prod", ProdAttrs(axes, keep), (data,), output)
    layer.expect(data, DType.FLOAT32, DType.INT32, DType.INT64)
    rank = len(data.shape)
    others = tuple(axis for axis in range(rank) if axis not in axes)
    shape = tuple(1 if k in axes else n for k, n in enumerate(data.shape) if keep or k in others)
    count = data.type.size // math.prod(shape)
    if others + axes != tuple(range(rank)):
        data = layer.emit("transpose", TransposeAttrs(others + axes), (data,))
    rows = layer.reshaped(data, (math.prod(shape), count))
    running = layer.emit("cumprod", CumprodAttrs(1), (rows,)) if count > 1 else rows
    last = StridedSliceAttrs((0, count - 1), (1, 1), (math.prod(shape), 1))
    results = layer.emit("strided_slice", last, (running,))
    return layer.emit("reshape", ReshapeAttrs(shape), (results,), output)


def _sum(layer: FileLayer) -> BuiltTensor:
    is_quantized = layer.data(0).type.quant is not None
    is_unsigned = layer.numerics.sums_bytes and is_quantized and not layer.is_unsigned(0)
    if is_unsigned and layer.data(0).dtype is DType.INT16:
        raise layer.unsupported(
            "sums int16, whose bytes LiteRT adds, which is useless",
            hint="generate with --numerics tflm",
        )
    return _reduced(layer, "sum", SumAttrs(*_axes(layer), is_unsigned))


def _one_axis(layer: FileLayer) -> int:
    return one_axis(layer, 1, len(layer.data(0).type.shape))


def _position(op: str, attrs: type[ArgExtremeAttrs], schema: Any) -> Importer:
    # The only option is the output's dtype, which its tensor also has.
    return Importer(
        lambda layer: _reduced(layer, op, attrs(_one_axis(layer))), (2,), optional=schema
    )


# int8 sums of ADD_N and CUMSUM, which TensorFlow Lite Micro has and LiteRT has not.
#
# Source: TFLite Micro, micro/kernels/add_n.cc and cumsum.cc, and reference/add_n.h and cumsum.h.
# Both begin a sum with the stored value 0 instead of the zero point, so it is less by the zero
# point. They multiply each term by 2**19 and scale the int32 sum, rounding twice. Where C leaves a
# sum undefined, because it exceeds int32, it is computed modulo 2**32.

_SHIFT = 19


def _is_micro(layer: FileLayer, data: BuiltTensor) -> bool:
    """Whether only TensorFlow Lite Micro has the sum. UnsupportedError if so and the profile is not
    ``tflm``, and for int16, which neither has."""
    if data.dtype is DType.INT16:
        raise layer.unsupported(
            f"adds {data.type}, which no runtime computes", supported="float32 and int32"
        )
    if data.dtype is not DType.INT8:
        return False
    if layer.numerics.name != "tflm":
        raise layer.unsupported(
            f"adds {data.type}, which only TensorFlow Lite Micro computes",
            supported="float32 and int32, or int8 with --numerics tflm",
        )
    return True


def _wide(layer: FileLayer, data: BuiltTensor) -> BuiltTensor:
    """The stored values as int32."""
    hint = f"{layer.output().name}/wide"
    return layer.emit("cast", CastAttrs(), (data,), dtype=DType.INT32, quant=None, hint=hint)


def _plus(layer: FileLayer, data: BuiltTensor, number: int) -> BuiltTensor:
    """The sum of int32 values and a number."""
    return layer.emit("add", AddAttrs(Activation.NONE), (data, _constant(layer, number)))


def _rescaled(layer: FileLayer, total: BuiltTensor, data: BuiltTensor) -> BuiltTensor:
    """The output, made of int32 sums: they have the scale of ``data``, and are converted to the
    output's scale."""
    output, scale = layer.output(), data.type.scale
    layer.expect(output, DType.INT8)
    if not 2 * scale < 2**20 * output.type.scale:
        raise layer.unsupported(
            f"has the scale {scale:g} and an output with the scale {output.type.scale:g}, at which "
            "TensorFlow Lite Micro stops",
            supported="an output's scale of more than 1 / 524288 of the input's",
        )
    factor = _constant(layer, 2**_SHIFT)
    shifted = layer.emit("multiply", MultiplyAttrs(Activation.NONE), (total, factor))
    quant = Quant((scale / 2**_SHIFT,), (0,), None)
    attrs = ReinterpretAttrs(total.shape)
    named = layer.emit("qnn.reinterpret", attrs, (shifted,), dtype=DType.INT32, quant=quant)
    return layer.emit("qnn.requantize", RequantizeAttrs(), (named,), output)


def _constant(layer: FileLayer, number: int) -> BuiltTensor:
    return layer.constant(np.array([number], np.int32), f"{layer.output().name}/number")


def _add_n(layer: FileLayer) -> BuiltTensor:
    """Additions one after another, in TFLite's order."""
    first, *others = layer.operands()
    is_micro = _is_micro(layer, first)
    layer.expect(first, DType.FLOAT32, DType.INT32, *[DType.INT8] * is_micro)
    if not others or any(other.shape != first.shape for other in others):
        raise layer.invalid(
            f"adds {1 + len(others)} tensors, the first of which is {first.type}; two or more of "
            "the same shape are expected"
        )
    if is_micro:
        return _micro_sum(layer, (first, *others))
    total, attrs, output = first, AddAttrs(Activation.NONE), layer.output()
    for other in others[:-1]:
        total = layer.emit("add", attrs, (total, other), hint=f"{output.name}/sum")
    return layer.emit("add", attrs, (total, others[-1]), output)


def _micro_sum(layer: FileLayer, terms: Sequence[BuiltTensor]) -> BuiltTensor:
    quant = terms[0].type.quant
    if any((term.dtype, term.type.quant) != (DType.INT8, quant) for term in terms):
        raise layer.invalid("adds int8 tensors of several dtypes, scales or zero points")
    total, *others = (_wide(layer, term) for term in terms)
    for other in others:
        total = layer.emit("add", AddAttrs(Activation.NONE), (total, other))
    # The zero point of each term, and once more, because TFLite Micro starts with a stored 0.
    total = _plus(layer, total, -(len(terms) + 1) * terms[0].type.zero_point)
    return _rescaled(layer, total, terms[0])


def _cumsum(layer: FileLayer) -> BuiltTensor:
    exclusive, reverse = (layer.flag(name) for name in ("Exclusive", "Reverse"))
    attrs, data = CumsumAttrs(_one_axis(layer), exclusive, reverse), layer.data(0)
    if not _is_micro(layer, data):
        return _reduced(layer, "cumsum", attrs)
    zero = data.type.zero_point
    terms = _plus(layer, _wide(layer, data), -zero)
    # One zero point more for the stored 0 with which TFLite Micro begins each sum.
    total = _plus(layer, layer.emit("cumsum", attrs, (terms,)), -zero)
    return _rescaled(layer, total, data)


IMPORTERS = {
    "ADD_N": Importer(_add_n, optional=AddNOptions),
    "ARG_MAX": _position("argmax", ArgMaxAttrs, ArgMaxOptions),
    "ARG_MIN": _position("argmin", ArgMinAttrs, ArgMinOptions),
    "CUMSUM": Importer(_cumsum, (2,), optional=CumsumOptions),
    "MEAN": _reduction("mean", MeanAttrs),
    "REDUCE_ALL": _reduction("all", AllAttrs),
    "REDUCE_ANY": Importer(_any, (2,), optional=ReducerOptions),
    "REDUCE_MAX": _reduction("max", MaxAttrs),
    "REDUCE_MIN": _reduction("min", MinAttrs),
    "REDUCE_PROD": Importer(_product, (2,), optional=ReducerOptions),
    "SUM": Importer(_sum, (2,), optional=ReducerOptions),
}
