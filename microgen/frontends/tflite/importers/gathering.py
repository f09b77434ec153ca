"""EMBEDDING_LOOKUP and GATHER_ND, which select parts of a tensor by indices."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from tflite.BuiltinOptions import BuiltinOptions
from tflite.GatherNdOptions import GatherNdOptions

from microgen.frontends.tensors import Tensor
from microgen.frontends.tflite.importers.arguments import cut
from microgen.frontends.tflite.layers import Importer, Layer
from microgen.graph.ir.graph import DType
from microgen.graph.ops.base import Shape
from microgen.graph.ops.moves.indexed import GatherNdAttrs, TakeAttrs
from microgen.graph.ops.moves.views import ReshapeAttrs
from microgen.graph.ops.quantization.conversions import DequantizeAttrs


def _embedding_lookup(layer: Layer) -> Tensor:
    """Rows of a table. Rows of int8 become float32 if the output is."""
    layer.expect_inputs(2)
    ids, rows, output = layer.plain(0), layer.data(1), layer.output()
    layer.expect(ids, DType.INT32)
    layer.expect_rank(ids, 1)
    if rows.dtype is not DType.INT8 or output.dtype is not DType.FLOAT32:
        return layer.emit("take", TakeAttrs(0), (rows, ids), output)
    if rows.type.zero_point:
        raise layer.unsupported(
            f"has rows with the zero point {rows.type.zero_point}, which LiteRT refuses, too",
            supported="rows with the zero point 0",
        )
    found = layer.emit("take", TakeAttrs(0), (rows, ids), hint=f"{output.name}/rows")
    return layer.emit("qnn.dequantize", DequantizeAttrs(), (found,), output)


def _gather_nd(layer: Layer) -> Tensor:
    """A ``take`` from the data whose first axes are merged into one, if the indices are constants
    or of one axis."""
    layer.expect_inputs(2)
    layer.options(GatherNdOptions, BuiltinOptions.GatherNdOptions, required=False)
    data, indices, output = layer.data(0), layer.plain(1), layer.output()
    depth = indices.shape[-1] if indices.shape else 0
    if not 1 <= depth <= len(data.shape):
        raise layer.invalid(
            f"has indices {indices.type} of {data.type}; their last axis must have 1 to "
            f"{len(data.shape)} numbers, one for each axis"
        )
    if indices.value is not None:
        places = _constant_places(layer, data.shape[:depth])
    elif depth == 1:
        layer.expect(indices, DType.INT32, DType.INT64)
        flat = ReshapeAttrs(indices.shape[:-1])
        places = layer.emit("reshape", flat, (indices,), hint=f"{output.name}/places")
    else:
        return layer.emit("gather_nd", GatherNdAttrs(), (data, indices), output)
    merged = ReshapeAttrs((math.prod(data.shape[:depth]), *data.shape[depth:]))
    rows = layer.emit("reshape", merged, (data,), hint=f"{output.name}/merged")
    return layer.emit("take", TakeAttrs(0), (rows, places), output)


def _constant_places(layer: Layer, axes: Shape) -> Tensor:
    """Constant indices as int32 positions along the merged axis."""
    indices = layer.integers(1)
    if (indices < 0).any() or (indices >= np.array(axes)).any():
        rows = indices.reshape(-1, len(axes))
        least, most = (tuple(found.tolist()) for found in (rows.min(0), rows.max(0)))
        raise layer.invalid(
            f"has indices from {cut(least)} to {cut(most)}; {cut((0,) * len(axes))} to "
            f"{cut(tuple(size - 1 for size in axes))} are expected"
        )
    places = indices @ np.array([math.prod(axes[k + 1 :]) for k in range(len(axes))])
    return layer.constant(places.astype(np.int32), f"{layer.output().name}/places")


IMPORTERS: Mapping[str, Importer] = {
    "EMBEDDING_LOOKUP": _embedding_lookup,
    "GATHER_ND": _gather_nd,
}
