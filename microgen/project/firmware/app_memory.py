"""The values that main.c and the linker script need about memory pools."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any

from microgen.planner.program.plan import Pool
from microgen.planner.program.types import Port
from microgen.project.emit import symbols
from microgen.target.board import Board


def values(ports: Sequence[Port], board: Board, pools: Sequence[Pool]) -> dict[str, Any]:
    """Values of ``src/main.c.j2`` and ``boards/board.ld.j2`` for all models. ``ports`` are their
    inputs and outputs, ``pools`` the pools in use."""
    has_workspace_io = any(port.buffer for port in ports)
    moved = _moved(board)
    return {
        "has_workspace_io": has_workspace_io,
        "io_section": main_section(moved),
        "clears_inputs": has_workspace_io or bool(moved),
        "regions": _regions(pools, moved),
        "memories": _memories(board, {pool.memory for pool in pools}),
    }


def of_model(
    prefix: str, suffix: str, ports: Sequence[Port], board: Board, pools: Sequence[Pool]
) -> dict[str, Any]:
    """Values of ``src/main.c.j2`` for one model; ``suffix`` makes its names there unique."""
    passed = [pool for pool in pools if not (pool.is_internal or pool.port)]
    has_workspace_io = any(port.buffer for port in ports)
    arguments = [] if has_workspace_io else ["&inputs", "&outputs"]
    argument = f"&workspace_pools{suffix}" if passed else ""
    return {
        "passed_pools": [_passed(prefix, suffix, pool, _moved(board)) for pool in passed],
        "map_argument": argument,
        "run_structs": [*arguments, *filter(None, [argument])],
    }


def of_port(
    port: Port, inputs: Sequence[Port], pools: Mapping[str, Pool], name: Callable[[str], str]
) -> dict[str, Any]:
    """Values of ``src/main.c.j2`` for a port: the array that contains the port, if it is another
    port's array or has more bytes than the port. ``pools`` are by port, ``name`` is a port's name
    in main.c."""
    owner = next(p for p in inputs if p.name == port.over) if port.over else port
    pool = pools.get(owner.name)
    is_plain = pool is None or pool.nbytes == owner.type.nbytes
    if pool is None or (is_plain and owner is port):
        return {"memory": "", "memory_bytes": 0, "start": 0}
    return {
        "memory": f"{name(owner.name)}_{'buffer' if is_plain else 'memory'}",
        "memory_bytes": pool.nbytes if owner is port else 0,
        "start": pool.before,
    }


def _moved(board: Board) -> str:
    """The memory of main's buffers, if it is not the board's RAM."""
    return board.buffers if board.buffers != board.ram else ""


def _memories(board: Board, asked: Set[str]) -> list[dict[str, str]]:
    """The board's memories that contain buffers or constants, or may contain them."""
    used = {board.flash, board.ram, board.constants, board.large_constants, board.arena}
    return [
        {
            "name": m.name,
            "access": m.access,
            "origin": f"0x{m.origin:08x}",
            "length": f"0x{m.length:x}",
        }
        for m in board.memories
        if m.name in used | asked | {board.buffers}
    ]


def main_section(memory: str) -> str:
    """The section of main's buffers in a memory of the board; "" if they are plain data."""
    return f".bss.noinit.main.{memory}" if memory else ""


def _passed(prefix: str, suffix: str, pool: Pool, moved: str) -> dict[str, Any]:
    kind = "CONSTANT" if pool.is_constant else "WORKSPACE"
    macro = f"{prefix}_{pool.name}_{kind}_POOL".upper()
    section = main_section(pool.memory or moved)
    if pool.is_constant:
        section = symbols.constant_section(pool.memory) if pool.memory else ""
    placed = f', section("{section}")' if section else ""
    return {
        "name": f"{suffix[1:]}_{pool.name}" if suffix else pool.name,
        "field": pool.name,
        "is_constant": pool.is_constant,
        "attribute": f"__attribute__((aligned({pool.alignment}){placed}))",
        "size_macro": f"{macro}_SIZE",
        "data_macro": f"{macro}_DATA",
    }


def _regions(pools: Sequence[Pool], moved: str) -> list[dict[str, str]]:
    """Output sections in further memories: the names of their contents, and their places."""
    arenas = {p.memory for p in pools if p.memory and p.is_internal and not p.is_constant}
    mains = {p.memory for p in pools if p.memory and not p.is_internal and not p.is_constant}
    weights = {p.memory for p in pools if p.memory and p.is_constant}
    mains |= {moved} - {""}
    return [
        *_sections("arena", arenas, symbols.workspace_section),
        *_sections("main", mains, main_section),
        *_sections("weights", weights, symbols.constant_section),
    ]


def _sections(kind: str, memories: Set[str], name: Callable[[str], str]) -> list[dict[str, str]]:
    return [
        {"kind": kind, "segment": f"{kind}_{memory}", "name": name(memory), "memory": memory}
        for memory in sorted(memories)
    ]
