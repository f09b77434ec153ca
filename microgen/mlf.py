"""Model Library Format, version 7: the metadata beside the model's files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from microgen import params_file
from microgen.files import FileTree
from microgen.program import MemoryPlan, Port, Program
from microgen.target.board import Board

VERSION = 7
# A fixed date: the format wants one, and equal inputs must give equal bytes.
_EXPORTED = "1970-01-01 00:00:00Z"


def model_path(model: Path, module: str) -> str:
    """Where the project keeps the model file."""
    return f"model/src/{module}{model.suffix.lower()}"


def library(
    program: Program, plan: MemoryPlan, board: Board, model: Mapping[str, bytes]
) -> FileTree:
    """The files of ``model/`` beside the generated code: metadata, parameters, the model's own
    files, given by suffix."""
    return FileTree(
        {
            "model/metadata.json": metadata(program, plan, board),
            f"model/parameters/{program.module}.params": params_file.dumps(program.parameters),
            **{f"model/src/{program.module}{suffix}": data for suffix, data in model.items()},
        }
    )


def metadata(program: Program, plan: MemoryPlan, board: Board) -> bytes:
    """``metadata.json``. Source: TVM v0.14, ``tvm.micro.model_library_format``."""
    module = {
        "model_name": program.module,
        "export_datetime": _EXPORTED,
        "memory": {
            "functions": {"main": [_main(program, plan)], "operator_functions": _ops(program)}
        },
        "target": [f"c -keys={board.cpu.name}"],
        "executors": ["aot"],
        "style": "full-model",
        "external_dependencies": [],
    }
    text = json.dumps(
        {"version": VERSION, "modules": {program.module: module}}, indent=2, sort_keys=True
    )
    return f"{text}\n".encode()


def _main(program: Program, plan: MemoryPlan) -> dict[str, Any]:
    return {
        "device": 1,  # kDLCPU
        "workspace_size_bytes": plan.peak,
        "constants_size_bytes": sum(c.array.nbytes for c in program.constants),
        "io_size_bytes": program.io_bytes,
        "inputs": _ports(program.inputs),
        "outputs": _ports(program.outputs),
    }


def _ports(ports: tuple[Port, ...]) -> dict[str, Any]:
    return {p.name: {"size": p.type.nbytes, "dtype": p.type.dtype.value} for p in ports}


def _ops(program: Program) -> list[dict[str, Any]]:
    scratch: dict[str, int] = {}
    for call in program.calls:
        scratch[call.function] = max(scratch.get(call.function, 0), call.scratch)
    return [
        {
            "function_name": name,
            "workspace": [{"device": 1, "workspace_size_bytes": nbytes}],
        }
        for name, nbytes in scratch.items()
    ]
