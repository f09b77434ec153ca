"""A run and its result, whatever runs the firmware."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from microgen.base import manifest as manifests
from microgen.base.errors import RunError
from microgen.base.manifest import Manifest
from microgen.graph.ir.graph import Array
from microgen.running.runner import faults, image, port_names, samples
from microgen.running.runner.costs import RunCosts
from microgen.running.runner.image import Image
from microgen.running.runner.inside import Sample
from microgen.running.runner.samples import Given
from microgen.running.runner.trace import TracedLayer
from microgen.target import projects
from microgen.target.board import Board


@dataclass(frozen=True, slots=True)
class Cycles:
    """The core's clock cycles of each sample over all models, between the same two places as
    ``RunResult.instructions``. ``counter`` names the register that counted them. ``counts`` is
    None if they are not known, for the reason ``why``. If profiled and known, ``per_call`` has for
    each sample and each model, in order, the cycles of the inference and of each operator call,
    from a run in which the core was stopped before and after every call."""

    counts: tuple[int, ...] | None
    counter: str = ""
    why: str = ""
    per_call: tuple[tuple[tuple[int, ...], ...], ...] | None = None

    def __str__(self) -> str:
        if self.counts is None:
            return f"cycles per inference: n/a ({self.why})"
        least, most = min(self.counts), max(self.counts)
        several = f"{least:,} to {most:,}" if least != most else f"{most:,}"
        return f"cycles per inference: {several} (by {self.counter})"

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        counts = None if self.counts is None else list(self.counts)
        rows = self.per_call and [[n for one in row for n in one[1:]] for row in self.per_call]
        return {"counts": counts, "counter": self.counter, "why": self.why, "per_call": rows}


@dataclass(frozen=True, slots=True)
class JobResult:
    """The result of a run.

    ``outputs`` are by the model's tensor name, in the model's order. With several models each name
    begins with the module's, see ``port_names.outputs``. They have the inputs' form
    (``sample_axes``), and are empty for a run without inputs. ``console`` is the text that the
    firmware printed, and ``status`` the value that the model returned (0). ``stack`` is the largest
    number of bytes of stack in use, found by painting the stack at start-up (0 on the host, which
    has no painted stack).

    ``instructions``: retired instructions of each sample over all models, from the first after the
    return of TVMPlatformTimerStart to the last before the entry of TVMPlatformTimerStop.
    ``per_module`` has the counts of each model, in order. ``per_call`` has for each sample the
    count of every operator call, model after model, including everything that the operator calls.
    The other instructions are the runner's. All are None unless profiled. ``layers``: every call's
    output, sample by sample; None unless traced. ``modelled``: modelled cycles and bytes read from
    flash; None unless profiled on a core that is modelled. ``cycles`` is None unless the firmware
    ran on a core that a debugger's server reaches. ``inside``: for each sample the counts of layers
    that operators compute by calls of functions; empty unless the project's main is profiled.
    """

    outputs: dict[str, Array]
    console: str
    status: int
    samples: int
    stack: int
    instructions: tuple[int, ...] | None = None
    per_call: tuple[tuple[int, ...], ...] | None = None
    per_module: tuple[tuple[int, ...], ...] | None = None
    layers: tuple[TracedLayer, ...] | None = None
    modelled: RunCosts | None = None
    cycles: Cycles | None = None
    inside: tuple[Sample, ...] = ()


@dataclass(frozen=True, slots=True)
class Job:
    """A run: the project's manifest and board, its firmware, and the samples, which are None for a
    run without samples. After ``limit`` seconds without progress the firmware is considered hung.
    With ``is_application`` the firmware may have another main than the project's."""

    manifest: Manifest
    board: Board
    image: Image
    batch: Given | None
    limit: float
    is_application: bool = False

    @property
    def samples(self) -> int:
        """The number of inferences that the firmware will run: one, on zeros, without inputs."""
        return self.batch.count if self.batch else 1

    def done(self, output_size: int) -> int:
        """The number of samples in ``output_size`` bytes of output."""
        return output_size // self.sample_bytes

    @property
    def sample_bytes(self) -> int:
        """The bytes of all outputs of one sample."""
        return sum(port.nbytes for port in port_names.outputs(self.manifest))


def of(
    project: Path,
    inputs: Mapping[str, Array] | None,
    elf: Path,
    timeout: float,
    *,
    is_application: bool = False,
) -> Job:
    """The run of a project's ``elf``. Raises InputError, ProjectError and BoardError."""
    record = manifests.load(project)
    batch = None if inputs is None else samples.given(record, inputs)
    board = projects.of_project(record.board)
    return Job(record, board, image.load(elf), batch, timeout, is_application)


def result(job: Job, code: int, console: str, diagnostics: str, output: bytes) -> JobResult:
    """The result of firmware that has ended with exit code ``code`` after it wrote ``output``.

    Raises RunError unless all went well.
    """
    line = faults.status_line(console)
    if job.is_application and code == 0 and line is None:
        # Such a main does not report the number of its samples. It has outputs if it wrote the
        # outputs of all samples.
        is_whole = job.batch is not None and len(output) == job.samples * job.sample_bytes
        if not is_whole:
            return JobResult({}, console, 0, 0, 0)
        line = (0, job.samples, 0)
    if code != 0 or line is None:
        raise faults.failure(code, console, diagnostics, job.image)
    status, count, stack = line
    return JobResult(_outputs(job, output, count), console, status, count, stack)


def check_complete(job: Job, layers: tuple[TracedLayer, ...]) -> None:
    """Raise RunError unless all layers have been read."""
    expected = job.samples * job.manifest.seen_count
    if len(layers) != expected:
        raise RunError(
            f"the program ended after {len(layers)} of {expected} layers",
            where=str(job.image.path),
            hint="run `microgen verify`: this is not the program that was planned",
        )


def _outputs(job: Job, output: bytes, count: int) -> dict[str, Array]:
    if job.batch is None:
        return {}
    expected = job.samples * job.sample_bytes
    if count != job.samples or len(output) != expected:
        raise RunError(
            f"the firmware ran {count} of {job.samples} samples and wrote {len(output)} bytes of "
            f"output, expected {expected}",
            where=str(job.image.path),
        )
    return samples.unpack(port_names.outputs(job.manifest), output, job.batch.form)
