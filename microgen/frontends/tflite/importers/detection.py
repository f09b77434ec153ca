"""TFLite_Detection_PostProcess: boxes of a detector, without boxes that overlap better ones."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from microgen.frontends.tflite import reader
from microgen.frontends.tflite.importers.arguments import Importer
from microgen.frontends.tflite.layers import FileLayer
from microgen.frontends.tflite.quantization import DETECTION
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import Array, DType
from microgen.graph.ops import budget
from microgen.graph.ops.base import Shape
from microgen.graph.ops.detection.suppression import (
    MulticlassSuppressionAttrs,
    NonMaxSuppressionAttrs,
)
from microgen.graph.ops.division.divide import DivideAttrs
from microgen.graph.ops.elementwise.addition import AddAttrs, SubtractAttrs
from microgen.graph.ops.elementwise.product import MultiplyAttrs
from microgen.graph.ops.moves.layouts import ConcatenateAttrs
from microgen.graph.ops.moves.slices import StridedSliceAttrs
from microgen.graph.ops.moves.views import ReshapeAttrs
from microgen.graph.ops.quantization.conversions import DequantizeAttrs
from microgen.graph.ops.reductions.extremes import ArgMaxAttrs, MaxAttrs
from microgen.graph.ops.unary.functions import ExpAttrs

_NONE = Activation.NONE
_MOST = 2**15  # rows
_PER_CLASS = 100  # TFLite's default
_INTEGERS = ("max_detections", "max_classes_per_detection", "num_classes")
_REALS = (
    *("nms_score_threshold", "nms_iou_threshold"),
    *("y_scale", "x_scale", "h_scale", "w_scale"),
)


@dataclass(frozen=True, slots=True)
class _Options:
    most: int
    each: int
    per_class: int  # 0 unless boxes are chosen for each class
    classes: int
    least_score: float
    overlap: float
    scales: tuple[float, ...]


def _detection_postprocess(layer: FileLayer) -> tuple[BuiltTensor, ...]:
    # Source: TFLite detection_postprocess.cc. Boxes are relative to anchors: the centre in units of
    # the anchor, and the logarithm of the size.
    layer.expect_inputs(3, outputs=4)
    options = _options(layer)
    encoded, scores, anchors = (_real(layer, i, rank) for i, rank in enumerate((3, 3, 2)))
    # The file's dtypes, because uint8 is int8 in the graph.
    if layer.record(0).dtype != layer.record(2).dtype:
        raise layer.invalid(
            f"has {layer.record(0).dtype} boxes and {layer.record(2).dtype} anchors; one dtype is "
            "expected"
        )
    count = encoded.shape[1]
    if encoded.shape[0] != 1 or encoded.shape[2] < 4 or anchors.shape != (count, 4):
        raise layer.invalid(
            f"has boxes of {encoded.type} and anchors of {anchors.type}; [1, n, 4] and [n, 4] are "
            "expected"
        )
    # The background is the first class, and no box may have it.
    if scores.shape[:2] != (1, count) or scores.shape[2] - options.classes not in (0, 1):
        raise layer.invalid(
            f"has scores of {scores.type} for {count} boxes and {options.classes} classes; one "
            "for each, and perhaps one for the background, are expected"
        )
    boxes = _decoded(layer, options, encoded, anchors)
    known = _sliced(layer, scores, scores.shape[2] - options.classes, options.classes)
    return _columns(layer, _chosen(layer, options, boxes, known))


def _chosen(
    layer: FileLayer, options: _Options, boxes: BuiltTensor, scores: BuiltTensor
) -> BuiltTensor:
    """A row for each box that is chosen, or for each of its classes."""
    limits = (options.least_score, options.overlap)
    if options.per_class or options.each > 1:
        several = MulticlassSuppressionAttrs(options.most, options.each, options.per_class, *limits)
        flat = layer.emit("reshape", ReshapeAttrs(scores.shape[1:]), (scores,))
        return layer.emit("vision.multiclass_suppression", several, (boxes, flat), hint="rows")
    attrs = NonMaxSuppressionAttrs(options.most, *limits)
    best, classes = _best(layer, scores)
    return layer.emit("vision.non_max_suppression", attrs, (boxes, best, classes), hint="rows")


def _options(layer: FileLayer) -> _Options:
    """The options, a map of a flexbuffer."""
    try:
        options = reader.flexbuffer(layer.custom_options())
        most, each, classes = (int(options[name].AsInt) for name in _INTEGERS)
        least, overlap, *scales = (_float32(options[name].AsFloat) for name in _REALS)
        is_regular = bool(reader.optional(options, "use_regular_nms", "AsBool", 0))
        per_class = int(reader.optional(options, "detections_per_class", "AsInt", _PER_CLASS))
    except reader.CORRUPT as error:
        raise layer.invalid(f"has custom options that cannot be read ({error})") from None
    # Rows decide the size of the outputs, and the file may state any number.
    if min(most, each) < 1 or most * each > _MOST or not all(0 < x < math.inf for x in scales):
        raise layer.invalid(
            f"has max_detections {most}, max_classes_per_detection {each} and scales {scales}; 1 "
            f"to {_MOST} rows, and positive, finite scales, are expected"
        )
    if is_regular and not 1 <= per_class < 2**31:
        raise layer.invalid(f"has detections_per_class {per_class}; 1 or more is expected")
    return _Options(most, each, per_class * is_regular, classes, least, overlap, tuple(scales))


def _float32(value: float) -> float:
    # A number beyond float32 becomes infinity, which the check of the scales refuses.
    with np.errstate(over="ignore"):
        return float(np.float32(value))


def _real(layer: FileLayer, position: int, rank: int) -> BuiltTensor:
    """An input as float32."""
    data = layer.data(position)
    layer.expect_rank(data, rank)
    if layer.record(position).dtype not in ("float32", "uint8"):
        raise layer.unsupported(
            f"reads {data.type}, which LiteRT refuses", supported="float32 and uint8"
        )
    if data.dtype is DType.FLOAT32:
        return data
    attrs = DequantizeAttrs()
    return layer.emit("qnn.dequantize", attrs, (data,), dtype=DType.FLOAT32, quant=None)


def _decoded(
    layer: FileLayer, options: _Options, encoded: BuiltTensor, anchors: BuiltTensor
) -> BuiltTensor:
    """The corners of the boxes [n, 4]."""
    if anchors.value is None:
        raise layer.unsupported("has anchors that are computed", supported="constant anchors")
    budget.spend_array(4 * anchors.type.nbytes, layer.where)
    # LiteRT decodes boxes in double, so everything that depends on constants alone is computed in
    # double, too, and rounded to float32 once.
    known = anchors.value.astype(np.float64)
    scales = np.array(options.scales)
    unit = _constant(layer, known[:, 2:] / scales[:2], "unit")
    centre = _multiplied(layer, _sliced(layer, encoded, 0, 2), unit)
    centre = layer.emit("add", AddAttrs(_NONE), (centre, _constant(layer, known[:, :2], "centre")))
    size = _constant(layer, scales[2:], "size")
    log = layer.emit(
        "divide", DivideAttrs(_NONE, shifts_wrap=False), (_sliced(layer, encoded, 2, 2), size)
    )
    half = layer.emit("exp", ExpAttrs(), (log,))
    half = _multiplied(layer, half, _constant(layer, known[:, 2:] / 2, "half"))
    low = layer.emit("subtract", SubtractAttrs(_NONE), (centre, half))
    high = layer.emit("add", AddAttrs(_NONE), (centre, half))
    corners = layer.emit("concatenate", ConcatenateAttrs(2), (low, high))
    return layer.emit("reshape", ReshapeAttrs(anchors.shape), (corners,))


def _best(layer: FileLayer, scores: BuiltTensor) -> tuple[BuiltTensor, BuiltTensor]:
    """The best score of each box [n], and its class [n]."""
    flat = ReshapeAttrs(scores.shape[1:2])
    best = layer.emit("max", MaxAttrs((2,), False), (scores,))
    classes = layer.emit("argmax", ArgMaxAttrs(2), (scores,), dtype=DType.INT32)
    return layer.emit("reshape", flat, (best,)), layer.emit("reshape", flat, (classes,))


def _columns(layer: FileLayer, rows: BuiltTensor) -> tuple[BuiltTensor, ...]:
    """The four outputs: the boxes, their classes, their scores, and their number."""
    most = rows.shape[0]
    shapes = ((1, most, 4), (1, most), (1, most), (1,))
    outputs = layer.outputs()
    places = ((0, most, 4), (4, most, 1), (5, most, 1), (6, 1, 1))  # column, rows, columns
    return tuple(
        _cut(layer, rows, place, shape, output)
        for place, shape, output in zip(places, shapes, outputs, strict=True)
    )


def _cut(
    layer: FileLayer,
    rows: BuiltTensor,
    place: tuple[int, int, int],
    shape: Shape,
    output: BuiltTensor,
) -> BuiltTensor:
    column, height, width = place
    attrs = StridedSliceAttrs((0, column), (1, 1), (height, width))
    part = layer.emit("strided_slice", attrs, (rows,))
    return layer.emit("reshape", ReshapeAttrs(shape), (part,), output)


def _sliced(layer: FileLayer, data: BuiltTensor, first: int, width: int) -> BuiltTensor:
    if (first, width) == (0, data.shape[-1]):
        return data
    attrs = StridedSliceAttrs((0, 0, first), (1, 1, 1), (*data.shape[:-1], width))
    return layer.emit("strided_slice", attrs, (data,))


def _multiplied(layer: FileLayer, data: BuiltTensor, factor: BuiltTensor) -> BuiltTensor:
    return layer.emit("multiply", MultiplyAttrs(_NONE), (data, factor))


def _constant(layer: FileLayer, values: Array, hint: str) -> BuiltTensor:
    return layer.constant(values.astype(np.float32), f"{layer.name}/{hint}")


IMPORTERS = {DETECTION: Importer(_detection_postprocess)}
