"""Pooling and resizing."""

from __future__ import annotations

import numpy as np
from tflite.GatherOptions import GatherOptions
from tflite.Pool2DOptions import Pool2DOptions
from tflite.ResizeBilinearOptions import ResizeBilinearOptions
from tflite.ResizeNearestNeighborOptions import ResizeNearestNeighborOptions

from microgen.frontends.tflite.importers.arguments import (
    Importer,
    cut,
    integers,
    resolved_axis,
    strides,
)
from microgen.frontends.tflite.layers import FileLayer
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import Array, ArrayType, DType
from microgen.graph.ops import budget
from microgen.graph.ops.base import Pair
from microgen.graph.ops.cost import elementwise
from microgen.graph.ops.detection.resize2d import Resize2DAttrs
from microgen.graph.ops.elementwise.product import MultiplyAttrs
from microgen.graph.ops.moves.indexed import TakeAttrs
from microgen.graph.ops.moves.views import ReshapeAttrs
from microgen.graph.ops.pooling.pooling import AvgPool2DAttrs, MaxPool2DAttrs
from microgen.graph.ops.unary.activations import ClipAttrs
from microgen.graph.ops.unary.roots import SqrtAttrs


def _average_pool2d(layer: FileLayer) -> BuiltTensor:
    pool_size, strides = _pool(layer)
    window = (pool_size, strides, layer.padding(), layer.activation())
    attrs = AvgPool2DAttrs(*window, ties_upward=layer.is_unsigned(0))
    return layer.emit("nn.avg_pool2d", attrs, (layer.data(0),), layer.output())


def _max_pool2d(layer: FileLayer) -> BuiltTensor:
    pool_size, strides = _pool(layer)
    attrs = MaxPool2DAttrs(pool_size, strides, layer.padding(), layer.activation())
    return layer.emit("nn.max_pool2d", attrs, (layer.data(0),), layer.output())


def _l2_pool2d(layer: FileLayer) -> BuiltTensor:
    """The root of the mean of squares."""
    # Source: TFLite reference/pooling.h, L2Pool. The mean is of the elements inside the image, as
    # in AVERAGE_POOL_2D, and the activation applies to the root.
    pool_size, strides = _pool(layer)
    data, output, activation = layer.data(0), layer.output(), layer.activation()
    layer.expect(data, DType.FLOAT32)
    attrs = AvgPool2DAttrs(pool_size, strides, layer.padding(), Activation.NONE)
    squares = layer.emit(
        "multiply", MultiplyAttrs(Activation.NONE), (data, data), hint=f"{output.name}/squares"
    )
    means = layer.emit("nn.avg_pool2d", attrs, (squares,), hint=f"{output.name}/means")
    if activation is Activation.NONE:
        return layer.emit("sqrt", SqrtAttrs(), (means,), output)
    roots = layer.emit("sqrt", SqrtAttrs(), (means,), hint=f"{output.name}/roots")
    return layer.emit("clip", ClipAttrs(activation), (roots,), output)


def _pool(layer: FileLayer) -> tuple[Pair, Pair]:
    return layer.positive_pair("FilterHeight", "FilterWidth"), strides(layer)


_MOST_PIXELS = 2**16  # in a row or column, because tables of them are computed here


def _gather(layer: FileLayer) -> BuiltTensor:
    data = layer.data(0)
    axis = resolved_axis(layer, layer.option("Axis"), len(data.type.shape))
    indices = _indices(layer, data.type.shape[axis])
    stated, rank = layer.option("BatchDims"), len(indices.type.shape)
    batch_dims = stated + rank if stated < 0 else stated
    return layer.emit("take", TakeAttrs(axis, batch_dims), (data, indices), layer.output())


def _indices(layer: FileLayer, size: int) -> BuiltTensor:
    """Indices of an axis with ``size`` elements: computed, or int32 constants within the axis."""
    tensor = layer.plain(1)
    if tensor.value is None:
        if tensor.type.dtype not in (DType.INT32, DType.INT64):
            raise layer.unsupported(
                f"has computed indices {tensor.type}",
                supported="computed indices of int32 or int64",
            )
        return tensor
    indices = layer.integers(1)
    if not 0 <= indices.min() <= indices.max() < size:
        raise layer.invalid(
            f"has indices from {indices.min()} to {indices.max()}; 0 to {size - 1} are expected"
        )
    return _table(layer, indices, "indices")


