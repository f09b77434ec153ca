"""Runs firmware whose ``src/main.c`` may have been changed by the user.

Such a main passes inputs of its own to the models, so the calls of their run functions are profiled
and compared. The run has outputs only if main reads samples as the project's does.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from microgen.base.errors import RunError, UsageError
from microgen.graph.ir.graph import Array
from microgen.running import runner
from microgen.running.comparing import compare as comparing
from microgen.running.comparing.verdict import Verdict
from microgen.running.runner import application
from microgen.running.runner.remote import place
from microgen.running.runner.remote.address import Address


def check(
    inputs: Mapping[str, Array] | None,
    elf: Path,
    where: Address | None,
    *,
    profile: bool,
    compare: bool,
) -> None:
    """Raise UsageError for options that do not go together, InputError for samples that main does
    not read."""
    if where is not None and (profile or compare):
        raise UsageError(
            "is for --scope project, because calls of another main are followed in an emulator",
            where="--profile" if profile else "--compare",
            hint="leave out --on, or run the project's own src/main.c",
        )
    if inputs is not None:
        application.check_reads_samples(elf)


def run(
    project: Path,
    inputs: Mapping[str, Array] | None,
    elf: Path,
    where: Address | None,
    *,
    profile: bool,
    compare: bool,
    timeout: float,
) -> tuple[runner.JobResult, tuple[Verdict, ...]]:
    """The result of the run, and the verdicts on the calls of the models. Raises RunError if
    profiling or comparing was requested, but there is nothing to profile or to compare."""
    with place.opened(where, elf, timeout) as target:
        ran = runner.run(
            project,
            inputs,
            elf=elf,
            profile=profile,
            timeout=timeout,
            target=target,
            is_application=True,
        )
    if not compare:
        return ran, ()
    # A run of its own: breakpoints at every call would change the counts of the profile.
    inferences = runner.followed(project, inputs, elf=elf, timeout=timeout).items
    verdicts = comparing.compare_application(project, inferences)
    if not verdicts:
        raise RunError(
            f"no inference returned 0, the first one {inferences[0].status}",
            where=str(elf),
            hint="check how main calls the model",
        )
    return ran, verdicts
