"""``python -m scripts.bench measure``, ``check`` or ``render``: see the Makefile. ``other``
measures networks that nobody tuned for: see ``scripts.bench.other``."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from microgen.base.errors import MicrogenError, UsageError
from scripts.bench import check, matrix, pool, render, results
from scripts.bench.check import Difference, Report
from scripts.bench.matrix import Combination
from scripts.bench.other import command as other

OUT = Console(width=120, highlight=False, soft_wrap=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command. 0: done; 1: something is worse, or failed; 2: wrong arguments; 3: nothing
    is worse, but not everything was checked."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if given[:1] == ["other"]:
            return other.main(given[1:])
        asked = _parser().parse_args(given)
        if asked.command == "render":
            return _render(asked.docs)
        chosen = matrix.load().select(asked.network, asked.board, asked.optimize)
        if asked.command == "measure" and asked.optimize:
            raise UsageError(
                "is for check: options that share a firmware are measured together",
                where="--optimize",
            )
        command = _measure if asked.command == "measure" else _check
        return command(chosen, asked.processes, asked.docs)
    except MicrogenError as error:
        print(f"bench: {error}", file=sys.stderr)
        return error.exit_code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("command", choices=("measure", "check", "render", "other"))
    for name in ("network", "board", "optimize"):
        parser.add_argument(f"--{name}", action="append", default=[], help="only this; repeatable")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--docs", type=Path, default=render.DOCS, help="where the results are")
    return parser


def _measure(asked: Sequence[Combination], processes: int, docs: Path) -> int:
    """Measure, and write the results that could be measured in the places of the committed ones."""
    found = _measured(asked, processes)
    _name("not measured", found.missing)
    _name("failed", found.failed)
    if found.failed:
        return 1
    whole = results.load(docs / results.NAME).updated(found.results, matrix.load())
    (docs / results.NAME).write_text(results.text(whole), encoding="utf-8")
    new = len(found.results.results)
    kept = len(whole.results) - new
    OUT.print(
        f"{new} combinations measured, {len(found.missing)} could not be; {kept} are as before"
    )
    return _render(docs)


def _check(asked: Sequence[Combination], processes: int, docs: Path) -> int:
    """Measure, compare, and print the figures that are worse, better or not compared."""
    found = _measured(asked, processes)
    committed = results.load(docs / results.NAME)
    report = check.compare(committed, found.results, asked, {**found.missing, **found.failed})
    _show(report)
    return check.WORSE if found.failed else report.exit_code


def _render(docs: Path) -> int:
    written = render.write(results.load(docs / results.NAME), matrix.load(), docs)
    OUT.print(f"{len(written)} pages and pictures are written from {results.NAME}")
    return 0


def _measured(asked: Sequence[Combination], processes: int) -> pool.Measured:
    return pool.collected(matrix.load(), _told(asked, processes))


def _told(asked: Sequence[Combination], processes: int) -> Iterator[pool.Outcome]:
    """The outcomes; each is printed on standard error when it is there."""
    jobs = pool.jobs(matrix.load(), asked)
    for number, outcome in enumerate(pool.outcomes(jobs, processes), 1):
        job = outcome.job
        end = outcome.failed or outcome.missing or "measured"
        place = f"{number}/{len(jobs)} {job.network} {job.board}"
        print(f"{place} {','.join(job.optimize)}: {end}", file=sys.stderr, flush=True)
        yield outcome


def _show(report: Report) -> None:
    for note in report.notes:
        OUT.print(f"note: {note}")
    _table(f"worse by more than {check.TOLERANCE / 10} %", report.worse)
    _table("better: run `make bench` and commit", report.better)
    _name("not checked", report.unchecked)
    verdict = f"{len(report.worse)} figures are worse" if report.worse else "nothing is worse"
    OUT.print(f"{report.checked} combinations checked, {len(report.unchecked)} not: {verdict}")


def _table(title: str, differences: Sequence[Difference]) -> None:
    if not differences:
        return
    table = Table("network", "board", "optimize", "figure", "committed", "now", "", title=title)
    for d in differences:
        values = ("does not fit" if n is None else f"{n:,}" for n in (d.before, d.now))
        table.add_row(d.of.network, d.of.board, d.of.optimize, d.figure, *values, d.change)
    OUT.print(table)


def _name(what: str, reasons: Mapping[Combination, str]) -> None:
    """Print a line for each network and reason."""
    lines = Counter((of.network, reason) for of, reason in reasons.items())
    for (network, reason), count in lines.items():
        each = f"{count} combination{'s' if count > 1 else ''}"
        OUT.print(f"{what}: {network} ({each}): {reason}", markup=False)


if __name__ == "__main__":
    sys.exit(main())
