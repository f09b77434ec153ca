"""Measures a network on a board: ours, or by TensorFlow Lite Micro."""

from __future__ import annotations

import hashlib
import multiprocessing
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from microgen.base import manifest
from microgen.base.errors import MicrogenError, ToolError
from microgen.compiler.schedule.choose import FIRST
from microgen.interface import api
from microgen.planner.program.types import RunnerCall
from scripts.bench import measure
from scripts.bench.other import kinds
from scripts.bench.other.peer import Peer
from scripts.bench.other.peer import of as of_peer

BOARDS = {"M4": "mps2_an386", "M55": "mps3_an547"}
# Measured only when named.
MORE_BOARDS = {
    "M3": "mps2_an385",
    "M7": "mps2_an500",
    "M33": "mps2_an505",
    "RV32": "qemu_riscv32",
}
# Cores for which the peer's sources choose the same code, so its figures are those of the other.
SAME_PEER = {"M33": "M4"}
_SECONDS = 600.0  # until firmware without a finished sample is considered hung


@dataclass(frozen=True)
class Asked:
    """A network on a core: its file's bytes, or its path, and its kind; and whether the peer's
    figures are wanted instead of ours."""

    name: str
    core: str
    kind: str
    content: bytes = b""
    path: Path | None = None
    is_peer: bool = False


@dataclass(frozen=True)
class Found:
    """Instructions; modelled cycles, and those that were estimated before, both without layers
    whose kernels have no measured costs; bytes of arena with input and output, at ``speed``, at
    ``balanced``, and at ``balanced`` with ``--workspace-io``, which lets other tensors take the
    places of inputs and outputs as the peer does; units and instructions by kind of layer; or the
    peer's figures; or why nothing was measured."""

    asked: Asked
    sha256: str = ""
    instructions: int = 0
    cycles: int = 0
    estimated: int = 0
    arena: int = 0
    balanced: int = 0
    shared: int = 0
    layers: dict[str, tuple[int, int]] = field(default_factory=dict)
    peer: Peer | None = None
    missing: str = ""
    failed: str = ""


def outcomes(asked: Sequence[Asked], processes: int) -> Iterator[Found]:
    """What was found for each, in order."""
    if processes == 1:
        yield from map(_outcome, asked)
        return
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=fresh) as pool:
        yield from pool.map(_outcome, asked)


def _outcome(asked: Asked) -> Found:
    """Errors are returned as text, because not all can be sent between processes."""
    if asked.path is not None and not asked.path.is_file():
        reason = f"there is no {asked.path}: set MICROGEN_MODELS to the folder of models"
        return Found(asked, missing=reason)
    try:
        return of(asked)
    except ToolError as error:
        return Found(asked, missing=str(error))
    except MicrogenError as error:
        return Found(asked, failed=str(error))


def of(asked: Asked) -> Found:
    """The figures that are asked for. Raises MicrogenError if anything fails."""
    content = asked.content or (asked.path.read_bytes() if asked.path else b"")
    found = Found(asked, sha256=hashlib.sha256(content).hexdigest())
    with tempfile.TemporaryDirectory(prefix="microgen-bench-") as place:
        model = Path(place) / "model.tflite"
        model.write_bytes(content)
        return _peer(found, model) if asked.is_peer else _ours(found, model)


def _board(core: str) -> str:
    return BOARDS.get(core) or MORE_BOARDS[core]


def _peer(found: Found, model: Path) -> Found:
    core = found.asked.core
    compiled = api.compile_model(model, _board(core), optimize="speed")
    peer = of_peer(model.read_bytes(), core, compiled.program.calls, compiled.graph)
    return replace(found, peer=peer)


def _ours(found: Found, model: Path) -> Found:
    """Generate, build and run."""
    board, project = _board(found.asked.core), model.with_name("project")
    compiled = api.generate(model, board, project, optimize="speed")
    api.build(project)
    record = manifest.load(project)
    ran = api.run(project, measure.random_input(record), profile=True, timeout=_SECONDS)
    balanced, shared = _balanced(model, board)
    assert ran.instructions is not None
    assert ran.modelled is not None
    assert ran.per_call is not None
    calls = kinds.of_calls(compiled.program.calls, compiled.graph)
    rows = zip(calls, ran.per_call[0], strict=True)
    chosen = record.schedule
    return replace(
        found,
        instructions=ran.instructions[0],
        cycles=ran.modelled.totals[0].cycles - _unmeasured(compiled.program.calls, ran),
        estimated=chosen.cycles if chosen else 0,
        arena=record.plan.peak + record.plan.io_bytes,
        balanced=balanced,
        shared=shared,
        layers=kinds.by_kind((layer, count) for (_, layer), count in rows),
    )


def _balanced(model: Path, board: str) -> tuple[int, int]:
    """Bytes of arena with input and output, without and with ``--workspace-io``."""
    plans = (
        api.compile_model(model, board, workspace_io=shares).manifest.plan
        for shares in (False, True)
    )
    first, second = (plan.peak + plan.io_bytes for plan in plans)
    return first, second


def _unmeasured(calls: Sequence[RunnerCall], ran: api.RunResult) -> int:
    """Modelled cycles of calls whose cycles are not among the estimated ones."""
    assert ran.modelled is not None
    ((costs,),) = ran.modelled.rows
    return sum(
        cost.cycles
        for call, cost in zip(calls, costs[1:], strict=True)
        # The end of a reason may say so of kernels that were not chosen.
        if any(step.reason.startswith(FIRST) for step in call.steps)
    )
