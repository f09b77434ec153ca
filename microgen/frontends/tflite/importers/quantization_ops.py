"""Operators that change how values are stored."""

from __future__ import annotations

from collections.abc import Mapping

from tflite.BuiltinOptions import BuiltinOptions
from tflite.L2NormOptions import L2NormOptions

from microgen.frontends.tflite.layers import Importer, Layer, Step
from microgen.ops.base import Activation
from microgen.ops.l2_normalize import L2NormalizeAttrs
from microgen.ops.requantize import RequantizeAttrs


def _l2_normalization(layer: Layer) -> tuple[Step, ...]:
    layer.expect_inputs(1)
    options = layer.options(L2NormOptions, BuiltinOptions.L2NormOptions, required=False)
    if layer.activation(options) is not Activation.NONE:
        raise layer.unsupported(
            "has a fused activation, which LiteRT refuses too", supported="no fused activation"
        )
    return (Step("nn.l2_normalize", L2NormalizeAttrs(), (layer.data(0),), layer.output()),)


def _quantize(layer: Layer) -> tuple[Step, ...]:
    layer.expect_inputs(1)
    return (Step("qnn.requantize", RequantizeAttrs(), (layer.data(0),), layer.output()),)


IMPORTERS: Mapping[str, Importer] = {
    "L2_NORMALIZATION": _l2_normalization,
    "QUANTIZE": _quantize,
}
