"""BATCH_MATMUL."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from tflite.BatchMatMulOptions import BatchMatMulOptions
from tflite.BuiltinOptions import BuiltinOptions

from microgen.base.errors import short
from microgen.frontends.tensors import Tensor
from microgen.frontends.tflite.importers.arguments import is_hybrid
from microgen.frontends.tflite.layers import Importer, Layer
from microgen.frontends.tflite.options import Options
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import Quant
from microgen.graph.ops.dense.batch_matmul import BatchMatmulAttrs
from microgen.graph.ops.dense.dense_hybrid import DenseHybridAttrs
from microgen.graph.ops.moves.layouts import TransposeAttrs

_BY_CHANNEL = {  # measured with ai-edge-litert 2.3.0; micro/micro_allocator.cc
    "litert": "LiteRT reads 0 as its scale, so that all products are 0",
    "tflm": "TensorFlow Lite Micro reads the first scale for all channels",
}


def _batch_matmul(layer: Layer) -> Tensor:
    layer.expect_inputs(2)
    options = layer.options(BatchMatMulOptions, BuiltinOptions.BatchMatMulOptions, required=False)
    lhs = layer.data(0)
    if is_hybrid(lhs, layer.plain(1)):
        return _hybrid(layer, lhs, options)
    _refuse_channels(layer)
    rhs = layer.data(1)
    # The third option is for hybrid products.
    attrs = BatchMatmulAttrs(bool(options.number("AdjX")), bool(options.number("AdjY")))
    return layer.emit("nn.batch_matmul", attrs, (lhs, rhs), layer.output())


def _refuse_channels(layer: Layer) -> None:
    rhs = layer.plain(1)
    if rhs.type.quant is not None and not rhs.type.quant.is_per_tensor:
        raise layer.unsupported(
            f'multiplies by "{short(rhs.name)}", which has a scale per channel; '
            f"{_BY_CHANNEL[layer.numerics.name]}",
            supported="a scale per channel for float32 times int8",
        )


def _hybrid(layer: Layer, lhs: Tensor, options: Options) -> Tensor:
    """float32 times int8. Each row of float32 is quantized and multiplied by the columns, as in a
    hybrid FULLY_CONNECTED, so it is one."""
    rhs = layer.weights(1, rank=len(layer.plain(1).shape))
    if math.prod((*lhs.shape[:-2], *rhs.shape[:-2])) != 1:
        raise layer.unsupported(
            f"is a hybrid product of several matrices, {lhs.type} times {rhs.type}, in which "
            "LiteRT mixes up the scales",
            supported="one matrix of float32 times one of int8",
        )
    value, quant = rhs.value, rhs.type.quant
    assert value is not None, "Layer.weights gives constants"
    assert quant is not None, "int8 weights have a scale"
    matrix = value.reshape(rhs.shape[-2:])
    columns = -2 if options.number("AdjY") else -1
    if quant.axis not in (None, len(rhs.shape) + columns):
        raise layer.invalid(
            f'has "{short(rhs.name)}" with a scale for each index of axis {quant.axis}; '
            f"one for each column, axis {len(rhs.shape) + columns}, is expected"
        )
    weights = np.ascontiguousarray(matrix if columns == -2 else matrix.T)
    axis = None if quant.is_per_tensor else 0
    weight = layer.constant(
        weights, f"{layer.name}/columns", Quant(quant.scale, quant.zero_point, axis)
    )
    data = _rows(layer, lhs) if options.number("AdjX") else lhs
    asymmetric = bool(options.number("AsymmetricQuantizeInputs"))
    attrs = DenseHybridAttrs(Activation.NONE, asymmetric, keep_num_dims=True)
    return layer.emit("nn.dense_hybrid", attrs, (data, weight), layer.output())


def _rows(layer: Layer, lhs: Tensor) -> Tensor:
    """The left operand with its last two dimensions swapped."""
    *batches, rows, depth = range(len(lhs.shape))
    return layer.emit("transpose", TransposeAttrs((*batches, depth, rows)), (lhs,))


IMPORTERS: Mapping[str, Importer] = {
    "BATCH_MATMUL": _batch_matmul,
}