def _table(layer: FileLayer, indices: Array, name: str) -> BuiltTensor:
    return layer.constant(indices.astype(np.int32), f"{layer.output().name}/{name}")


def _resize_bilinear(layer: FileLayer) -> BuiltTensor:
    data, size = _image(layer)
    is_aligned, is_centred = (layer.flag(name) for name in ("AlignCorners", "HalfPixelCenters"))
    attrs = Resize2DAttrs(size, is_aligned, is_centred, in_floats=layer.is_unsigned(0))
    return layer.emit("image.resize2d", attrs, (data,), layer.output())


def _resize_nearest(layer: FileLayer) -> BuiltTensor:
    data, size = _image(layer)
    is_aligned, is_centred = (layer.flag(name) for name in ("AlignCorners", "HalfPixelCenters"))
    shape, output = data.type.shape, layer.output()
    places = ArrayType((sum(size),), DType.FLOAT32)
    budget.spend(elementwise(None, (), (places,)), layer.where)
    tables = [
        (axis, _nearest(shape[axis], size[axis - 1], is_aligned, is_centred)) for axis in (1, 2)
    ]
    tables = [(k, table) for k, table in tables if not np.array_equal(table, np.arange(shape[k]))]
    # One ``take`` of rows and one of columns. The one that adds less comes first, because its
    # result is read again.
    tables.sort(key=lambda entry: len(entry[1]) / shape[entry[0]])
    if not tables:
        return layer.emit("reshape", ReshapeAttrs(shape), (data,), output)
    indices = [_table(layer, table, "rows" if k == 1 else "columns") for k, table in tables]
    for i, (axis, _) in enumerate(tables):
        result = output if i == len(tables) - 1 else None
        inputs = (data, indices[i])
        data = layer.emit("take", TakeAttrs(axis), inputs, result, hint=f"{output.name}/half")
    return data


def _image(layer: FileLayer) -> tuple[BuiltTensor, Pair]:
    """The image, and the height and width of the output."""
    data, size = layer.data(0), integers(layer, 1)
    layer.expect_rank(data, 4)
    if len(size) != 2 or min(size) < 1:
        raise layer.invalid(f"resizes to {cut(size)}; a height and a width are expected")
    if max(size) > _MOST_PIXELS:
        raise layer.unsupported(
            f"resizes to {list(size)}", supported=f"up to {_MOST_PIXELS} rows and columns"
        )
    return data, (size[0], size[1])


def _nearest(size: int, output_size: int, is_aligned: bool, is_centred: bool) -> Array:
    """The input's index for each index of the output."""
    # Source: TFLite reference/resize_nearest_neighbor.h, GetNearestNeighbor. It computes in
    # float32, whose rounding decides between two neighbours.
    if is_aligned and output_size > 1:
        scale = np.float32(size - 1) / np.float32(output_size - 1)
    else:
        scale = np.float32(size) / np.float32(output_size)
    offset = np.float32(0.5 if is_centred else 0)
    places = (np.arange(output_size).astype(np.float32) + offset) * scale
    nearest: Array = np.floor(places)
    if is_aligned:  # TfLiteRound: halves away from zero; no place is negative
        nearest += places - nearest >= 0.5
    return nearest.astype(np.int64).clip(max=size - 1)


IMPORTERS = {
    "AVERAGE_POOL_2D": Importer(_average_pool2d, (1,), Pool2DOptions),
    "L2_POOL_2D": Importer(_l2_pool2d, (1,), Pool2DOptions),
    "MAX_POOL_2D": Importer(_max_pool2d, (1,), Pool2DOptions),
    "GATHER": Importer(_gather, (2,), GatherOptions),
    "RESIZE_BILINEAR": Importer(_resize_bilinear, (2,), ResizeBilinearOptions),
    "RESIZE_NEAREST_NEIGHBOR": Importer(_resize_nearest, (2,), ResizeNearestNeighborOptions),
}
