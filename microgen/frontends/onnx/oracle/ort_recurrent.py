"""DynamicQuantizeLSTM as the graph computes it: ONNX Runtime gets an LSTM with float32 weights.

ONNX Runtime rounds the data and the states of every step to 8 bits in such a layer, by a range that
it finds in them; the graph does not.
"""

from __future__ import annotations

from onnx import ModelProto, NodeProto, numpy_helper

from microgen.frontends.onnx.importers.quantized_recurrent import float_weight

_OPERANDS = 8  # of LSTM
_SCALES = {1: 8, 2: 10}  # of the weights
_FLOATS = "#floats"  # at the end of the names of weights


def with_floats(model: ModelProto) -> ModelProto:
    """The model with LSTM in place of DynamicQuantizeLSTM, if its weights are initialisers; the
    same object if there is none."""
    if not any(node.op_type == "DynamicQuantizeLSTM" for node in model.graph.node):
        return model
    made = ModelProto()
    made.CopyFrom(model)
    for node in made.graph.node:
        if node.op_type == "DynamicQuantizeLSTM":
            _replace(made, node)
    return made


def _replace(model: ModelProto, node: NodeProto) -> None:
    stored = {each.name: each for each in model.graph.initializer}
    for position, scale in _SCALES.items():
        names = [node.input[i] for i in (position, scale, scale + 1)]
        if not all(name in stored for name in names):
            return
        values = float_weight(*(numpy_helper.to_array(stored[name]) for name in names))
        name = f"{node.name or node.output[0]}#{position}{_FLOATS}"
        model.graph.initializer.append(numpy_helper.from_array(values, name))
        node.input[position] = name
    del node.input[_OPERANDS:]
    node.op_type, node.domain = "LSTM", ""
