"""Model Library Format: writes ``model/`` of a project, packs it, and reads other libraries.

docs/reference/mlf.md has the layout, and the differences from TVM.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from microgen.base.files import FileTree
from microgen.base.pieces import Content, LargeContent
from microgen.graph import params_file
from microgen.planner.program.types import Program
from microgen.tvm.mlf import metadata

_LARGE = 2**20  # bytes of parameters that are not copied to a file's content


def model_path(suffix: str, module: str) -> str:
    """The path of the model file in the project. ``suffix`` is the suffix of the model's format."""
    return f"model/src/{module}{suffix}"


def described(modules: Mapping[str, Mapping[str, Any]]) -> FileTree:
    """The library's ``metadata.json``, for all its modules by name: see ``metadata.module``."""
    return FileTree({"model/metadata.json": metadata.dumps(modules)})


def _parameters(program: Program) -> Content:
    arrays = program.parameters
    if sum(array.nbytes for array in arrays.values()) < _LARGE:
        return params_file.dumps(arrays)
    return LargeContent(lambda: params_file.pieces(arrays))


def library(
    program: Program,
    model: Mapping[str, Content],
    *,
    text: str,
    graph_json: bytes | None = None,
) -> FileTree:
    """A module's files of ``model/`` without the generated code: parameters, the model.

    ``model`` has the bytes of the model's own files by suffix.
    ``text`` is the network in Relay's style, as the frontend read it. A model that is itself such a
    text is used instead. ``graph_json`` is the graph executor's; None for the AOT executor.
    """
    module = program.module
    files: dict[str, Content] = {
        f"model/parameters/{module}.params": _parameters(program),
        f"model/src/{module}.relay": text.encode(),
        **{model_path(suffix, module): data for suffix, data in model.items()},
    }
    if graph_json is not None:
        files[f"model/executor-config/graph/{module}.graph"] = graph_json
    return FileTree(files)
