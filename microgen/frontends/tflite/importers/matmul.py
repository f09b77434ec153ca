"""BATCH_MATMUL."""

from __future__ import annotations

from collections.abc import Mapping

from tflite.BatchMatMulOptions import BatchMatMulOptions
from tflite.BuiltinOptions import BuiltinOptions

from microgen.frontends.tensors import Tensor
from microgen.frontends.tflite.importers.arguments import is_hybrid
from microgen.frontends.tflite.layers import Importer, Layer
from microgen.ops.batch_matmul import BatchMatmulAttrs


def _batch_matmul(layer: Layer) -> Tensor:
    layer.expect_inputs(2)
    options = layer.options(BatchMatMulOptions, BuiltinOptions.BatchMatMulOptions, required=False)
    lhs, rhs = layer.data(0), layer.data(1)
    if is_hybrid(lhs, rhs):
        raise layer.unsupported(
            "is a hybrid matrix product: float32 times int8",
            supported="operands of one dtype; hybrid CONV_2D, DEPTHWISE_CONV_2D and "
            "FULLY_CONNECTED",
        )
    # The third option is for hybrid products.
    attrs = BatchMatmulAttrs(bool(options.number("AdjX")), bool(options.number("AdjY")))
    return layer.emit("nn.batch_matmul", attrs, (lhs, rhs), layer.output())


IMPORTERS: Mapping[str, Importer] = {
    "BATCH_MATMUL": _batch_matmul,
}
