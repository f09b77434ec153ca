"""``metadata.json`` of Model Library Format 7.

Source of the fields: TVM v0.14, ``tvm.micro.model_library_format``. In addition to TVM's fields,
entries of memory have ``target``. TVM keys them by device type, so two targets of one type
overwrite each other.
"""

from __future__ import annotations

import json
import math
import os
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

from microgen.base.errors import InternalError, MicrogenError
from microgen.base.names import cnames
from microgen.planner.program.external import LoadedModule
from microgen.planner.program.plan import MemoryPlan
from microgen.planner.program.types import Port, Program, Storage
from microgen.target.board import Board
from microgen.version import __version__

VERSION = 7
RUNTIME_FOLDER = "runtime"  # in the exported archive; in a project it is crt/
CODEGENS_FOLDER = "codegens"  # in both: files from external code generators
# DLPack's kDLCPU. As in TVM v0.14, the host has this number, and so has each target whose functions
# the CPU calls with addresses of its own memory, unless it is declared with another number.
_CPU = 1
_DATE = "%Y-%m-%d %H:%M:%SZ"


def dumps(modules: Mapping[str, Mapping[str, Any]]) -> bytes:
    """The file for one or more modules, by name; equal modules give equal bytes."""
    text = json.dumps({"version": VERSION, "modules": modules}, indent=2, sort_keys=True)
    return f"{text}\n".encode()


def module(
    program: Program,
    plan: MemoryPlan,
    board: Board,
    *,
    graph_json: bytes | None = None,
    device_types: Mapping[str, int] = MappingProxyType({}),
) -> dict[str, Any]:
    """The entry of one module. ``graph_json`` is the graph executor's; None for AOT.
    ``device_types`` has DLPack's numbers of targets that have another device than the CPU."""
    memory: dict[str, Any] = {"functions": _functions(program, plan, board, device_types)}
    if graph_json is not None:
        memory["sids"] = sids(json.loads(graph_json))
    return {
        "model_name": program.module,
        "export_datetime": export_datetime(),
        "memory": memory,
        "target": [_described(target, board) for target in _targets(program, board)],
        "executors": ["aot" if graph_json is None else "graph"],
        "style": "full-model",
        "external_dependencies": [
            {
                "short_name": name,
                "url": f"./{folder}",
                "url_type": "mlf_path",
                "version_spec": __version__,
            }
            for name, folder in _needed(program).items()
        ],
    }


def _needed(program: Program) -> dict[str, str]:
    """The dependencies of the module's code, with the archive's folder for each: the runtime, with
    the runtimes of all types of loaded modules, and files from code generators."""
    needed = {"microgen_crt": RUNTIME_FOLDER}
    for module in program.external_modules:
        made = module.made
        if made is not None and made.files:
            needed[module.codegen] = f"{CODEGENS_FOLDER}/{cnames.identifier(module.codegen)}"
        elif isinstance(made, LoadedModule):
            needed[made.runtime.type_key] = RUNTIME_FOLDER
    return needed


def export_datetime() -> str:
    """The date of ``SOURCE_DATE_EPOCH`` in UTC; without it 1970-01-01 00:00:00Z.

    Raises MicrogenError if the variable is not a number of seconds.
    """
    # The convention of reproducible builds: the present time would make each project another one.
    text = os.environ.get("SOURCE_DATE_EPOCH", "0")
    try:
        if not (text.isascii() and text.isdigit()):
            raise ValueError(text)
        return datetime.fromtimestamp(int(text), UTC).strftime(_DATE)
    except (ValueError, OverflowError, OSError) as error:
        raise MicrogenError(
            f"{text!r} is not a number of seconds since 1970",
            where="SOURCE_DATE_EPOCH",
            hint="unset the variable, or give it a whole number",
        ) from error


def _targets(program: Program, board: Board) -> list[str]:
    """The host first, then the other targets in the order of their first function."""
    return list(dict.fromkeys([board.cpu.name, *(f.target for f in program.functions)]))


def _described(target: str, board: Board) -> str:
    return f"c -keys={target}" if target == board.cpu.name else target


