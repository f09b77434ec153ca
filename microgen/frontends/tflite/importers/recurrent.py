"""Operators that keep a state from one inference to the next."""

from __future__ import annotations

from collections.abc import Mapping

from tflite.BuiltinOptions import BuiltinOptions
from tflite.SVDFOptions import SVDFOptions

from microgen.frontends.tflite.layers import Importer, Layer, Step
from microgen.ops.svdf import SvdfAttrs


def _svdf(layer: Layer) -> tuple[Step, ...]:
    layer.expect_inputs(5)
    options = layer.options(SVDFOptions, BuiltinOptions.SVDFOptions)
    attrs = SvdfAttrs(int(options.number("Rank")), layer.activation(options))
    feature, time = layer.weights(1, 2), layer.weights(2, 2)
    state = layer.variable(4)
    output = layer.output()
    bias = layer.bias(3, output.type.shape[-1])
    return (Step("nn.svdf", attrs, (layer.data(0), feature, time, state, *bias), output),)


IMPORTERS: Mapping[str, Importer] = {"SVDF": _svdf}
