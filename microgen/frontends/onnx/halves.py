"""Numbers of 16 bits, float16 and bfloat16: the graph has them as float32.

Constants of 16 bits have exactly the same values in float32. Tensors that a model computes in 16
bits are computed in float32, without the roundings to 16 bits. All importers see float32
(``types.dtype``); here are the note about it, and the same model in float32 for other readers.
"""

from __future__ import annotations

from collections.abc import Iterator

from onnx import AttributeProto, ModelProto, NodeProto, TensorProto, TypeProto, numpy_helper

from microgen.base.errors import few, short
from microgen.frontends.onnx import types

_CODES = (  # attributes whose values are element types
    *("dtype", "output_datatype", "output_dtype", "precision", "softmax_precision"),
    *("stash_type", "to"),
)


def notes(model: ModelProto) -> Iterator[str]:
    """A sentence if the model computes in 16 bits; nothing if it only stores constants that way."""
    halves = {each.name for each in model.graph.initializer if types.is_half(each.data_type)}
    nodes = [each for each in types.messages(model) if isinstance(each, NodeProto)]
    if not any(_computes(node, halves) for node in nodes):
        return
    ports = [
        f'"{short(info.name)}"'
        for info in (*model.graph.input, *model.graph.output)
        if types.is_half(info.type.tensor_type.elem_type) and info.name not in halves
    ]
    firmware = f"; in the firmware, {few(ports)} {_are(ports)} float32" if ports else ""
    yield f"layers of 16-bit floats are computed in float32, without rounding to 16 bits{firmware}"


def _are(names: list[str]) -> str:
    return "are" if len(names) > 1 else "is"


def _computes(node: NodeProto, halves: set[str]) -> bool:
    """Whether a node makes numbers of 16 bits, or computes with constants of 16 bits. A Cast of
    such a constant does not round."""
    is_cast = node.op_type in ("Cast", "CastLike", "Identity")
    reads = not is_cast and any(name in halves for name in node.input)
    return reads or any(map(_is_code, node.attribute))


def _is_code(attribute: AttributeProto) -> bool:
    return attribute.name in _CODES and types.is_half(attribute.i)


def widened(model: ModelProto) -> ModelProto:
    """The model with float32 in place of 16-bit floats; the same object if it has none."""
    if not any(_is_half(each) for each in types.messages(model)):
        return model
    wide = ModelProto()
    wide.CopyFrom(model)
    for message in types.messages(wide):
        if not _is_half(message):
            continue
        if isinstance(message, TensorProto):
            values = numpy_helper.to_array(message).astype("float32")
            message.CopyFrom(numpy_helper.from_array(values, message.name))
        elif isinstance(message, AttributeProto):
            message.i = TensorProto.FLOAT
        elif isinstance(message, TypeProto.Tensor):
            message.elem_type = TensorProto.FLOAT
    return wide


def _is_half(message: object) -> bool:
    if isinstance(message, TensorProto):
        return types.is_half(message.data_type)
    if isinstance(message, AttributeProto):
        return _is_code(message)
    return isinstance(message, TypeProto.Tensor) and types.is_half(message.elem_type)
