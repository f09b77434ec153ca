"""Runs of a firmware on a core that a debugger's server reaches."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace

from microgen.errors import RunError
from microgen.output import progress
from microgen.runner import faults, samples
from microgen.runner import job as jobs
from microgen.runner import trace as tracing
from microgen.runner.calls import EndError, Walker
from microgen.runner.gdb import GdbError
from microgen.runner.image import Image
from microgen.runner.job import Cycles, Job, RunResult
from microgen.runner.remote.cycles import Counter, Missing, Stopwatch
from microgen.runner.remote.files import Files
from microgen.runner.remote.target import CHECK, Target
from microgen.runner.trace import Layer, Trace

_START, _STOP = "TVMPlatformTimerStart", "TVMPlatformTimerStop"
_UNKNOWN = "an inference took longer than the counter counts, or the counter stood still"
_SERVES = "QEMU needs -semihosting-config enable=on,target=gdb; docs/hardware.md has other servers"


def plain(job: Job, target: Target) -> RunResult:
    """Run all samples. Cycles are counted if the core can. Raises RunError."""
    files = _started(job, target)
    counter = target.counter()
    counts: list[int | None] = []
    with _said(job, target, files):
        if isinstance(counter, Counter):
            code = _counted(job, target, Stopwatch(counter, job.board.clock_hz), counts)
        else:
            code = _ended(target)
    return replace(_result(job, target, files, code), cycles=_cycles(job, counter, counts))


def traced(job: Job, target: Target) -> RunResult:
    """Run all samples, and read every layer. Raises RunError."""
    files = _started(job, target)
    found = _followed(job, target, files)
    result = _result(job, target, files, found.exit_code or 0)
    jobs.check_complete(job, found.layers)
    return replace(result, layers=found.layers)


def until_failure(job: Job, target: Target) -> tuple[Layer, ...]:
    """The layers of a run that fails. Raises RunError."""
    return _followed(job, target, _started(job, target)).layers


def _started(job: Job, target: Target) -> Files:
    def grown(size: int) -> None:
        target.progress()
        progress.count("samples", job.done(size), job.samples)

    room = job.samples * sum(port.nbytes for port in samples.outputs(job.manifest))
    files = Files(job.batch.data if job.batch else None, room, grown)
    target.start(files)
    return files


def _followed(job: Job, target: Target, files: Files) -> Trace:
    layers: list[Layer] = []
    with _said(job, target, files, layers):
        return tracing.walk(target, job.image, job.manifest, samples=job.samples, layers=layers)


def _ended(target: Target) -> int:
    code = target.resume().exit_code
    if code is None:
        raise GdbError("the program stopped without a breakpoint")
    return code


def _counted(job: Job, target: Target, watch: Stopwatch, counts: list[int | None]) -> int:
    """The exit code of a run in which each inference's cycles are added to ``counts``."""
    walker = _Timer(target, job.image)
    try:
        for _ in range(job.samples):
            parts = [walker.inference(watch) for _ in job.manifest.modules]
            counts.append(None if None in parts else sum(part or 0 for part in parts))
        walker.finish()
    except EndError as end:
        return end.exit_code


class _Timer(Walker):
    """Follows a program from inference to inference."""

    def __init__(self, target: Target, image: Image) -> None:
        super().__init__(target, image.machine)
        self._places = [image.address(name) for name in (_START, _STOP)]

    def inference(self, watch: Stopwatch) -> int | None:
        """The cycles from the return of one timer's function to the entry of the other."""
        start, stop = self._places
        self.run_to(start)
        self.run_to(self.return_address(self.registers()))
        watch.start()
        self.run_to(stop)
        return watch.stop()


def _cycles(job: Job, counter: Counter | Missing, counts: list[int | None]) -> Cycles:
    if isinstance(counter, Missing):
        return Cycles(None, why=counter.why)
    known = tuple(count for count in counts if count is not None)
    if len(known) != job.samples:
        return Cycles(None, counter.name, _UNKNOWN)
    return Cycles(known, counter.name)


def _result(job: Job, target: Target, files: Files, code: int) -> RunResult:
    if not files.opened and not files.console:
        what = "the firmware ended, and the server passed none of its semihosting calls on"
        raise RunError(what, where=target.where, hint=_SERVES)
    return jobs.result(job, code, files.console, "", bytes(files.results))


@contextlib.contextmanager
def _said(
    job: Job, target: Target, files: Files, layers: list[Layer] | None = None
) -> Iterator[None]:
    """Turn a hang, and a connection that ends, into RunError with what was reached until then."""

    def done() -> str:
        if layers is not None:
            return tracing.progressed(layers, job.samples, job.manifest)
        return f"after {job.done(len(files.results))} of {job.samples} samples"

    try:
        yield
    except TimeoutError as error:
        raise faults.hang(target.limit, done(), target.stop(), job.image.path) from error
    except GdbError as error:
        if not files.opened and not files.console:
            what = f"{error}; it had passed no semihosting call on"
            raise RunError(what, where=target.where, hint=f"{CHECK}; {_SERVES}") from error
        raise GdbError(f"{error}, {done()}") from error
