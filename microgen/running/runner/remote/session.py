"""Runs of a firmware on a core that a debugger's server reaches."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest

from microgen.base.errors import RunError
from microgen.base.manifest import CallRecord, ModuleRecord
from microgen.base.output import progress
from microgen.running.runner import faults
from microgen.running.runner import job as jobs
from microgen.running.runner import trace as tracing
from microgen.running.runner.calls import EndError, Walker
from microgen.running.runner.gdb import GdbError
from microgen.running.runner.job import Cycles, Job, JobResult
from microgen.running.runner.remote.cycles import Counter, Missing, Stopwatch
from microgen.running.runner.remote.files import Files
from microgen.running.runner.remote.target import CHECK, RemoteTarget
from microgen.running.runner.trace import Followed, TracedLayer, Tracer

_START, _STOP = "TVMPlatformTimerStart", "TVMPlatformTimerStop"
_Row = list[list[int | None]]  # of a sample: each module's inference, and its calls
_UNKNOWN = "an inference took longer than the counter counts, or the counter stood still"
_SERVES = (
    "QEMU needs -semihosting-config enable=on,target=gdb; `microgen help docs/guides/hardware.md` "
    "has other servers"
)


def plain(job: Job, target: RemoteTarget) -> JobResult:
    """Run all samples. Cycles are counted if the core can. Raises RunError."""
    result, rows, counter = _timed(job, target, by_call=False)
    return replace(result, cycles=_cycles(counter, rows))


def profiled(job: Job, target: RemoteTarget) -> JobResult:
    """Run all samples as ``plain`` does, then again to count cycles by call, if the core can.

    The second run stops the core before and after each call, which costs some cycles, so the counts
    of whole inferences are the first run's.
    """
    result = plain(job, target)
    if result.cycles is None or result.cycles.counts is None:
        return result
    _, rows, _ = _timed(job, target, by_call=True)
    return replace(result, cycles=replace(result.cycles, per_call=_known(rows)))


def traced(job: Job, target: RemoteTarget) -> JobResult:
    """Run all samples, and read the results of every layer. Raises RunError."""
    files = _started(job, target)
    trace = _followed(job, target, files)
    result = _result(job, target, files, trace.exit_code or 0)
    # After the result, whose error says more if the firmware failed.
    jobs.check_complete(job, trace.items)
    return replace(result, layers=trace.items)


def until_failure(job: Job, target: RemoteTarget) -> tuple[TracedLayer, ...]:
    """The layers of a run that fails. Raises RunError."""
    return _followed(job, target, _started(job, target)).items


def _started(job: Job, target: RemoteTarget) -> Files:
    def grown(size: int) -> None:
        target.progress()
        progress.count("samples", job.done(size), job.samples)

    data = job.batch.data if job.batch else None
    files = Files(data, job.samples * job.sample_bytes, grown)
    target.start(files)
    return files


def _followed(job: Job, target: RemoteTarget, files: Files) -> Followed[TracedLayer]:
    layers: list[TracedLayer] = []
    with _said(job, target, files, layers):
        try:
            tracing.walk(Tracer(target, job.image, job.manifest), job.samples, layers)
        except EndError as end:
            return Followed(tuple(layers), end.exit_code)


def _ended(target: RemoteTarget) -> int:
    code = target.resume().exit_code
    if code is None:
        raise GdbError("the program stopped without a breakpoint")
    return code


def _timed(
    job: Job, target: RemoteTarget, *, by_call: bool
) -> tuple[JobResult, list[_Row], Counter | Missing]:
    """Run all samples; return the result, a row for each sample, and the counter."""
    files = _started(job, target)
    counter = target.counter()
    rows: list[_Row] = []
    with _said(job, target, files):
        if isinstance(counter, Counter):
            timer = _Timer(job, target, Stopwatch(counter, job.board.clock_hz))
            code = timer.run(rows, by_call=by_call)
        else:
            code = _ended(target)
    return _result(job, target, files, code), rows, counter


class _Timer(Walker):
    """Follows a program from inference to inference, or from call to call."""

    def __init__(self, job: Job, target: RemoteTarget, watch: Stopwatch) -> None:
        super().__init__(target, job.image.machine)
        self._job = job
        self._watch = watch

    def run(self, rows: list[_Row], *, by_call: bool) -> int:
        """The exit code of a run in which the cycles of each sample are added to ``rows``."""
        try:
            for _ in range(self._job.samples):
                modules = self._job.manifest.modules
                rows.append([self._inference(m, by_call=by_call) for m in modules])
            self.finish()
        except EndError as end:
            return end.exit_code

    def _inference(self, module: ModuleRecord, *, by_call: bool) -> list[int | None]:
        """The cycles of an inference, and of each of its calls. The first call's count includes
        each time that rows are fed."""
        calls = module.calls if by_call else ()
        intervals = [self._interval(calls[:1]) for _ in range(module.intervals - 1)]
        intervals.append(self._interval(calls))
        return [_sum(counts) for counts in zip_longest(*intervals, fillvalue=0)]

    def _interval(self, calls: Sequence[CallRecord]) -> list[int | None]:
        """The cycles from the return of one timer's function to the entry of the other, and of each
        call between them."""
        self._to(_START)
        self._return()
        start = self._watch.mark()
        parts = [self._call(call) for call in calls]
        self._to(_STOP)
        return [self._watch.since(start), *parts]

    def _call(self, call: CallRecord) -> int | None:
        self._to(call.function)
        start = self._watch.mark()
        self._return()
        return self._watch.since(start)

    def _to(self, function: str) -> None:
        self.run_to(self._job.image.address(function))

    def _return(self) -> None:
        self.run_to(self.return_address(self.registers()))


def _sum(counts: Sequence[int | None]) -> int | None:
    """The sum of counts, or None if one of them is None."""
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def _cycles(counter: Counter | Missing, rows: Sequence[_Row]) -> Cycles:
    if isinstance(counter, Missing):
        return Cycles(None, why=counter.why)
    known = _known(rows)
    if known is None:
        return Cycles(None, counter.name, _UNKNOWN)
    return Cycles(tuple(sum(one[0] for one in row) for row in known), counter.name)


def _known(rows: Sequence[_Row]) -> tuple[tuple[tuple[int, ...], ...], ...] | None:
    """The rows, or None if a count is not known."""
    known = tuple(tuple(tuple(n for n in one if n is not None) for one in row) for row in rows)
    sizes = [[len(one) for one in row] for row in rows]
    return known if sizes == [[len(one) for one in row] for row in known] else None


def _result(job: Job, target: RemoteTarget, files: Files, code: int) -> JobResult:
    if not files.opened and not files.console:
        what = "the firmware ended, and the server passed none of its semihosting calls on"
        raise RunError(what, where=target.where, hint=_SERVES)
    return jobs.result(job, code, files.console, "", bytes(files.results))


@contextlib.contextmanager
def _said(
    job: Job, target: RemoteTarget, files: Files, layers: list[TracedLayer] | None = None
) -> Iterator[None]:
    """Turn a hang, and a connection that ends, into RunError with the progress until then."""

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
