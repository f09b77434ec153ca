"""Products of uint8 by int8 as ONNX Runtime computes them exactly.

On processors with AVX2 and without VNNI, ONNX Runtime's kernels for uint8 data and int8 weights
saturate sums of two products at 16 bits. Its kernels for uint8 weights do not. So ONNX Runtime gets
int8 weights and their zero points as uint8, moved by 128, which keeps the products.

MatMulNBits has an attribute that lets ONNX Runtime round its data to 8 bits, or to float16. Without
it, the data is multiplied in float32, as the graph multiplies it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import onnx
from onnx import ModelProto, NodeProto, TensorProto, numpy_helper

_UINT8, _INT8 = TensorProto.UINT8, TensorProto.INT8
_MOVED = "#uint8"  # at the end of the names of weights that are moved

# Operator -> the positions of the data, the weights and the weights' zero point.
_OPERANDS: Mapping[str, tuple[int, int, int]] = {
    "ConvInteger": (0, 1, 3),
    "MatMulInteger": (0, 1, 3),
    "QGemm": (0, 3, 5),
    "QLinearConv": (0, 3, 5),
    "QLinearMatMul": (0, 3, 5),
}


def widened(model: ModelProto) -> ModelProto:
    """The model with uint8 weights where uint8 data is multiplied by constant int8 weights, and
    without permission to round other data."""
    wide = ModelProto()
    wide.CopyFrom(model)
    for node in wide.graph.node:
        if node.op_type == "MatMulNBits":
            kept = [each for each in node.attribute if each.name != "accuracy_level"]
            del node.attribute[:]
            node.attribute.extend(kept)
    if not any(node.op_type in _OPERANDS for node in wide.graph.node):
        return wide
    stored = {each.name: each for each in wide.graph.initializer}
    kinds = _kinds(wide) | {name: each.data_type for name, each in stored.items()}
    moved: dict[str, TensorProto] = {}
    for node in wide.graph.node:
        for position in _positions(node, kinds, stored):
            name = node.input[position]
            # Several layers may read one weight.
            moved.setdefault(name, _moved(stored[name]))
            node.input[position] = moved[name].name
    wide.graph.initializer.extend(moved.values())
    return wide


def _kinds(model: ModelProto) -> dict[str, int]:
    """The element types of the tensors for which the model determines them."""
    known = onnx.shape_inference.infer_shapes(model).graph
    infos = (*known.input, *known.value_info, *known.output)
    return {info.name: info.type.tensor_type.elem_type for info in infos}


def _positions(
    node: NodeProto, kinds: Mapping[str, int], stored: Mapping[str, TensorProto]
) -> Iterator[int]:
    """The inputs that have to be moved: constant int8 weights of uint8 data, and their zero
    point. Without a zero point the weights cannot be moved."""
    if node.op_type not in _OPERANDS:
        return
    data, *own = _OPERANDS[node.op_type]
    names = [node.input[i] if i < len(node.input) else "" for i in own]
    if kinds.get(node.input[data]) == _UINT8 and all(kinds.get(n) == _INT8 for n in names):
        yield from own if all(name in stored for name in names) else ()


def _moved(tensor: TensorProto) -> TensorProto:
    """The tensor as uint8, moved by 128."""
    # Flipping the highest bit adds 128 modulo 256.
    values = numpy_helper.to_array(tensor).view(np.uint8) ^ np.uint8(128)
    return numpy_helper.from_array(values, tensor.name + _MOVED)
