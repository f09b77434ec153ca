"""Measures networks on boards, with the public API alone."""

from __future__ import annotations

import contextlib
import hashlib
import os
import resource
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from unittest import mock

import numpy as np
import yaml

from microgen import pipeline, verifier
from microgen.base import manifest, resources
from microgen.base.errors import CapacityError
from microgen.base.manifest import note
from microgen.building import toolchain
from microgen.building.tools import version_in
from microgen.graph.ir.graph import Array
from microgen.interface import api
from microgen.project.firmware.compiled import Compiled
from microgen.running import timing
from microgen.target.cpu import Cpu
from microgen.target.found import VARIABLE
from scripts.bench import macs
from scripts.bench.matrix import Board, Network
from scripts.bench.results import Figures, Layer, MeasuredBoard, Result

_SECONDS = 600.0  # until firmware without a finished sample is considered hung


@dataclass(frozen=True)
class Job:
    """A network on a board, with several ``--optimize``: the unit of work of a process."""

    network: str
    board: str
    optimize: tuple[str, ...]
    model: Network
    hardware: Board


@dataclass(frozen=True)
class Done:
    """The results of a job, the model file's SHA-256, and the tools and the board of the
    measurement."""

    results: tuple[Result, ...]
    sha256: str
    board: MeasuredBoard
    tools: dict[str, str]


def job(asked: Job) -> Done:
    """Measure. Raises MicrogenError if anything fails. Firmware that does not fit the board is a
    result, not an error."""
    with surroundings(asked) as folder:
        found = list(_results(asked, folder))
        board = _described(asked.board)
        tools = _tools(asked.board)
    digest = hashlib.sha256(asked.model.path.read_bytes()).hexdigest()
    return Done(tuple(found), digest, board, tools)


@contextlib.contextmanager
def surroundings(asked: Job) -> Iterator[Path]:
    """A folder that is empty except for the job's board. In the block, the board is known,
    compilers have no caches, and the core's timings have the job's flash."""
    with tempfile.TemporaryDirectory(prefix="microgen-bench-") as folder, _environment(folder):
        if asked.hardware.runs_on:
            _write_board(asked, Path(folder))
        with mock.patch.object(timing, "of_cpu", _timings(asked.hardware.flash)):
            yield Path(folder)


def _timings(flash: timing.Flash | None) -> Callable[[Cpu], timing.CoreTimings | None]:
    """The timings of CPUs, with a flash if it is given."""
    usual = timing.of_cpu

    def of_cpu(cpu: Cpu) -> timing.CoreTimings | None:
        core = usual(cpu)
        return replace(core, flash=flash, _row_by_mnemonic={}) if core and flash else core

    return of_cpu


@contextlib.contextmanager
def _environment(boards: str) -> Iterator[None]:
    """While the block runs, compilers compile everything, and boards are also in that folder."""
    before = dict(os.environ)
    # Hits of ccache would make builds look fast, so it is not used.
    os.environ |= {"CCACHE_DISABLE": "1", VARIABLE: boards}
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _write_board(asked: Job, folder: Path) -> None:
    """Write the board on which the job's board runs, with its clock and wait states."""
    hardware = asked.hardware
    source = resources.folder("boards") / hardware.runs_on / "board.yml"
    data = yaml.safe_load(source.read_text(encoding="utf-8"))
    data |= {"clock_hz": hardware.clock_hz, "flash_wait_states": hardware.flash_wait_states}
    (folder / asked.board).mkdir()
    (folder / asked.board / "board.yml").write_text(yaml.safe_dump(data), encoding="utf-8")


