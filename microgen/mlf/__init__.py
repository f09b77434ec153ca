"""Model Library Format: writes ``model/`` of a project, packs it, and reads what others made.

docs/mlf.md has the layout, and what differs from TVM's.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from microgen import params_file
from microgen.files import FileTree
from microgen.mlf import metadata
from microgen.program import MemoryPlan, Program
from microgen.target.board import Board


def model_path(model: Path, module: str) -> str:
    """Where the project keeps the model file."""
    return f"model/src/{module}{model.suffix.lower()}"


def library(
    program: Program,
    plan: MemoryPlan,
    board: Board,
    model: Mapping[str, bytes],
    *,
    text: str,
    graph_json: bytes | None = None,
) -> FileTree:
    """The files of ``model/`` beside the generated code: metadata, parameters, the model.

    ``model`` has the bytes of the model's own files by suffix.
    ``text`` is the network in Relay's style, as the frontend read it; a model that is such a text
    stands for itself. ``graph_json`` is the graph executor's; None for the AOT executor.
    """
    module = program.module
    record = metadata.module(program, plan, board, graph_json=graph_json)
    files = {
        "model/metadata.json": metadata.dumps({module: record}),
        f"model/parameters/{module}.params": params_file.dumps(program.parameters),
        f"model/src/{module}.relay": text.encode(),
        **{f"model/src/{module}{suffix}": data for suffix, data in model.items()},
    }
    if graph_json is not None:
        files[f"model/executor-config/graph/{module}.graph"] = graph_json
    return FileTree(files)
