"""Elementwise operators of two inputs."""

from __future__ import annotations

from collections.abc import Mapping

from tflite.AddOptions import AddOptions
from tflite.BuiltinOptions import BuiltinOptions

from microgen.frontends.tflite.layers import Importer, Layer, Step
from microgen.ops.add import AddAttrs


def _add(layer: Layer) -> tuple[Step, ...]:
    layer.expect_inputs(2)
    options = layer.options(AddOptions, BuiltinOptions.AddOptions, required=False)
    attrs = AddAttrs(layer.activation(options))
    return (Step("add", attrs, (layer.data(0), layer.data(1)), layer.output()),)


IMPORTERS: Mapping[str, Importer] = {
    "ADD": _add,
}
