"""The three ways to run the firmware here: plainly, counting instructions, and reading layers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

from microgen.base.errors import RunError, ToolError
from microgen.base.output import progress
from microgen.graph.ir.graph import Array
from microgen.running import timing
from microgen.running.runner import application, costs, faults, process, qemu
from microgen.running.runner import inside as inner
from microgen.running.runner import job as jobs
from microgen.running.runner import profile as profiling
from microgen.running.runner import trace as tracing
from microgen.running.runner.application import Inference
from microgen.running.runner.job import Job, JobResult
from microgen.running.runner.process import HangError, Process
from microgen.running.runner.remote import session
from microgen.running.runner.remote.target import RemoteTarget
from microgen.running.runner.trace import Followed, TracedLayer

# For a program to end after its debugger has left.
_END_SECONDS = 5.0
ELF = Path("build") / "firmware.elf"


def run(
    project: Path,
    inputs: Mapping[str, Array] | None = None,
    *,
    elf: Path | None = None,
    profile: bool = False,
    trace: bool = False,
    timeout: float = 60.0,
    target: RemoteTarget | None = None,
    is_application: bool = False,
) -> JobResult:
    """Run a built project's firmware on samples, all in one process. Without ``inputs``, run it on
    one sample of zeros.

    ``inputs``: one array per input (see ``samples.given``). ``elf`` replaces the project's own ELF.
    ``timeout``: the firmware is considered hung after this number of seconds without a finished
    sample, or without a finished layer if layers are traced. Instructions and layers need separate
    runs. ``target`` is a core that runs the firmware instead of an emulator here. It counts cycles
    instead of instructions, and has a time limit of its own. ``is_application``: the program may
    have another main than the project's. Such a main may omit the number of its samples and their
    outputs.

    Raises InputError if the samples do not fit the model, ToolError if a program that is needed
    is missing, ProjectError if there is no firmware, RunError if it faults, hangs or fails.
    """
    elf = elf or project / ELF
    job = jobs.of(project, inputs, elf, timeout, is_application=is_application)
    if target is not None:
        ways = session.profiled if profile else session.plain
        return session.traced(job, target) if trace else ways(job, target)
    # Which inferences are complete is only visible in a debugger, so another main runs twice.
    result = _profiled(job, _ran_runs(job) if is_application else None) if profile else _plain(job)
    # A debugger at every call would change the counts, so layers come from a run of their own.
    return replace(result, layers=_traced(job).layers) if trace else result


def followed(
    project: Path, inputs: Mapping[str, Array] | None, *, elf: Path, timeout: float = 60.0
) -> Followed[Inference]:
    """The inferences of a program that has another main than the project's, with their tensors.
    Raises as ``run`` does."""
    return _followed_runs(jobs.of(project, inputs, elf, timeout), reads=True)


def until_failure(
    project: Path,
    inputs: Mapping[str, Array] | None,
    *,
    elf: Path,
    timeout: float = 60.0,
    target: RemoteTarget | None = None,
) -> tuple[TracedLayer, ...]:
    """The layers of a run that fails, up to the call that returned a status other than 0, or up to
    the last call before the failure. Raises as ``run`` does before the program ends."""
    job = jobs.of(project, inputs, elf, timeout)
    if target is not None:
        return session.until_failure(job, target)
    with process.directory() as where, _started(job, where, halted=True) as running:
        return _trace(job, running).items


def _plain(job: Job) -> JobResult:
    with process.directory() as where:
        return _execute(job, where)


def _followed_runs(job: Job, *, reads: bool) -> Followed[Inference]:
    """The runs of models that a program has completed. Raises RunError if there are none, or if the
    connection broke."""
    entries = [module.entry for module in job.manifest.modules]
    # A program without any of these functions need not be started.
    if all(job.image.address_or_none(name) is None for name in entries):
        raise _not_run(job, "contains", entries)
    with process.directory() as where, _started(job, where, halted=True) as running:
        runs = application.follow(_halted(job, running), reads=reads)
    if runs.exit_code is None:
        raise RunError(
            f"the debugger's connection failed after {len(runs.items)} inferences: {runs.broken}",
            where=str(job.image.path),
        )
    if not runs.items:
        raise _not_run(job, "calls", entries)
    return runs


def _not_run(job: Job, does: str, entries: Sequence[str]) -> RunError:
    return RunError(
        f"the program never {does} {', '.join(entries)}, so nothing can be profiled or compared",
        where=str(job.image.path),
        hint="call it in src/main.c, or leave out --profile and --compare",
    )


def _ran_runs(job: Job) -> Followed[Inference]:
    _check_counts(job)
    return _followed_runs(job, reads=False)


def _check_counts(job: Job) -> None:
    if job.board.qemu is None:
        raise ToolError(
            f"instructions are counted by an emulator, and board {job.board.name} has none",
            hint="generate for another board, or run without --profile",
        )


def _profiled(job: Job, runs: Followed[Inference] | None = None) -> JobResult:
    """``runs`` are the inferences of a program that has another main than the project's."""
    _check_counts(job)
    assert job.board.qemu is not None
    order = [one.module for one in runs.items] if runs else []
    ends = {one.returned_to for one in runs.items} if runs else set()
    with process.directory() as where:
        core = timing.of_cpu(job.board.cpu)
        flash = profiling.flash_plan(job.board, core)
        emulator = job.board.qemu.system
        plugin = profiling.prepare(where, job.image, job.manifest, emulator, flash, ends)
        result = _execute(job, where, plugin)
        calls = [len(module.calls) for module in job.manifest.modules]
        if runs:
            counted = profiling.counts_of_runs(where, job.manifest.modules, order)
            result = replace(result, samples=len(counted))
        else:
            counted = profiling.counts(where, calls, result.samples)
        blocks = where / profiling.BLOCKS
        elf = job.image.path
        # The blocks are of all inferences, so costs are known only if all are parts of samples.
        modelled = None
        inside: tuple[inner.Sample, ...] = ()
        if core is not None and (not runs or len(order) == len(counted) * job.manifest.intervals):
            modelled = costs.of_run(core, job.board, elf, blocks, calls)
        if not runs:
            inside = inner.of_run(job.manifest.modules, profiling.inside(where), modelled)
    return replace(
        result,
        instructions=tuple(sum(row[0] for row in rows) for rows in counted),
        per_call=tuple(tuple(n for row in rows for n in row[1:]) for rows in counted),
        per_module=tuple(tuple(row[0] for row in rows) for rows in counted),
        modelled=modelled,
        inside=inside,
    )


