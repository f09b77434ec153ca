"""ONNX's messages, and their element types and attribute values in the graph's terms."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from onnx import AttributeProto, TensorProto, TypeProto, helper, numpy_helper

from microgen.base.errors import ModelError, UnsupportedError
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import MAX_BYTES, Array, ArrayType, DType

# Element type -> dtype, in the order in which messages list them.
_DTYPES: dict[int, DType] = {
    helper.np_dtype_to_tensor_dtype(each.numpy): each
    for each in sorted(DType, key=lambda dtype: dtype is not DType.FLOAT32)
}

# The types of constants whose 4 bits are stored in 8.
_INT4: dict[int, DType] = {TensorProto.INT4: DType.INT8, TensorProto.UINT4: DType.UINT8}
# Numbers of 16 bits, which are computed in float32.
_HALVES = (TensorProto.FLOAT16, TensorProto.BFLOAT16)
_INSTEAD: dict[int, str] = {  # advice for models with such elements
    TensorProto.DOUBLE: "call network.float() before torch.onnx.export, or convert the model "
    "from float32 (skl2onnx: give to_onnx an example of float32)",
    TensorProto.STRING: "no kernel reads texts: turn them into numbers before the model",
}
_NAMES: dict[int, str] = {code: name for name, code in TensorProto.DataType.items()}
# onnx packs these elements, but numpy's dtypes for them have a byte for each.
_NARROW = {"INT4": 4, "UINT4": 4, "FLOAT4E2M1": 4, "INT2": 2, "UINT2": 2}
_BITS: dict[int, int] = {  # of an element, by its type; texts are missing
    code: _NARROW.get(name, 8 * helper.tensor_dtype_to_np_dtype(code).itemsize)
    for name, code in TensorProto.DataType.items()
    if name not in ("UNDEFINED", "STRING")
}


def messages(message: Message) -> Iterator[Message]:
    """A message of protobuf and all messages inside it."""
    yield message
    for field, value in listed(message):
        if field.message_type is not None:
            for each in (value,) if isinstance(value, Message) else value:
                yield from messages(each)


def listed(message: Message) -> list[tuple[FieldDescriptor, Any]]:
    """The fields of a message with their values, but without the bytes of a tensor, because reading
    them copies them. A tensor's fields include those that are not set."""
    if not isinstance(message, TensorProto):
        return list(message.ListFields())
    fields = (each for each in message.DESCRIPTOR.fields if each.type != each.TYPE_BYTES)
    return [(each, getattr(message, each.name)) for each in fields]


def is_int4(code: int) -> bool:
    """Whether an element has 4 bits."""
    return code in _INT4


def is_half(code: int) -> bool:
    """Whether an element is a floating-point number of 16 bits, which the graph has as float32."""
    return code in _HALVES


def element_name(code: int) -> str:
    """ONNX's name of an element type, in lower case."""
    return _NAMES.get(code, f"type {code}").lower()


def dtype(code: int, called: str, where: str) -> DType:
    """The graph's dtype for an element type; float32 for float16 and bfloat16. UnsupportedError if
    there is none.
    """
    if is_half(code):
        return DType.FLOAT32
    if code not in _DTYPES:
        known = f"supported: {', '.join(d.value for d in _DTYPES.values())}"
        hint = "; ".join(filter(None, (_INSTEAD.get(code), known)))
        raise UnsupportedError(f"{called} is of {element_name(code)}", where=where, hint=hint)
    return _DTYPES[code]


def code(dtype_: DType) -> int:
    """ONNX's element type for a dtype of the graph."""
    return int(helper.np_dtype_to_tensor_dtype(dtype_.numpy))


def proto(tensor: BuiltTensor | None) -> TypeProto:
    """The type of an operand as ONNX's message, which is empty if the operand is left out."""
    if tensor is None:
        return TypeProto()
    return helper.make_tensor_type_proto(code(tensor.dtype), tensor.shape)


def stored_bytes(proto: TensorProto, where: str) -> int:
    """The number of bytes that a tensor's shape and element type demand. ModelError if they are
    impossible."""
    bits = _BITS.get(proto.data_type)
    if bits is None or any(size < 0 for size in proto.dims):
        kind = element_name(proto.data_type)
        raise ModelError(f"is {kind}{list(proto.dims)}, which no tensor can be", where=where)
    return -(-math.prod(map(int, proto.dims)) * bits // 8)


def array(proto: TensorProto, called: str, where: str) -> Array:
    """The value of a tensor that is stored in the model."""
    wanted = _INT4.get(proto.data_type) or dtype(proto.data_type, called, where)
    if proto.data_location == TensorProto.EXTERNAL:
        raise ModelError(f"{called} has its data in another file, where none is read", where=where)
    # Before it is decoded, because a few bytes of a file can declare any shape.
    wider = 2 if is_half(proto.data_type) else 1
    if wider * stored_bytes(proto, where) > MAX_BYTES:
        raise UnsupportedError(
            f"{called} has more than {MAX_BYTES} bytes", where=where, hint="make it smaller"
        )
    try:
        values = numpy_helper.to_array(proto)
    except Exception as error:  # the library raises errors of many types
        raise ModelError(f"{called} cannot be read: {error}", where=where) from error
    # ascontiguousarray makes an axis for a number without axes; reshape removes it.
    return np.ascontiguousarray(values, dtype=wanted.numpy).reshape(values.shape)


def constant(proto: TensorProto, called: str, where: str) -> tuple[ArrayType, Array]:
    """The type and value of a tensor that is stored in the model. Integers of 4 bits become 8."""
    value = array(proto, called, where)
    return ArrayType(tuple(value.shape), DType(value.dtype.name)), value


def labelled(
    proto: TensorProto, called: str, where: str
) -> tuple[ArrayType, Array, tuple[str, ...] | None]:
    """As ``constant``. Texts become int64 indices of the third result, the distinct texts."""
    if proto.data_type != TensorProto.STRING:
        return (*constant(proto, called, where), None)
    shape = tuple(map(int, proto.dims))
    texts = [each.decode("utf-8", "replace") for each in proto.string_data]
    if min(shape, default=1) < 1 or math.prod(shape) != len(texts):
        raise ModelError(f"{called} has {len(texts)} texts for {list(shape)}", where=where)
    places = {text: k for k, text in enumerate(dict.fromkeys(texts))}
    value = np.array([places[text] for text in texts], np.int64).reshape(shape)
    return ArrayType(shape, DType.INT64), value, tuple(places)


def attribute(proto: AttributeProto, where: str) -> Any:
    """The value of an attribute: int, float, str, a tuple of them, or an array."""
    kind = proto.type
    if kind == AttributeProto.INT:
        return int(proto.i)
    if kind == AttributeProto.FLOAT:
        return float(proto.f)
    if kind == AttributeProto.STRING:
        return proto.s.decode("utf-8", "replace")
    if kind == AttributeProto.INTS:
        return tuple(int(v) for v in proto.ints)
    if kind == AttributeProto.FLOATS:
        return tuple(float(v) for v in proto.floats)
    if kind == AttributeProto.STRINGS:
        return tuple(v.decode("utf-8", "replace") for v in proto.strings)
    if kind == AttributeProto.TENSOR:
        return array(proto.t, f"the attribute {proto.name}", where)
    name = AttributeProto.AttributeType.Name(kind).lower()
    raise UnsupportedError(
        f"has an attribute {proto.name!r} of the kind {name}",
        where=where,
        hint="supported: numbers, strings, lists of them, tensors",
    )
