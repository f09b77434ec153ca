"""DynamicQuantizeLSTM of ONNX Runtime's quantizer: an LSTM whose weights are stored in 8 bits.

Source: docs/ContribOperators.md of ONNX Runtime.
"""

from __future__ import annotations

import numpy as np
from onnx import helper

from microgen.frontends.onnx.importers.quantization import Group
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.graph.builder import Value
from microgen.graph.ir.graph import Array

_OPERANDS = 8  # of LSTM; scales and zero points follow
_SCALES = {1: 8, 2: 10}  # of W and R; the zero points follow


def float_weight(values: Array, scale: Array, zero: Array) -> Array:
    """The float32 weights [directions, 4 * cells, size] of stored weights [directions, size, 4 *
    cells]. Scales and zero points are [directions] or [directions, 4 * cells].

    ValueError if the shapes do not fit.
    """
    along = [each.reshape(len(each), 1, -1) for each in (scale, zero)]
    floats = (values.astype(np.float32) - along[1].astype(np.float32)) * along[0]
    if floats.shape != values.shape:
        raise ValueError(f"scales {list(scale.shape)} do not fit weights {list(values.shape)}")
    return np.ascontiguousarray(floats.transpose(0, 2, 1).astype(np.float32))


def _lstm(node: OnnxNode) -> Value:
    """The LSTM with float32 weights. Its data and states are not rounded to 8 bits."""
    group = Group(node, opset=14)
    inputs = [group.operand_name(i) for i in range(_OPERANDS)]
    weights = {i: group.constant(_weight(node, i), f"weight{i}") for i in _SCALES}
    names = [weights.get(i, name) for i, name in enumerate(inputs)]
    outputs = ["result", "last", "cells"]
    lstm = helper.make_node("LSTM", names, outputs)
    lstm.attribute.extend(node.attributes())
    group.nodes.append(lstm)
    node.note(
        "its 8-bit weights are float32 in flash, and its data is not rounded to 8 bits, as ONNX "
        "Runtime rounds it"
    )
    return group.value(*outputs[1:])


def _weight(node: OnnxNode, position: int) -> Array:
    scales = _SCALES[position]
    parts = [
        node.constant_of(i, what)
        for i, what in ((position, "weights"), (scales, "scales"), (scales + 1, "zero points"))
    ]
    if parts[0].ndim != 3 or any(not each.ndim for each in parts):
        raise node.invalid(f"has the weights {list(parts[0].shape)}; 3 axes are expected")
    try:
        return float_weight(*parts)
    except ValueError as error:
        raise node.invalid(f"has weights that cannot be read: {error}") from None


IMPORTERS = {"com.microsoft.DynamicQuantizeLSTM": _lstm}
