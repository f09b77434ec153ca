"""The maps and texts that ONNX Runtime returns, as tensors of numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from onnx import ModelProto, NodeProto

from microgen.frontends.onnx.nodes import operator_name
from microgen.graph.ir.graph import Array

_MAPS = "ai.onnx.ml.ZipMap"


def without(model: ModelProto) -> ModelProto:
    """The model with the scores of its maps as outputs, instead of the maps."""
    made = {name for node in model.graph.node if _is_map(node) for name in node.output}
    if not made:
        return model
    plain = ModelProto()
    plain.CopyFrom(model)
    for node in plain.graph.node:
        if _is_map(node):
            del node.attribute[:]
            node.op_type, node.domain = "Identity", ""
    for info in plain.graph.output:
        if info.name in made:
            info.ClearField("type")
    if not any(each.domain in ("", "ai.onnx") for each in plain.opset_import):
        plain.opset_import.add(domain="", version=13)
    return plain


def _is_map(node: NodeProto) -> bool:
    return operator_name(node) == _MAPS


def indices(array: Array, texts: Sequence[str]) -> Array:
    """The index of each text, int64; an array of numbers unchanged. A text that is none of these
    becomes -1.
    """
    if array.dtype.kind not in "OUS":
        return array
    places = {text: k for k, text in enumerate(texts)}
    found = [places.get(str(each), -1) for each in array.ravel()]
    return np.array(found, np.int64).reshape(array.shape)
