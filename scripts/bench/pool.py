"""Measures many combinations in several processes."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field

from microgen.base.errors import MicrogenError, ToolError
from microgen.interface import api
from scripts.bench.matrix import ROOT, Combination, Matrix
from scripts.bench.measure import Done, Job, job
from scripts.bench.results import MeasuredNetwork, Results


@dataclass(frozen=True)
class Outcome:
    """A job's end: ``done``, or the reason in ``missing`` (a file or a program) or ``failed``."""

    job: Job
    done: Done | None = None
    missing: str = ""
    failed: str = ""

    @property
    def combinations(self) -> list[Combination]:
        """The combinations that the job measures."""
        names = (self.job.network, self.job.board)
        return [Combination(*names, optimize) for optimize in self.job.optimize]


@dataclass
class Measured:
    """New results, and for each combination without a result the reason."""

    results: Results = field(default_factory=Results)
    missing: dict[Combination, str] = field(default_factory=dict)
    failed: dict[Combination, str] = field(default_factory=dict)


def jobs(matrix: Matrix, asked: Sequence[Combination]) -> list[Job]:
    """The jobs of the combinations: one for each network and board."""
    found: dict[tuple[str, str], list[str]] = {}
    for c in asked:
        found.setdefault((c.network, c.board), []).append(c.optimize)
    return [
        Job(network, board, tuple(optimize), matrix.networks[network], matrix.boards[board])
        for (network, board), optimize in found.items()
    ]


def outcomes(asked: Sequence[Job], processes: int) -> Iterator[Outcome]:
    """The outcome of each job, in order."""
    if processes == 1:
        yield from map(_outcome, asked)
        return
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=fresh, initializer=_warm_up) as pool:
        yield from pool.map(_outcome, asked)


def collected(matrix: Matrix, found: Iterator[Outcome]) -> Measured:
    """All outcomes together."""
    measured = Measured()
    for outcome in found:
        if outcome.done:
            measured.results = measured.results.updated(_results(outcome, outcome.done), matrix)
        reasons = measured.failed if outcome.failed else measured.missing
        if reason := outcome.failed or outcome.missing:
            reasons.update(dict.fromkeys(outcome.combinations, reason))
    return measured


def _results(outcome: Outcome, done: Done) -> Results:
    products = max(sum(layer.macs for layer in result.layers) for result in done.results)
    network = {outcome.job.network: MeasuredNetwork(done.sha256, products)} if products else {}
    boards = {outcome.job.board: done.board}
    return Results(tools=done.tools, networks=network, boards=boards, results=done.results)


def _warm_up() -> None:
    """Import all modules, so that the first model's time of generation does not include imports."""
    api.compile_model(ROOT / "examples" / "digits" / "digits_int8.tflite", "native")


def _outcome(asked: Job) -> Outcome:
    """Runs in a process of the pool. Errors are returned as text, because not all can be sent."""
    if not asked.model.path.is_file():
        return Outcome(asked, missing=_absent(asked))
    try:
        return Outcome(asked, done=job(asked))
    except ToolError as error:
        return Outcome(asked, missing=str(error))
    except MicrogenError as error:
        return Outcome(asked, failed=str(error))


def _absent(asked: Job) -> str:
    return f"there is no {asked.model.path}: set MICROGEN_MODELS to the MLPerf Tiny models"
