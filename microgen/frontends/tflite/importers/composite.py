"""What is left of STABLEHLO_COMPOSITE after its decomposition has taken its place."""

from __future__ import annotations

from collections.abc import Mapping

from microgen.frontends.tensors import Tensor
from microgen.frontends.tflite.layers import Importer, Layer
from microgen.frontends.tflite.records import COMPOSITE
from microgen.graph.ops.moves.views import ReinterpretAttrs


def _passed_on(layer: Layer) -> Tensor:
    """The same stored values under another name and type."""
    layer.expect_outputs(1, 1)
    output = layer.plain_output()
    return layer.emit("qnn.reinterpret", ReinterpretAttrs(output.shape), (layer.plain(0),), output)


IMPORTERS: Mapping[str, Importer] = {COMPOSITE: _passed_on}