def _execute(job: Job, where: Path, plugin: str = "") -> JobResult:
    with _started(job, where, plugin=plugin) as running:
        _count(job, 0)
        try:
            code = running.wait(job.limit, lambda size: _count(job, size))
        except HangError as error:
            raise _hang(job, running) from error
        if plugin:
            profiling.check_loaded(where, running.diagnostics)
        return _result(job, running, code)


def _started(
    job: Job, where: Path, *, halted: bool = False, plugin: str = ""
) -> AbstractContextManager[Process]:
    """The firmware as a process in ``where``. ``halted`` and ``plugin`` are as in
    ``qemu.command``."""
    if job.batch:
        (where / qemu.INPUT).write_bytes(job.batch.data)
    # An emulator may read an ELF in another way than the verifier, so it gets a file made from the
    # bytes that have been read.
    elf = job.image.path if job.board.is_host else job.image.written(where)
    command = qemu.command(job.board, elf, halted=halted, plugin=plugin)
    # An emulator always serves a debugger, so that the report of a hang has the location.
    return process.started(command, where, gdb=halted or not job.board.is_host)


def _count(job: Job, output_size: int) -> None:
    progress.count("samples", job.done(output_size), job.samples)


def _traced(job: Job) -> JobResult:
    with process.directory() as where, _started(job, where, halted=True) as running:
        traced = _trace(job, running)
        result = _result(job, running, _exit_code(job, running, traced))
    jobs.check_complete(job, traced.items)
    return replace(result, layers=traced.items)


def _trace(job: Job, running: Process) -> Followed[TracedLayer]:
    """The trace of a halted program, from its start to its end."""
    return tracing.follow(_halted(job, running), job.samples)


def _halted(job: Job, running: Process) -> tracing.HaltedProgram:
    return tracing.HaltedProgram(running.gdb, job.image, job.manifest, job.board.is_host, job.limit)


def _exit_code(job: Job, running: Process, traced: Followed[TracedLayer]) -> int:
    """The program's exit code, or the emulator's if it died before it could report one."""
    running.gdb.close()  # gdbserver remains until its debugger leaves
    try:
        code = running.wait(_END_SECONDS)
    except HangError as error:
        raise RunError(
            f"the debugger's connection failed after {len(traced.items)} layers: {traced.broken}",
            where=str(job.image.path),
        ) from error
    return code if traced.exit_code is None else traced.exit_code


def _hang(job: Job, running: Process) -> RunError:
    done = f"after {job.done(running.output_size())} of {job.samples} samples"
    place = "" if job.board.is_host else tracing.location(running.gdb, job.image)
    return faults.hang(job.limit, done, place, job.image.path)


def _result(job: Job, running: Process, code: int) -> JobResult:
    """The result of a program that has ended. Raises RunError unless all went well."""
    output = running.directory / qemu.OUTPUT
    data = output.read_bytes() if output.exists() else b""
    return jobs.result(job, code, running.console, running.diagnostics, data)
