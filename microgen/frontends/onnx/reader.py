"""Reads an ONNX model: its bytes, its opsets, and its functions, which are put in place of their
calls."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import onnx
from onnx import inliner

from microgen.errors import ModelError, UnsupportedError
from microgen.frontends.onnx.nodes import OWN_DOMAINS, operator_name

OLDEST = 7


def read(data: bytes, file: str, supported: Collection[str]) -> onnx.ModelProto:
    """The model, without calls of functions: those of the model's own, and those with which ONNX
    defines operators that are not ``supported``. Raises ModelError if the bytes are no model, and
    UnsupportedError for an opset that is too old or too new."""
    model = _parsed(data, file)
    _check_opset(model, file)
    return _inlined(model, file, supported)


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
    version = versions(model)[""]
    newest = onnx.defs.onnx_opset_version()
    if not OLDEST <= version <= newest:
        raise UnsupportedError(
            f"has the opset {version}",
            where=file,
            hint=f"supported: {OLDEST} to {newest}; onnx.version_converter changes it",
        )


def versions(model: onnx.ModelProto) -> dict[str, int]:
    """The version of each domain that the model imports, that of ONNX's own under ""."""
    found = {each.domain: int(each.version) for each in model.opset_import}
    own = next((found[name] for name in OWN_DOMAINS if name in found), 1)
    return {**found, "": own}


def _inlined(model: onnx.ModelProto, file: str, supported: Collection[str]) -> onnx.ModelProto:
    known = [
        (node.domain, node.op_type) for node in model.graph.node if operator_name(node) in supported
    ]
    inlined: Any = inliner.inline_selected_functions
    try:
        model = inlined(model, sorted(set(known)), exclude=True, inline_schema_functions=True)
    except Exception as error:
        raise ModelError(f"its functions cannot be put in place: {error}", where=file) from error
    return model
