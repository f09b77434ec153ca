"""Operators that order, mark or spread the elements of a tensor."""

from __future__ import annotations

import math

import numpy as np
from tflite.BucketizeOptions import BucketizeOptions
from tflite.MatrixDiagOptions import MatrixDiagOptions
from tflite.MatrixSetDiagOptions import MatrixSetDiagOptions
from tflite.OneHotOptions import OneHotOptions
from tflite.ReverseSequenceOptions import ReverseSequenceOptions
from tflite.TopKV2Options import TopKV2Options

from microgen.frontends.tflite.importers.arguments import Importer, cut, integers, resolved_axis
from microgen.frontends.tflite.layers import FileLayer
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.builder import BuiltTensor, Value
from microgen.graph.ir.graph import MAX_BYTES, ArrayType, DType
from microgen.graph.ops import budget
from microgen.graph.ops.base import Shape
from microgen.graph.ops.comparisons.comparison import ComparisonAttrs, LogicalAttrs
from microgen.graph.ops.cost import elementwise
from microgen.graph.ops.elementwise.addition import SubtractAttrs
from microgen.graph.ops.elementwise.choices import WhereAttrs
from microgen.graph.ops.moves.indexed import AxisPositionsAttrs, TakeAttrs
from microgen.graph.ops.moves.layouts import TransposeAttrs
from microgen.graph.ops.moves.pads import PadAttrs
from microgen.graph.ops.moves.slices import StridedSliceAttrs
from microgen.graph.ops.moves.views import ReinterpretAttrs, ReshapeAttrs
from microgen.graph.ops.quantization.conversions import CastAttrs
from microgen.graph.ops.reductions.extremes import TopKAttrs
from microgen.graph.ops.reductions.reduction import SumAttrs

_REVERSED = "float32, uint8, int16, int32 and int64; QUANTIZE or CAST to one of them before it"


def _topk(layer: FileLayer) -> Value:
    """The greatest values of each row, the greatest first, and their positions."""
    layer.expect_inputs(2, outputs=2)
    data, count = layer.data(0), integers(layer, 1)
    rank = len(data.shape)
    if len(count) != 1 or rank < 1 or not 1 <= count[0] <= data.shape[-1]:
        raise layer.invalid(
            f"finds the greatest {cut(count)} of each row of {data.type}; one number, from 1 to "
            "the length of a row, is expected"
        )
    values, positions = layer.outputs()
    layer.expect(positions, DType.INT32)
    attrs = TopKAttrs(rank - 1, count[0], is_largest=True)
    places = layer.emit("topk", attrs, (data,), positions)
    if data.type.quant != values.type.quant:
        # LiteRT moves stored values and ignores their scales.
        view = ReinterpretAttrs(data.shape)
        data = layer.emit("qnn.reinterpret", view, (data,), quant=values.type.quant)
    return layer.emit("take", TakeAttrs(rank - 1, rank - 1), (data, places), values), places


def _one_hot(layer: FileLayer) -> BuiltTensor:
    """A choice between two values: "on" at the place of the index, "off" elsewhere."""
    # Source: TFLite one_hot.cc, OneHotComputeImpl, which compares indices as int32.
    indices, depth, on, off = layer.plain(0), integers(layer, 1), layer.data(2), layer.data(3)
    layer.expect(indices, DType.INT32, DType.INT64)
    rank = len(indices.shape) + 1
    axis = resolved_axis(layer, layer.option("Axis"), rank)
    if len(depth) != 1 or depth[0] < 1 or (on.type.size, off.type.size) != (1, 1):
        raise layer.invalid(f"has the depth {cut(depth)} and the values {on.type}, {off.type}")
    if indices.dtype is DType.INT64:
        indices = layer.emit("cast", CastAttrs(), (indices,), dtype=DType.INT32)
    column = (*indices.shape[:axis], 1, *indices.shape[axis:])
    places = _numbers(layer, depth[0], [-1 if k == axis else 1 for k in range(rank)])
    operands = (layer.reshaped(indices, column), places)
    here = layer.emit("equal", ComparisonAttrs(), operands, dtype=DType.BOOL, quant=None)
    choices = (here, layer.reshaped(on, ()), layer.reshaped(off, ()))
    return layer.emit("where", WhereAttrs(), choices, layer.output())


def _numbers(layer: FileLayer, count: int, shape: list[int], first: int = 0) -> BuiltTensor:
    """The int32 constant of ``count`` numbers from ``first`` on."""
    if count > MAX_BYTES:
        raise layer.invalid(f"has the depth {count}; at most {MAX_BYTES} is accepted")
    budget.spend(elementwise(None, (), (ArrayType((count,), DType.INT64),)), layer.where)
    numbers = np.arange(first, first + count, dtype=np.int32).reshape(shape)
    return layer.constant(numbers, "numbers")


