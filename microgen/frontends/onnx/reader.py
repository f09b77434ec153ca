"""Reads an ONNX model: its bytes and its opsets."""

from __future__ import annotations

import onnx

from microgen.errors import ModelError, UnsupportedError
from microgen.frontends.onnx import schemas

OLDEST = 7


def read(data: bytes, file: str) -> onnx.ModelProto:
    """The model. Raises ModelError if the bytes are no model, and UnsupportedError for an opset
    that is too old or too new."""
    model = _parsed(data, file)
    _check_opset(model, file)
    return model


def _parsed(data: bytes, file: str) -> onnx.ModelProto:
    try:
        model = onnx.load_model_from_string(data)
    except Exception as error:  # of the protobuf library
        raise ModelError(
            "is not an ONNX model: its bytes are no protobuf message",
            where=file,
            hint="give a file that onnx.load reads",
        ) from error
    if not model.graph.node or not model.opset_import:
        raise ModelError(
            "is not an ONNX model: it has no nodes, or names no opset",
            where=file,
            hint="give a file that onnx.load reads",
        )
    return model


def _check_opset(model: onnx.ModelProto, file: str) -> None:
    version = schemas.versions(model.opset_import)[""]
    newest = onnx.defs.onnx_opset_version()
    if not OLDEST <= version <= newest:
        raise UnsupportedError(
            f"has the opset {version}",
            where=file,
            hint=f"supported: {OLDEST} to {newest}; onnx.version_converter changes it",
        )
