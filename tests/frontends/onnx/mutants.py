"""Damaged ONNX models: bytes that change, and fields of messages that change."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator, Sequence
from typing import Any

import onnx
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

_NUMBERS = (0, 1, -1, 2, 3, 7, 255, 65536, 2**31 - 1, 2**31, -(2**31), 2**62, -(2**63))
_FLOATS = (0.0, -0.0, 1.0, -1.0, 1e-45, 3e38, float("inf"), float("nan"))
_NAMES = ("", "x", "y", "Add", "Conv", "Reshape", "Loop", "If", "\0", "a/b", "ai.onnx", "axis")
_BYTES = (b"", b"\0", b"NOTSET", b"SAME_UPPER", b"constant", b"\xff" * 9)
_PARAMETERS = (onnx.AttributeProto, onnx.TensorProto)
_KINDS = ("name", "type", "data_type")  # of parameters: changes that are easily found


def mutant(rng: random.Random, data: bytes) -> bytes:
    """The model with one to three changes."""
    if rng.random() < 0.3:
        return _of_bytes(rng, data)
    model = onnx.ModelProto.FromString(data)
    if rng.random() < 0.7:  # otherwise the declared types would catch most changes
        for info in (*model.graph.output, *model.graph.value_info):
            info.type.tensor_type.ClearField("shape")
    for _ in range(rng.choice((1, 1, 2, 3))):
        _change(rng, model)
    return bytes(model.SerializeToString())


def _of_bytes(rng: random.Random, data: bytes) -> bytes:
    found = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 5))):
        at = rng.randrange(len(found))
        how = rng.randrange(4)
        if how == 0:
            del found[at:]
        elif how == 1:
            found[at] = rng.randrange(256)
        elif how == 2:
            found[at] ^= 1 << rng.randrange(8)
        else:
            found[at:at] = found[at : at + rng.randrange(1, 16)]
        if not found:
            return b""
    return bytes(found)


def _messages(message: Message) -> Iterator[Message]:
    yield message
    for field, value in message.ListFields():
        if field.message_type is not None:
            for each in value if _is_list(value) else (value,):
                yield from _messages(each)


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _change(rng: random.Random, model: onnx.ModelProto) -> None:
    """Change one field of one message, in place."""
    every = [each for each in _messages(model) if each.ListFields()]
    inner = [each for each in every if isinstance(each, _PARAMETERS)]
    message = rng.choice(inner if inner and rng.random() < 0.7 else every)
    fields = message.ListFields()
    if isinstance(message, _PARAMETERS) and rng.random() < 0.8:
        fields = [each for each in fields if each[0].name not in _KINDS] or fields
    field, value = rng.choice(fields)
    if _is_list(value):
        _change_list(rng, field, value)
    elif field.message_type is not None or rng.random() < 0.1:
        message.ClearField(field.name)
    else:
        setattr(message, field.name, _other(rng, field, value))


def _change_list(rng: random.Random, field: Any, value: Any) -> None:
    at, other = rng.randrange(len(value)), rng.randrange(len(value))
    how = rng.randrange(3)
    if how == 0:
        del value[at]
    elif field.message_type is not None:
        value.add().CopyFrom(value[at])
        if how == 1 and len(value) > 1:
            value[other].CopyFrom(value[at])
    elif how == 1:
        value.append(value[at])
    else:
        value[at] = _other(rng, field, value[other])


def _elements(rng: random.Random, data: bytes) -> list[bytes]:
    """Stored values with another first or last number, more often than other changes."""
    numbers = [rng.choice(_NUMBERS) & (2**64 - 1) for _ in range(8)]
    found = [struct.pack("<Q", number) for number in numbers]
    return [each + data[8:] if k % 2 else data[:-8] + each for k, each in enumerate(found)]


def _other(rng: random.Random, field: Any, value: Any) -> Any:
    if field.type == FieldDescriptor.TYPE_STRING:
        return rng.choice(_NAMES)
    if field.type == FieldDescriptor.TYPE_BYTES:
        return rng.choice((*_BYTES, value[: len(value) // 2], value * 2, *_elements(rng, value)))
    if field.type in (FieldDescriptor.TYPE_FLOAT, FieldDescriptor.TYPE_DOUBLE):
        return rng.choice(_FLOATS)
    if field.type == FieldDescriptor.TYPE_ENUM:
        return rng.choice([each.number for each in field.enum_type.values])
    number = rng.choice((*_NUMBERS, value + 1, value - 1))
    low, high = (
        (-(2**31), 2**31 - 1) if field.type == FieldDescriptor.TYPE_INT32 else (-(2**63), 2**63 - 1)
    )
    if field.type == FieldDescriptor.TYPE_UINT64:
        low = 0
    return min(max(number, low), high)