def _bucketize(layer: FileLayer) -> BuiltTensor:
    """The number of boundaries that are not greater than each value."""
    # Source: TFLite bucketize.cc: std::upper_bound, for which NaN is less than no boundary.
    data, output = layer.data(0), layer.output()
    layer.expect(data, DType.FLOAT32, DType.INT32, DType.INT64)
    boundaries = np.array(layer.option_integers("Boundaries"), np.float32)
    if not boundaries.size or np.isnan(boundaries).any() or (np.diff(boundaries) < 0).any():
        raise layer.invalid("has boundaries that are not one or more ascending numbers")
    if data.dtype is not DType.FLOAT32:
        data = layer.emit("cast", CastAttrs(), (data,), dtype=DType.FLOAT32)
    column = layer.reshaped(data, (*data.shape, 1))
    limits = layer.constant(boundaries, "boundaries")
    less = layer.emit("less", ComparisonAttrs(), (column, limits), dtype=DType.BOOL)
    passed = layer.emit("logical_not", LogicalAttrs(), (less,))
    ones = layer.emit("cast", CastAttrs(), (passed,), dtype=DType.INT32)
    return layer.emit("sum", SumAttrs((len(data.shape),), False), (ones,), output)


def _reverse_sequence(layer: FileLayer) -> BuiltTensor:
    """Step t of a sequence of n steps is taken from step n - 1 - t if t is less than n, otherwise
    from step t."""
    # Source: TFLite reference/reference_ops.h, ReverseSequence, and reverse_sequence.cc, which has
    # no int8 and no bool. No runtime could check what is computed of these.
    data, lengths = layer.data(0), layer.plain(1)
    if data.dtype is DType.BOOL or (data.dtype is DType.INT8 and not layer.is_unsigned(0)):
        raise layer.unsupported(
            f"reverses {data.type}, which LiteRT does not compute", supported=_REVERSED
        )
    rank = len(data.shape)
    time, batch = (resolved_axis(layer, layer.option(n), rank) for n in ("SeqDim", "BatchDim"))
    layer.expect(lengths, DType.INT32, DType.INT64)
    if time == batch or lengths.shape != (data.shape[batch],):
        raise layer.invalid(
            f"has the axes {batch} and {time} for {data.type} and lengths {lengths.type}; two "
            "axes, and a length for each sequence, are expected"
        )
    order = (batch, time, *(k for k in range(rank) if k not in (batch, time)))
    moved = _transposed(layer, data, order)
    taken = _rows(layer, moved, _mirrored(layer, lengths, data.shape[time]))
    back = tuple(int(k) for k in np.argsort(order))
    if back == tuple(range(rank)):
        return layer.emit("reshape", ReshapeAttrs(taken.shape), (taken,), layer.output())
    return layer.emit("transpose", TransposeAttrs(back), (taken,), layer.output())


def _transposed(layer: FileLayer, data: BuiltTensor, order: tuple[int, ...]) -> BuiltTensor:
    if order == tuple(range(len(order))):
        return data
    return layer.emit("transpose", TransposeAttrs(order), (data,))


def _mirrored(layer: FileLayer, lengths: BuiltTensor, steps: int) -> BuiltTensor:
    """The place [batches, steps] among all steps of all sequences that each step is taken from."""
    value, batches = lengths.value, lengths.shape[0]
    if value is not None and not 0 <= value.min() <= value.max() <= steps:
        raise layer.invalid(f"has lengths from {value.min()} to {value.max()} for {steps} steps")
    if lengths.dtype is DType.INT64:
        lengths = layer.emit("cast", CastAttrs(), (lengths,), dtype=DType.INT32)
    counts = layer.reshaped(lengths, (batches, 1))
    at, after = (_numbers(layer, steps, [1, steps], first) for first in (0, 1))
    attrs = SubtractAttrs(Activation.NONE)
    mirrored = layer.emit("subtract", attrs, (counts, after))
    is_inside = layer.emit("less", ComparisonAttrs(), (at, counts), dtype=DType.BOOL)
    places = layer.emit("where", WhereAttrs(), (is_inside, mirrored, at), dtype=DType.INT32)
    positions = AxisPositionsAttrs((batches, steps), 1)
    return layer.emit("axis_positions", positions, (places,))


def _rows(layer: FileLayer, data: BuiltTensor, places: BuiltTensor) -> BuiltTensor:
    """The rows, in the merged first two axes, at some places."""
    count = math.prod(data.shape[:2])
    merged = layer.reshaped(data, (count, *data.shape[2:]))
    taken = layer.emit("take", TakeAttrs(0), (merged, layer.reshaped(places, (count,))))
    return layer.reshaped(taken, data.shape)


