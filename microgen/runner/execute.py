"""The three ways to run the firmware: plainly, counting instructions, and reading layers."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from microgen import manifest as manifests
from microgen.errors import RunError, ToolError
from microgen.ir.graph import Array
from microgen.manifest import Manifest
from microgen.output import progress
from microgen.runner import faults, image, process, qemu, samples
from microgen.runner import profile as profiling
from microgen.runner import trace as tracing
from microgen.runner.image import Image
from microgen.runner.process import HangError, Process
from microgen.runner.samples import Batch
from microgen.runner.trace import Layer, Trace
from microgen.target import projects
from microgen.target.board import Board

_END_SECONDS = 5.0
ELF = Path("build") / "firmware.elf"


@dataclass(frozen=True, slots=True)
class RunResult:
    """The result of a run.

    ``outputs`` are by the model's tensor name, in the model's order. With several models each name
    begins with the module's, see ``samples.outputs``. They have a leading axis of N samples if the
    inputs had one, and are empty for a run without inputs. ``console`` is the text that the
    firmware printed, and ``status`` the value that the model returned (0). ``stack`` is the largest
    number of bytes of stack in use, found by painting the stack at start-up (0 on the host, which
    has no painted stack).

    ``instructions``: retired instructions of each sample over all models, from the first after the
    return of TVMPlatformTimerStart to the last before the entry of TVMPlatformTimerStop.
    ``per_module`` has the counts of each model, in order. ``per_call`` has for each sample the
    count of every operator call, model after model, including everything that the operator calls.
    The other instructions are the runner's. All are None unless profiled. ``layers``: every call's
    output, sample by sample; None unless traced.
    """

    outputs: dict[str, Array]
    console: str
    status: int
    samples: int
    stack: int
    instructions: tuple[int, ...] | None = None
    per_call: tuple[tuple[int, ...], ...] | None = None
    per_module: tuple[tuple[int, ...], ...] | None = None
    layers: tuple[Layer, ...] | None = None


@dataclass(frozen=True, slots=True)
class _Job:
    manifest: Manifest
    board: Board
    image: Image
    batch: Batch | None
    limit: float

    @property
    def samples(self) -> int:
        """The number of inferences that the firmware will run: one, on zeros, without inputs."""
        return self.batch.count if self.batch else 1

    def done(self, output_size: int) -> int:
        """The number of samples in ``output_size`` bytes of output."""
        return output_size // sum(port.nbytes for port in samples.outputs(self.manifest))


def run(
    project: Path,
    inputs: Mapping[str, Array] | None = None,
    *,
    elf: Path | None = None,
    profile: bool = False,
    trace: bool = False,
    timeout: float = 60.0,
) -> RunResult:
    """Run a built project's firmware on samples, all in one process. Without ``inputs``, run it on
    one sample of zeros.

    ``inputs``: one array per input (see ``samples.pack``). ``elf`` replaces the project's own ELF.
    ``timeout``: the firmware is considered hung after so many seconds without a finished sample, or
    when traced without a finished layer. Instructions and layers need separate runs.

    Raises InputError if the samples do not fit the model, ToolError if a program that is needed
    is missing, ProjectError if there is no firmware, RunError if it faults, hangs or fails.
    """
    job = _job(project, inputs, elf or project / ELF, timeout)
    result = _profiled(job) if profile else _plain(job)
    return replace(result, layers=_traced(job).layers) if trace else result


def _job(project: Path, inputs: Mapping[str, Array] | None, elf: Path, timeout: float) -> _Job:
    manifest = manifests.load(project)
    batch = None if inputs is None else samples.batch(manifest, inputs)
    return _Job(manifest, projects.of_project(manifest.board), image.load(elf), batch, timeout)


def until_failure(
    project: Path, inputs: Mapping[str, Array] | None, *, elf: Path, timeout: float = 60.0
) -> tuple[Layer, ...]:
    """The layers of a run that fails, up to the call that returned a status other than 0, or up to
    the last call before the failure. Raises as ``run`` does before the program ends."""
    job = _job(project, inputs, elf, timeout)
    with process.directory() as where, _followed(job, where) as (_, traced):
        return traced.layers


def _plain(job: _Job) -> RunResult:
    with process.directory() as where:
        return _execute(job, where)


def _profiled(job: _Job) -> RunResult:
    if job.board.qemu is None:
        raise ToolError(
            f"instructions are counted by an emulator, and board {job.board.name} has none",
            hint="generate for another board, or run without --profile",
        )
    with process.directory() as where:
        plugin = profiling.prepare(where, job.image, job.manifest, job.board.qemu.system)
        result = _execute(job, where, plugin)
        calls = [len(module.calls) for module in job.manifest.modules]
        counted = profiling.counts(where, calls, result.samples)
    return replace(
        result,
        instructions=tuple(sum(row[0] for row in rows) for rows in counted),
        per_call=tuple(tuple(n for row in rows for n in row[1:]) for rows in counted),
        per_module=tuple(tuple(row[0] for row in rows) for rows in counted),
    )


def _execute(job: _Job, where: Path, plugin: str = "") -> RunResult:
    _write_input(job, where)
    command = qemu.command(job.board, job.image.path, plugin=plugin)
    with process.started(command, where, gdb=not job.board.is_host) as running:
        _count(job, 0)
        try:
            code = running.wait(job.limit, lambda size: _count(job, size))
        except HangError as error:
            raise _hang(job, running) from error
        if plugin:
            profiling.check_loaded(where, running.diagnostics)
        return _result(job, running, code)


def _count(job: _Job, output_size: int) -> None:
    progress.count("samples", job.done(output_size), job.samples)


def _traced(job: _Job) -> RunResult:
    with process.directory() as where, _followed(job, where) as (running, traced):
        result = _result(job, running, _exit_code(job, running, traced))
    _check_complete(job, traced.layers)
    return replace(result, layers=traced.layers)


@contextlib.contextmanager
def _followed(job: _Job, where: Path) -> Iterator[tuple[Process, Trace]]:
    """A program, and its trace up to its end."""
    _write_input(job, where)
    command = qemu.command(job.board, job.image.path, halted=True)
    with process.started(command, where, gdb=True) as running:
        traced = tracing.follow(
            running.gdb,
            job.image,
            job.manifest,
            samples=job.samples,
            relocated=job.board.is_host,
            limit=job.limit,
        )
        yield running, traced


def _exit_code(job: _Job, running: Process, traced: Trace) -> int:
    """The program's exit code, or the emulator's if it died before it could report one."""
    running.gdb.close()  # gdbserver remains until its debugger leaves
    try:
        code = running.wait(_END_SECONDS)
    except HangError as error:
        raise RunError(
            f"the debugger's connection failed after {len(traced.layers)} layers: {traced.broken}",
            where=str(job.image.path),
        ) from error
    return code if traced.exit_code is None else traced.exit_code


def _check_complete(job: _Job, layers: tuple[Layer, ...]) -> None:
    expected = job.samples * job.manifest.call_count
    if len(layers) != expected:
        raise RunError(
            f"the program ended after {len(layers)} of {expected} layers",
            where=str(job.image.path),
            hint="run `microgen verify`: this is not the program that was planned",
        )


def _write_input(job: _Job, where: Path) -> None:
    if job.batch:
        (where / qemu.INPUT).write_bytes(job.batch.data)


def _hang(job: _Job, running: Process) -> RunError:
    done = f"after {job.done(running.output_size())} of {job.samples} samples"
    place = "" if job.board.is_host else tracing.location(running.gdb, job.image)
    return faults.hang(job.limit, done, place, job.image.path)


def _result(job: _Job, running: Process, code: int) -> RunResult:
    """The result of a program that has ended. Raises RunError unless all went well."""
    line = faults.status_line(running.console)
    if code != 0 or line is None:
        raise faults.failure(code, running.console, running.diagnostics, job.image)
    status, count, stack = line
    return RunResult(_outputs(job, running, count), running.console, status, count, stack)


def _outputs(job: _Job, running: Process, count: int) -> dict[str, Array]:
    if job.batch is None:
        return {}
    ports = samples.outputs(job.manifest)
    found, expected = running.output_size(), job.samples * sum(port.nbytes for port in ports)
    if count != job.samples or found != expected:
        raise RunError(
            f"the firmware ran {count} of {job.samples} samples and wrote {found} bytes of "
            f"output, expected {expected}",
            where=str(job.image.path),
        )
    data = (running.directory / qemu.OUTPUT).read_bytes()
    return samples.unpack(ports, data, stacked=job.batch.stacked)
