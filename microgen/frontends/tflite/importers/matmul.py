"""BATCH_MATMUL."""

from __future__ import annotations

from collections.abc import Mapping

from tflite.BatchMatMulOptions import BatchMatMulOptions
from tflite.BuiltinOptions import BuiltinOptions

from microgen.frontends.tflite.layers import Importer, Layer, Step
from microgen.ops.batch_matmul import BatchMatmulAttrs


def _batch_matmul(layer: Layer) -> tuple[Step, ...]:
    layer.expect_inputs(2)
    options = layer.options(BatchMatMulOptions, BuiltinOptions.BatchMatMulOptions, required=False)
    # The third option is for float operands that are quantized while the model runs.
    attrs = BatchMatmulAttrs(bool(options.number("AdjX")), bool(options.number("AdjY")))
    return (Step("nn.batch_matmul", attrs, (layer.data(0), layer.data(1)), layer.output()),)


IMPORTERS: Mapping[str, Importer] = {
    "BATCH_MATMUL": _batch_matmul,
}
