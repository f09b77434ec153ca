"""Operators that put rows into a tensor, at places that indices give."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from tflite.ScatterNdOptions import ScatterNdOptions
from tflite.SparseToDenseOptions import SparseToDenseOptions
from tflite.UnsortedSegmentMaxOptions import UnsortedSegmentMaxOptions
from tflite.UnsortedSegmentMinOptions import UnsortedSegmentMinOptions
from tflite.UnsortedSegmentProdOptions import UnsortedSegmentProdOptions
from tflite.UnsortedSegmentSumOptions import UnsortedSegmentSumOptions

from microgen.frontends.tflite.importers.arguments import Importer, cut, integers
from microgen.frontends.tflite.layers import FileLayer
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.builder import BuiltTensor, Value
from microgen.graph.ir.graph import MAX_BYTES, Array, DType
from microgen.graph.ops import limits
from microgen.graph.ops.base import Shape
from microgen.graph.ops.comparisons.comparison import ComparisonAttrs
from microgen.graph.ops.elementwise.choices import WhereAttrs
from microgen.graph.ops.elementwise.product import MultiplyAttrs
from microgen.graph.ops.moves.layouts import BroadcastToAttrs
from microgen.graph.ops.moves.scatter import ScatterAttrs
from microgen.graph.ops.moves.slices import StridedSliceAttrs
from microgen.graph.ops.moves.views import ReshapeAttrs
from microgen.graph.ops.quantization.conversions import CastAttrs
from microgen.graph.ops.reductions.reduction import SumAttrs

_ADDED = (DType.FLOAT32, DType.INT32, DType.INT64)


def _indices(layer: FileLayer) -> BuiltTensor:
    """The first input, indices, as int32."""
    indices = layer.plain(0)
    layer.expect(indices, DType.INT32, DType.INT64)
    if indices.dtype is DType.INT32:
        return indices
    return layer.emit("cast", CastAttrs(), (indices,), dtype=DType.INT32, hint="indices")


def _places(layer: FileLayer, indices: BuiltTensor, axes: Shape) -> BuiltTensor:
    """The place, int32 [count], of each tuple of indices, the last axis, among rows in row-major
    order of ``axes``. ModelError for a constant place that is outside. A computed one that is
    outside stops the firmware."""
    rows = math.prod(axes)
    if rows > MAX_BYTES:
        raise layer.invalid(f"has the shape {cut(axes)}; at most {MAX_BYTES} rows are accepted")
    steps = np.array([math.prod(axes[k + 1 :]) for k in range(len(axes))], np.int32)
    places = indices
    if len(axes) > 1:
        factors = layer.constant(steps, "steps")
        terms = layer.emit("multiply", MultiplyAttrs(Activation.NONE), (indices, factors))
        # The sum may be inside although an index is not; LiteRT checks the sum only.
        places = layer.emit("sum", SumAttrs((len(indices.shape) - 1,), False), (terms,))
    places = layer.reshaped(places, (indices.type.size // len(axes),))
    if places.value is not None and not 0 <= places.value.min() <= places.value.max() < rows:
        raise layer.invalid(
            f"has indices of rows {places.value.min()} to {places.value.max()}; 0 to {rows - 1} "
            "are expected"
        )
    return places


def _rows(
    layer: FileLayer, operands: Sequence[BuiltTensor], shape: Shape, reduction: str, final: Shape
) -> BuiltTensor:
    """The output, of the shape ``final``: a scatter of filler, places and updates."""
    output = layer.output()
    if shape == final:
        return layer.emit("scatter", ScatterAttrs(shape, reduction), operands, output)
    rows = layer.emit("scatter", ScatterAttrs(shape, reduction), operands, quant=output.type.quant)
    return layer.emit("reshape", ReshapeAttrs(final), (rows,), output)


def _scatter_nd(layer: FileLayer) -> Value:
    """Zeros, to which the updates are added."""
    # Source: TFLite reference/reference_ops.h, ScatterNd.
    indices, updates, final = layer.plain(0), layer.data(1), integers(layer, 2)
    layer.expect(indices, DType.INT32)
    layer.expect(updates, DType.INT8, DType.BOOL, *_ADDED)
    depth = indices.shape[-1] if indices.shape else 0
    if not 1 <= depth <= len(final) or min(final) < 1:
        raise layer.invalid(f"has indices {indices.type} of a tensor of shape {cut(final)}")
    inner = final[depth:]
    if updates.shape != (*indices.shape[:-1], *inner):
        raise layer.invalid(f"has updates {updates.type} at indices {indices.type} of {cut(final)}")
    places = _places(layer, indices, final[:depth])
    reduction = _reduction(layer, places, updates)
    filler = layer.constant(np.zeros((), updates.dtype.numpy), "zero", layer.output().type.quant)
    operands = (filler, places, layer.reshaped(updates, (places.type.size, *inner)))
    return _rows(layer, operands, (math.prod(final[:depth]), *inner), reduction, final)


def _reduction(layer: FileLayer, places: BuiltTensor, updates: BuiltTensor) -> str:
    if updates.dtype in _ADDED and updates.type.quant is None:
        return "add"
    # If all places differ, each stored value is added to nothing, and remains as it is.
    if places.value is not None and np.unique(places.value).size == places.type.size:
        return "none"
    raise layer.unsupported(
        f"adds {updates.type} at places that may be equal, in stored values that wrap",
        supported="float32, int32 and int64, or constant places that differ",
    )


def _sparse_to_dense(layer: FileLayer) -> Value:
    """One value everywhere but at the indices."""
    indices, final = _indices(layer), integers(layer, 1)
    values, filler = layer.data(2), layer.data(3)
    layer.expect(values, DType.INT8, *_ADDED)
    # A scalar is one index of one axis, and a vector several.
    tuples = layer.reshaped(indices, (*indices.shape, 1)) if len(indices.shape) < 2 else indices
    count = math.prod(tuples.shape[:-1])
    is_possible = len(tuples.shape) <= 2 and tuples.shape[-1] == len(final)
    if not is_possible or min(final) < 1 or filler.type.size != 1:
        raise layer.invalid(f"has indices {indices.type} of a tensor of shape {cut(final)}")
    if values.shape not in ((), (count,)):
        raise layer.invalid(f"has values {values.type} for {count} indices")
    places = _places(layer, tuples, final)
    if values.shape != (count,):
        values = layer.emit("broadcast_to", BroadcastToAttrs((count,)), (values,), hint="values")
    operands = (layer.reshaped(filler, ()), places, values)
    return _rows(layer, operands, (math.prod(final),), "none", final)


def _segments(reduction: str, schema: object) -> Importer:
    """The importer of an operator that combines the rows of each segment."""

    def importer(layer: FileLayer) -> Value:
        # Source: TFLite unsorted_segment.cc and reference/reference_ops.h, UnsortedSegmentRef.
        data, numbers, count = layer.data(0), layer.plain(1), integers(layer, 2)
        layer.expect(data, DType.FLOAT32, DType.INT32)
        layer.expect(numbers, DType.INT32)
        is_number = len(count) == 1 and 1 <= count[0] < MAX_BYTES - 1
        if not is_number or numbers.shape != data.shape[:1] or not data.shape:
            raise layer.invalid(
                f"has segments {numbers.type} for {data.type} and {cut(count)} as their number; "
                "a segment for each row, and one positive number, are expected"
            )
        places = _of_segments(layer, numbers, count[0])
        filler = layer.constant(_first(reduction, data.dtype), "first")
        # Rows without a segment have a row of their own, which is cut off.
        shape = (count[0] + 1, *data.shape[1:])
        operands = (filler, places, data)
        rows = layer.emit("scatter", ScatterAttrs(shape, reduction), operands)
        kept = (count[0], *data.shape[1:])
        attrs = StridedSliceAttrs((0,) * len(kept), (1,) * len(kept), kept)
        return layer.emit("strided_slice", attrs, (rows,), layer.output())

    return Importer(importer, (3,), optional=schema)


def _first(reduction: str, dtype: DType) -> Array:
    """The result for a segment without rows."""
    kind = dtype.numpy
    known = {"add": 0, "mul": 1, "max": limits.least(kind), "min": limits.greatest(kind)}
    return np.array(known[reduction], kind)


def _of_segments(layer: FileLayer, numbers: BuiltTensor, count: int) -> BuiltTensor:
    """The row of each segment. It is ``count`` for negative segments, and a row that does not exist
    for segments from ``count`` on."""
    value = numbers.value
    if value is not None and value.max() >= count:
        raise layer.invalid(f"has the segment {value.max()}; at most {count - 1} is expected")

    if value is not None and value.min() >= 0:
        return numbers
    inside = _replaced(layer, "greater", numbers, count - 1, count + 1)
    return _replaced(layer, "less", inside, 0, count)


def _replaced(
    layer: FileLayer, op: str, numbers: BuiltTensor, bound: int, instead: int
) -> BuiltTensor:
    """int32 numbers, with ``instead`` in place of those that are less or greater than a bound."""
    limit, other = (layer.constant(np.array(n, np.int32), op) for n in (bound, instead))
    found = layer.emit(op, ComparisonAttrs(), (numbers, limit), dtype=DType.BOOL)
    return layer.emit("where", WhereAttrs(), (found, other, numbers), dtype=DType.INT32)


IMPORTERS = {
    "SCATTER_ND": Importer(_scatter_nd, (3,), optional=ScatterNdOptions),
    "SPARSE_TO_DENSE": Importer(_sparse_to_dense, (4,), optional=SparseToDenseOptions),
    "UNSORTED_SEGMENT_MAX": _segments("max", UnsortedSegmentMaxOptions),
    "UNSORTED_SEGMENT_MIN": _segments("min", UnsortedSegmentMinOptions),
    "UNSORTED_SEGMENT_PROD": _segments("mul", UnsortedSegmentProdOptions),
    "UNSORTED_SEGMENT_SUM": _segments("add", UnsortedSegmentSumOptions),
}
