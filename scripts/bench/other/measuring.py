"""Measures a network on a board: ours, or the peer by CMSIS-NN's kernels."""

from __future__ import annotations

import hashlib
import multiprocessing
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from microgen.base import manifest
from microgen.base.errors import MicrogenError, ToolError
from microgen.compiler.schedule.choose import UNMEASURED
from microgen.interface import api
from microgen.planner.program.types import RunnerCall
from scripts.bench import measure
from scripts.bench.other import arena, estimates, kinds

BOARDS = {"M4": "mps2_an386", "M55": "mps3_an547"}
_SECONDS = 600.0  # until firmware without a finished sample is considered hung


@dataclass(frozen=True)
class Asked:
    """A network on a core: its file's bytes, or its path, and its kind. If ``is_peer`` the peer's
    figures are wanted: with ``sources`` of CMSIS-NN its kernels run, otherwise ours do, from whose
    layers the peer's are estimated."""

    name: str
    core: str
    kind: str
    content: bytes = b""
    path: Path | None = None
    sources: str = ""
    is_peer: bool = False


@dataclass(frozen=True)
class Found:
    """Instructions; modelled cycles, and those that were estimated before, both without layers
    whose kernels have no measured costs; bytes of arena with input and output, at ``speed``, at
    ``balanced``, at ``balanced`` with ``--workspace-io``, which lets other tensors take the places
    of inputs and outputs as the peer does, and of the peer's ``head`` if it is known; units and
    instructions by kind of layer, and what the peer takes for the same layers, of whose kinds those
    of ``guessed`` are estimated; or why nothing was measured."""

    asked: Asked
    sha256: str = ""
    instructions: int = 0
    cycles: int = 0
    estimated: int = 0
    arena: int = 0
    balanced: int = 0
    shared: int = 0
    head: int = 0
    layers: dict[str, tuple[int, int]] = field(default_factory=dict)
    theirs: dict[str, tuple[int, int]] = field(default_factory=dict)
    guessed: tuple[str, ...] = ()
    missing: str = ""
    failed: str = ""

    @property
    def peer(self) -> int:
        """The peer's instructions."""
        between = self.instructions - sum(count for _, count in self.layers.values())
        return between + sum(count for _, count in self.theirs.values())


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
    """Generate, build and run. Raises MicrogenError if anything fails."""
    content = asked.content or (asked.path.read_bytes() if asked.path else b"")
    with tempfile.TemporaryDirectory(prefix="microgen-bench-") as place:
        model, project = Path(place) / "model.tflite", Path(place) / "project"
        model.write_bytes(content)
        board = BOARDS[asked.core]
        compiled = api.generate(model, board, project, optimize="speed", **_options(asked))
        api.build(project)
        record = manifest.load(project)
        ran = api.run(project, measure.random_input(record), profile=True, timeout=_SECONDS)
        balanced, shared = (0, 0) if asked.sources else _balanced(model, board)
        graph = compiled.graph
        if asked.sources:
            # In the peer's own graph the layers are hidden in functions of CMSIS-NN.
            graph = api.compile_model(model, board, numerics="tflm").graph
    assert ran.instructions is not None
    assert ran.modelled is not None
    assert ran.per_call is not None
    calls = kinds.of_calls(compiled.program.calls, graph)
    rows = list(zip(calls, ran.per_call[0], strict=True))
    layers = kinds.by_kind((layer, count) for (_, layer), count in rows)
    theirs, guessed = _theirs(asked, rows)
    chosen = record.schedule
    return Found(
        asked,
        sha256=hashlib.sha256(content).hexdigest(),
        instructions=ran.instructions[0],
        cycles=ran.modelled.totals[0].cycles - _unmeasured(compiled.program.calls, ran),
        estimated=chosen.cycles if chosen else 0,
        arena=record.plan.peak + record.plan.io_bytes,
        balanced=balanced,
        shared=shared,
        head=arena.of(content) if asked.is_peer else 0,
        layers=layers,
        theirs=theirs,
        guessed=guessed,
    )


def _balanced(model: Path, board: str) -> tuple[int, int]:
    """Bytes of arena with input and output, without and with ``--workspace-io``."""
    plans = (
        api.compile_model(model, board, workspace_io=shares).manifest.plan
        for shares in (False, True)
    )
    first, second = (plan.peak + plan.io_bytes for plan in plans)
    return first, second


def _options(asked: Asked) -> dict[str, Any]:
    if not asked.sources:
        return {}
    option = (f"cmsis-nn.path={asked.sources}",)
    return {"numerics": "tflm", "codegen": ("cmsis-nn",), "codegen_option": option}


def _unmeasured(calls: Sequence[RunnerCall], ran: api.RunResult) -> int:
    """Modelled cycles of calls whose cycles are not among the estimated ones."""
    assert ran.modelled is not None
    ((costs,),) = ran.modelled.rows
    return sum(
        cost.cycles
        for call, cost in zip(calls, costs[1:], strict=True)
        if any(UNMEASURED in step.reason for step in call.steps)
    )


def _theirs(
    asked: Asked, rows: Sequence[tuple[tuple[RunnerCall, kinds.Layer], int]]
) -> tuple[dict[str, tuple[int, int]], tuple[str, ...]]:
    """What the peer takes by kind of layer. Where CMSIS-NN does not compute a layer it is estimated
    if figures are known; the second are these kinds. Otherwise ours are taken."""
    guessed: dict[str, None] = {}
    counted = []
    for (call, layer), instructions in rows:
        theirs = None
        if not all(step.kernel.startswith("arm_") for step in call.steps):
            theirs = estimates.of_layer(layer, asked.kind, BOARDS[asked.core])
        if theirs is not None:
            guessed[layer.kind] = None
        counted.append((layer, instructions if theirs is None else theirs))
    return kinds.by_kind(counted), tuple(guessed)
