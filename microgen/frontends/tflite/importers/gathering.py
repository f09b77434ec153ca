"""EMBEDDING_LOOKUP and GATHER_ND, which select parts of a tensor by indices."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from tflite.BuiltinOptions import BuiltinOptions
from tflite.GatherNdOptions import GatherNdOptions

from microgen.arithmetic.terms import Activation
from microgen.frontends.tensors import Tensor
from microgen.frontends.tflite.importers.arguments import cut
from microgen.frontends.tflite.layers import Importer, Layer
from microgen.ir.graph import Array, DType
from microgen.ops.base import Shape
from microgen.ops.dequantize import DequantizeAttrs
from microgen.ops.multiply import MultiplyAttrs
from microgen.ops.reshape import ReshapeAttrs
from microgen.ops.sum import SumAttrs
from microgen.ops.take import TakeAttrs


def _embedding_lookup(layer: Layer) -> Tensor:
    """Rows of a table. Rows of int8 become float32 if the output is."""
    layer.expect_inputs(2)
    ids, rows, output = layer.plain(0), layer.data(1), layer.output()
    layer.expect(ids, DType.INT32)
    layer.expect_rank(ids, 1)
    if rows.dtype is not DType.INT8 or output.dtype is not DType.FLOAT32:
        return layer.emit("take", TakeAttrs(0), (rows, ids), output)
    found = layer.emit("take", TakeAttrs(0), (rows, ids), hint=f"{output.name}/rows")
    return layer.emit("qnn.dequantize", DequantizeAttrs(), (found,), output)


def _gather_nd(layer: Layer) -> Tensor:
    """A ``take`` from the data whose first axes are merged into one."""
    layer.expect_inputs(2)
    layer.options(GatherNdOptions, BuiltinOptions.GatherNdOptions, required=False)
    data, indices, output = layer.data(0), layer.plain(1), layer.output()
    depth = indices.shape[-1] if indices.shape else 0
    if not 1 <= depth <= len(data.shape):
        raise layer.invalid(
            f"has indices {indices.type} of {data.type}; their last axis must have 1 to "
            f"{len(data.shape)} elements, one for each axis"
        )
    axes, rest = data.shape[:depth], data.shape[depth:]
    if indices.value is not None:
        places = _constant_places(layer, axes)
    else:
        places = _computed_places(layer, indices, axes)
    flat = layer.emit(
        "reshape", ReshapeAttrs((math.prod(axes), *rest)), (data,), hint=f"{output.name}/flat"
    )
    return layer.emit("take", TakeAttrs(0), (flat, places), output)


def _constant_places(layer: Layer, axes: Shape) -> Tensor:
    """Constant indices as int32 positions along the merged axis."""
    indices = layer.integers(1)
    limits = np.array(axes)
    if (indices < 0).any() or (indices >= limits).any():
        rows = indices.reshape(-1, len(axes))
        least, most = (tuple(found.tolist()) for found in (rows.min(0), rows.max(0)))
        raise layer.invalid(
            f"has indices from {cut(least)} to {cut(most)}; {cut((0,) * len(axes))} to "
            f"{cut(tuple(size - 1 for size in axes))} are expected"
        )
    return layer.constant((indices @ _steps(axes)).astype(np.int32), "places")


def _computed_places(layer: Layer, indices: Tensor, axes: Shape) -> Tensor:
    """The same for computed indices. As in LiteRT, only the position is checked on the board, not
    the index of each axis."""
    layer.expect(indices, DType.INT32)
    shape, name = indices.shape, f"{layer.output().name}/places"
    if len(axes) == 1:
        return layer.emit("reshape", ReshapeAttrs(shape[:-1]), (indices,), hint=name)
    steps = layer.constant(_steps(axes).astype(np.int32), "steps")
    scaled = layer.emit("multiply", MultiplyAttrs(Activation.NONE), (indices, steps), hint=name)
    return layer.emit("sum", SumAttrs((len(shape) - 1,), keep_dims=False), (scaled,), hint=name)


def _steps(axes: Shape) -> Array:
    """For each axis, the number of positions from one index to the next."""
    return np.array([math.prod(axes[k + 1 :]) for k in range(len(axes))])


IMPORTERS: Mapping[str, Importer] = {
    "EMBEDDING_LOOKUP": _embedding_lookup,
    "GATHER_ND": _gather_nd,
}