def _functions(
    program: Program, plan: MemoryPlan, board: Board, device_types: Mapping[str, int]
) -> dict[str, Any]:
    scratch = _scratch(program)
    constants = _constants(program, board)
    main = []
    for target in _targets(program, board):
        own = [scratch[f.name] for f in program.functions if f.target == target]
        entry = {
            **_workspace(target, max(own, default=0), board, device_types),
            "constants_size_bytes": constants.get(target, 0),
            # The first entry, which is the host's, gets all inputs and outputs below.
            "io_size_bytes": 0,
        }
        main.append(entry)
    # The host runs the network, so inputs and outputs are its own.
    main[0] |= {
        # The arena is planned as a whole: it includes the scratch of operators of all targets.
        "workspace_size_bytes": plan.peak,
        "io_size_bytes": program.io_bytes,
        "inputs": _ports(program.inputs),
        "outputs": _ports(program.outputs),
    }
    operators = _operators(program, board, scratch, device_types)
    return {"main": main, "operator_functions": list(operators)}


def _workspace(
    target: str, nbytes: int, board: Board, device_types: Mapping[str, int]
) -> dict[str, Any]:
    device = device_types.get(target, _CPU)
    return {
        "device": device,
        "target": _described(target, board),
        "workspace_size_bytes": nbytes,
    }


def _ports(ports: tuple[Port, ...]) -> dict[str, Any]:
    return {p.name: {"size": p.type.nbytes, "dtype": p.type.dtype.value} for p in ports}


def _operators(
    program: Program, board: Board, scratch: Mapping[str, int], device_types: Mapping[str, int]
) -> Iterator[dict[str, Any]]:
    for function in program.functions:
        need = _workspace(function.target, scratch[function.name], board, device_types)
        yield {"function_name": function.name, "workspace": [need]}


def _scratch(program: Program) -> dict[str, int]:
    """Bytes of scratch by function: the largest of its calls."""
    scratch = dict.fromkeys((f.name for f in program.functions), 0)
    for call in program.calls:
        scratch[call.function] = max(scratch[call.function], call.scratch)
    return scratch


def _constants(program: Program, board: Board) -> dict[str, int]:
    """Bytes of constants by target. Each belongs to the target of the module that gets it when
    loaded, or else to the target of the first call that reads it. The host resets variables."""
    modules = program.external_modules
    reader = {held.constant: module.target for module in modules for held in module.constants}
    for call in program.calls:
        target = program.function(call.function).target
        for argument in call.args:
            if argument.storage is Storage.CONSTANT:
                reader.setdefault(argument.name, target)
    nbytes: dict[str, int] = {}
    for constant in program.constants:
        target = reader.get(constant.name, board.cpu.name)
        nbytes[target] = nbytes.get(target, 0) + constant.array.nbytes
    return nbytes


def sids(graph: Mapping[str, Any]) -> list[dict[str, Any]]:
    """``memory.sids`` of a graph executor's JSON: an entry per storage id, in the order of first
    use, with its bytes and the argument that it holds.

    Attributes are given per entry (an output of a node). Entries that share an id may differ in
    size, so an id needs the bytes of its largest entry. (TVM v0.14 indexes shapes by storage id,
    which is wrong as soon as an id is reused.)
    """
    attrs = graph["attrs"]
    records: dict[int, dict[str, Any]] = {}
    columns = (attrs[key][1] for key in ("storage_id", "shape", "dltype"))
    for entry, (sid, shape, dtype) in enumerate(zip(*columns, strict=True)):
        record = records.setdefault(sid, {"storage_id": sid, "size_bytes": 0})
        record["size_bytes"] = max(record["size_bytes"], math.prod(shape) * _nbytes(dtype))
        # node_row_ptr has the first entry of each node.
        node = bisect_right(graph["node_row_ptr"], entry) - 1
        if node in graph["arg_nodes"]:
            record.setdefault("input_binding", graph["nodes"][node]["name"])
    return list(records.values())


def _nbytes(dtype: str) -> int:
    """Bytes of one element; a bool takes one."""
    if dtype == "bool":
        return 1
    match = re.fullmatch(r"[a-z]+(\d+)", dtype)
    if match is None:
        raise InternalError(f"the graph JSON has the dtype {dtype!r}")
    # The number is in bits, and elements take whole bytes.
    return (int(match[1]) + 7) // 8
