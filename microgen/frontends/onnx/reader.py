"""Reads an ONNX model: its bytes and its opsets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import onnx

from microgen.base.errors import ModelError, UnsupportedError
from microgen.frontends import model_files
from microgen.frontends.model_format import Request
from microgen.frontends.onnx import external, given, ordering, schemas, types

OLDEST = 7


def read(path: Path, request: Request) -> tuple[onnx.ModelProto, bytes]:
    """The model at ``path`` with everything that belongs to it: external data, and the request's
    values. Without external data and values, its bytes equal the file's.

    Raises MicrogenError if a file is missing or the request's values do not fit, ModelError if the
    bytes are not a model, and UnsupportedError for an opset that is too old or too new.
    """
    data = model_files.read(path)
    model = parsed(data, path.name)
    is_embedded = external.embed(model, path)
    is_given = given.apply(model, request, path.name)
    if is_embedded or is_given:
        # The same model must give the same bytes in every run.
        data = model.SerializeToString(deterministic=True)
    return model, data


def parsed(data: bytes, file: str) -> onnx.ModelProto:
    """The model with these bytes, without external data and the request's values. Its nodes are in
    an order in which they can run. Raises as ``read`` does.
    """
    model = _message(data, file)
    # The library gives bytes if a string is not UTF-8.
    if not all(isinstance(each, str) for each in _strings(model)):
        raise ModelError("has a name that is not text in UTF-8", where=file, hint="export it again")
    # Protobuf may read other bytes as a message without fields, so a message alone is no model.
    if not model.graph.node or not model.opset_import:
        raise ModelError(
            "is not an ONNX model: it has no nodes, or names no opset",
            where=file,
            hint="give a file that onnx.load reads",
        )
    if model.graph.sparse_initializer:
        raise UnsupportedError(
            "has sparse initialisers", where=file, hint="export it with dense initialisers"
        )
    _check_opset(model, file)
    ordering.sort(model, file)
    return model


def _message(data: bytes, file: str) -> onnx.ModelProto:
    try:
        return onnx.load_model_from_string(data)
    except Exception as error:  # of the protobuf library
        raise ModelError(
            "is not an ONNX model: its bytes are no protobuf message",
            where=file,
            hint="give a file that onnx.load reads",
        ) from error


def _strings(model: onnx.ModelProto) -> Iterator[object]:
    """All strings of a model."""
    for message in types.messages(model):
        for field, value in types.listed(message):
            if field.type == field.TYPE_STRING:
                yield from (value,) if isinstance(value, str | bytes) else value


def _check_opset(model: onnx.ModelProto, file: str) -> None:
    newest = onnx.defs.onnx_opset_version()
    version = schemas.versions(model.opset_import).get("", newest)
    if not OLDEST <= version <= newest:
        raise UnsupportedError(
            f"has the opset {version}",
            where=file,
            hint=f"supported: {OLDEST} to {newest}; onnx.version_converter changes it",
        )