def _matrix_diag(layer: FileLayer) -> BuiltTensor:
    """Each row as the diagonal of a matrix of zeros."""
    data, output = layer.data(0), layer.output()
    _no_bool(layer, data)
    *outer, size = data.shape
    # A row of n + 1 elements for each of n: cut to n * n, element i is at i * n + i.
    column = layer.reshaped(data, (math.prod(outer), size, 1))
    wide = padded(layer, column, ((0, 0), (0, 0), (0, size)))
    flat = layer.reshaped(wide, (math.prod(outer), size * (size + 1)))
    kept = StridedSliceAttrs((0, 0), (1, 1), (math.prod(outer), size * size))
    rows = layer.emit("strided_slice", kept, (flat,))
    return layer.emit("reshape", ReshapeAttrs((*outer, size, size)), (rows,), output)


def _no_bool(layer: FileLayer, data: BuiltTensor) -> None:
    """Raise UnsupportedError for bool, which LiteRT moves as four bytes, beyond its tensors."""
    if data.dtype is DType.BOOL:
        raise layer.unsupported("is of bool, which LiteRT mixes up", supported="numbers")


def padded(
    layer: FileLayer, data: BuiltTensor, pads: tuple[tuple[int, int], ...], value: float = 0
) -> BuiltTensor:
    """The data with stored values around it."""
    return layer.emit("nn.pad", PadAttrs(pads, value), (data,))


def _matrix_set_diag(layer: FileLayer) -> BuiltTensor:
    """A choice between the matrices and their new diagonals."""
    data, diagonal = layer.data(0), layer.data(1)
    _no_bool(layer, data)
    *outer, rows, columns = data.shape if len(data.shape) > 1 else (0, 0)
    if diagonal.shape != (*outer, min(rows, columns)) or not rows:
        raise layer.invalid(f"has the diagonal {diagonal.type} for {data.type}")
    budget.spend(elementwise(None, (), (ArrayType((rows, columns), DType.INT8),)), layer.where)
    mask = layer.constant(np.eye(rows, columns, dtype=np.bool_), "mask")
    # Row i and column i have the same element, so the diagonal is a row or a column.
    spread = (*outer, 1, columns) if columns <= rows else (*outer, rows, 1)
    operands = (mask, layer.reshaped(diagonal, spread), data)
    return layer.emit("where", WhereAttrs(), operands, layer.output())


def _dilate(layer: FileLayer) -> BuiltTensor:
    """A value between all elements of each axis."""
    data, factors, filler = layer.data(0), integers(layer, 1), layer.data(2)
    if len(factors) != len(data.shape) or min(factors, default=0) < 1:
        raise layer.invalid(f"dilates {data.type} by {cut(factors)}; one positive number each")
    if filler.value is None or filler.type.size != 1 or filler.dtype is not data.dtype:
        raise layer.unsupported(
            f"fills with {filler.type}", supported="one constant of the data's dtype"
        )
    value, output = filler.value.item(), layer.output()
    for axis, factor in enumerate(factors):
        data = spread(layer, data, axis, factor, value)
    return layer.emit("reshape", ReshapeAttrs(data.shape), (data,), output)


def spread(
    layer: FileLayer, data: BuiltTensor, axis: int, factor: int, value: float
) -> BuiltTensor:
    """The data with ``factor`` - 1 values between the elements of an axis."""
    size, shape = data.shape[axis], data.shape
    if factor == 1 or size == 1:
        return data
    outer, inner = math.prod(shape[:axis]), math.prod(shape[axis + 1 :])
    apart = layer.reshaped(data, (outer, size, 1, inner))
    wide = padded(layer, apart, ((0, 0), (0, 0), (0, factor - 1), (0, 0)), value)
    flat: Shape = (outer, size * factor, inner)
    kept = StridedSliceAttrs((0, 0, 0), (1, 1, 1), (outer, (size - 1) * factor + 1, inner))
    cut_off = layer.emit("strided_slice", kept, (layer.reshaped(wide, flat),))
    return layer.reshaped(cut_off, (*shape[:axis], (size - 1) * factor + 1, *shape[axis + 1 :]))


IMPORTERS = {
    "BUCKETIZE": Importer(_bucketize, (1,), BucketizeOptions),
    "DILATE": Importer(_dilate, (3,)),
    "MATRIX_DIAG": Importer(_matrix_diag, (1,), optional=MatrixDiagOptions),
    "MATRIX_SET_DIAG": Importer(_matrix_set_diag, (2,), optional=MatrixSetDiagOptions),
    "ONE_HOT": Importer(_one_hot, (4,), optional=OneHotOptions),
    "REVERSE_SEQUENCE": Importer(_reverse_sequence, (2,), ReverseSequenceOptions),
    "TOPK_V2": Importer(_topk, optional=TopKV2Options),
}