def _results(asked: Job, folder: Path) -> Iterator[Result]:
    """A result for each ``--optimize``. Firmware of equal files is measured once."""
    measured: dict[str, Result] = {}
    for optimize in asked.optimize:
        blank = Result(asked.network, asked.board, optimize)
        project = folder / optimize
        start = _cpu_seconds()
        try:
            compiled = api.generate(asked.model.path, asked.board, project, optimize=optimize)
        except CapacityError as error:
            yield replace(blank, refused=error.what)
            continue
        blank = replace(blank, generate_s=round(_cpu_seconds() - start, 2))
        files = _files(compiled)
        if same := measured.get(files):
            shared = replace(same, same_as=same.optimize, layers=())
            yield replace(shared, optimize=optimize, generate_s=blank.generate_s)
            continue
        measured[files] = _measured(blank, compiled, project)
        yield measured[files]


def _files(compiled: Compiled) -> str:
    """A digest of the files that decide the firmware, but not of the note of its options."""
    record = compiled.manifest
    own = {k: v for k, v in record.files.items() if k != note.header(record.module)}
    return hashlib.sha256(repr(sorted(own.items())).encode()).hexdigest()


def _measured(blank: Result, compiled: Compiled, project: Path) -> Result:
    start = _cpu_seconds()
    built = api.build(project)
    build_s = round(_cpu_seconds() - start, 2)
    record = manifest.load(project)
    ran = api.run(project, random_input(record), profile=True, timeout=_SECONDS)
    assert ran.modelled is not None
    assert ran.instructions is not None
    sizes, plan = verifier.measure(built.elf, record), record.plan
    figures = Figures(
        instructions=ran.instructions[0],
        cycles=ran.modelled.totals[0].cycles,
        arena_io=plan.peak + plan.io_bytes,
        ram=sizes.ram,
        stack=verifier.stack_bound(project).nbytes,
        code=sizes.code,
        weights=sizes.weights,
    )
    return replace(
        blank,
        build_s=build_s,
        arena_bound=plan.lower_bound + plan.io_bytes,
        stack_used=ran.stack,
        figures=figures,
        layers=tuple(_layers(compiled, ran)),
    )


def _layers(compiled: Compiled, ran: api.RunResult) -> Iterator[Layer]:
    assert ran.per_call is not None
    assert ran.modelled is not None
    ((costs,),) = ran.modelled.rows
    counts = zip(
        compiled.program.calls, macs.of_calls(compiled), ran.per_call[0], costs[1:], strict=True
    )
    for call, products, instructions, cost in counts:
        yield Layer(
            name=" + ".join(step.tensor.partition(";")[0] for step in call.steps),
            op=" + ".join(step.op for step in call.steps),
            kernel=" + ".join(dict.fromkeys(step.kernel for step in call.steps)),
            shape=call.steps[-1].tensor_type.shape,
            macs=products,
            instructions=instructions,
            cycles=cost.cycles,
        )


def random_input(record: manifest.Manifest) -> dict[str, Array]:
    """One sample, the same on every machine: floats in [-1, 1), other numbers in [-128, 128)."""
    state = np.random.RandomState(0)
    return {
        port.tensor: (
            state.uniform(-1, 1, port.shape)
            if port.dtype == "float32"
            else state.randint(-128, 128, port.shape)
        ).astype(port.dtype)
        for port in record.inputs
    }


def _described(board: str) -> MeasuredBoard:
    found = pipeline.load_board(board)
    core = timing.of_cpu(found.cpu)
    return MeasuredBoard(
        title=found.title,
        cpu=found.cpu.name,
        core=core.title if core else "",
        fitted=bool(core and core.is_fitted),
        clock_hz=found.clock_hz,
        flash_wait_states=found.flash_wait_states,
    )


def _tools(board: str) -> dict[str, str]:
    """The versions of the compiler and of the emulator."""
    found = pipeline.load_board(board)
    programs = [f"{found.toolchain}gcc", *([found.qemu.system] if found.qemu else [])]
    said = {name: toolchain.run([name, "--version"], seconds=60).output for name in programs}
    return {name: version_in(text) for name, text in said.items()}


def _cpu_seconds() -> float:
    """CPU time of this process, and of all child processes that have ended."""
    own, others = (
        resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime
