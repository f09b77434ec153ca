"""Advice for a model that needs too much RAM: other options, with the bytes that it needs with
them. The options are planned for this, because an estimate would be a guess."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from microgen.base.errors import CapacityError, MicrogenError
from microgen.graph.ir.graph import DType
from microgen.pipeline.planning import PlannedModel, planned
from microgen.project.firmware import capacity, stack_size
from microgen.target.board import Board

_RAM = "RAM"
# Options as on the command line. The options that cost the application least come first. The advice
# is the first option of a group that suffices, otherwise the best. Planning a group takes as long
# as the first plan, so the next group is tried only if nothing in one helps.
_GROUPS: tuple[dict[str, dict[str, Any]], ...] = (
    {"--input-rows 8": {"input_rows": 8}, "--input-rows 1": {"input_rows": 1}},
    {"--input-consumed": {"input_consumed": True}},
)


def with_fixes(error: CapacityError, part: PlannedModel, board: Board) -> CapacityError:
    """The error with a hint that begins with the advice, best first. ``board`` is the requested
    one. An error about flash is returned unchanged."""
    if error.kind != _RAM:
        return error
    found = list(_found(error, part, board))
    if not found:
        return error
    hint = f"{'; '.join(found)}; {error.hint}"
    return CapacityError(
        error.what, kind=error.kind, needed=error.needed, there=error.there, hint=hint
    )


def _found(error: CapacityError, part: PlannedModel, board: Board) -> Iterator[str]:
    """The advice, one sentence for each remedy."""
    for group in _GROUPS:
        tried = list(_tried(error, part, board, group))
        if tried:
            nbytes, what = min(tried)
            short = "" if nbytes <= _there(error, part) else " (still too many)"
            yield f"`{what}` needs {nbytes:,} bytes{short}"
            break
    if error.needed <= capacity.budget(part.options):  # a budget is of all memories together
        yield from _memories(part, board, error)
    if floats := _float_bytes(part):
        yield f"int8 instead of float32 needs about {error.needed - floats * 3 // 4:,} bytes"


def _tried(
    error: CapacityError, part: PlannedModel, board: Board, group: dict[str, dict[str, Any]]
) -> Iterator[tuple[int, str]]:
    """The options of a group that need less, with the bytes, up to the first that suffices."""
    for what, changed in group.items():
        nbytes = _needed(part, board, changed)
        if nbytes < error.needed:
            yield nbytes, what
            if nbytes <= _there(error, part):
                return


def _there(error: CapacityError, part: PlannedModel) -> int:
    """The smaller of the memory and the budget, in bytes. The error has only one of them."""
    return min(error.there, capacity.budget(part.options))


def _needed(part: PlannedModel, board: Board, changed: dict[str, Any]) -> int:
    """The least bytes of RAM that a model needs with other options. If it cannot have these
    options, or has them already, this is the largest possible number."""
    other = _planned(part, board, changed)
    return _least(other, board) if other else sys.maxsize


def _planned(part: PlannedModel, board: Board, changed: dict[str, Any]) -> PlannedModel | None:
    try:
        options = replace(part.options, **changed)
        # Advice to give an option that the user has given would be useless.
        return None if options == part.options else planned(part.model, board, options)
    except MicrogenError:
        return None


def _least(part: PlannedModel, board: Board) -> int:
    stack = stack_size.of([part.program], board, part.options)
    whole = capacity.Footprint(part.program, part.plan, part.options)
    return capacity.least_ram(whole, replace(board, stack_bytes=stack.reserve))


def _memories(part: PlannedModel, board: Board, error: CapacityError) -> Iterator[str]:
    """The first of the board's other memories that can hold the workspace, if that suffices."""
    if board.is_host or part.options.pool or not part.plan.peak:
        return
    used = {board.ram, board.arena, board.buffers, board.large_buffers}
    for memory in board.rams:
        if memory.name not in used and part.plan.peak <= memory.length:
            pool = f"{memory.name}:*:memory={memory.name}"
            other = _planned(part, board, {"pool": (pool,)})
            if other and _least(other, board) - other.plan.peak <= error.there:
                where = f"into {memory.name}, which has {memory.length:,}"
                yield f"`--pool {pool}` puts {other.plan.peak:,} bytes {where}"
                return


def _float_bytes(part: PlannedModel) -> int:
    """The bytes of floats in RAM, if most of the computed bytes are float32; 0 otherwise."""
    kinds = [part.graph.types[name] for node in part.graph.nodes for name in node.outputs]
    floats = sum(kind.nbytes for kind in kinds if kind.dtype is DType.FLOAT32)
    if 2 * floats < sum(kind.nbytes for kind in kinds):
        return 0
    ports = (*part.program.inputs, *part.program.outputs)
    passed = [port for port in ports if port.type.dtype is DType.FLOAT32 and not port.buffer]
    workspace = 0 if part.options.pool else part.plan.peak  # pools may be in other memories
    return workspace + sum(map(part.program.passed_bytes, passed))
