"""The arguments of ``python -m scripts.bench other``, and what it prints."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from rich.console import Console

from microgen.base.errors import UsageError
from scripts.bench import matrix
from scripts.bench.check import NOT_ALL_CHECKED, PASSED, WORSE
from scripts.bench.networks import table
from scripts.bench.other import report, stored
from scripts.bench.other.measuring import BOARDS, MORE_BOARDS, Asked, Found, outcomes
from scripts.bench.other.report import Compared
from scripts.bench.other.stored import Stored
from scripts.bench.tflm import sources

OUT = Console(width=200, highlight=False, soft_wrap=True)


def main(arguments: Sequence[str]) -> int:
    """Measure and compare. 0: no ratio is worse than committed; 1: one is, or something failed; 3:
    nothing is worse, but not everything was measured. Raises UsageError for wrong arguments."""
    asked = _parser().parse_args(arguments)
    known = stored.load()
    if asked.write_models:
        return _written(asked.write_models, _names(asked.only, known, files=False))
    if asked.stored:
        names = _names(asked.only, known, files=asked.files)
        return _shown(list(stored.found(known, names)), known, asked)
    if asked.peer:
        sources.folder()
    names = _names(asked.only, known, files=asked.files)
    jobs = list(_jobs(names, asked, known))
    found = []
    for one in _told(jobs, asked.processes):
        found.append(one)
        if (asked.peer or asked.write) and not one.missing and not one.failed:
            known = _ordered(stored.updated(known, one))
            # Each is kept, so that a run that ends early was not for nothing.
            stored.FILE.write_text(stored.text(known), encoding="utf-8")
    return _shown(found, known, asked)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="bench other", description=__doc__, allow_abbrev=False)
    parser.add_argument("--only", action="append", default=[], help="this network; repeatable")
    parser.add_argument(
        "--core", action="append", choices=[*BOARDS, *MORE_BOARDS], help="only this; repeatable"
    )
    parser.add_argument(
        "--files", action="store_true", help="also the networks of $MICROGEN_MODELS"
    )
    parser.add_argument("--layers", action="store_true", help="a table by kind of layer")
    parser.add_argument("--networks", action="store_true", help="a table of all networks")
    parser.add_argument(
        "--stored", action="store_true", help="measure nothing, show what is committed"
    )
    parser.add_argument("--write", action="store_true", help="commit our figures")
    parser.add_argument(
        "--peer", action="store_true", help=f"measure the peer, built from ${sources.VARIABLE}"
    )
    parser.add_argument("--write-models", type=Path, help="only write the .tflite files there")
    parser.add_argument("--processes", type=int, default=2)
    return parser


def _names(only: Sequence[str], known: Mapping[str, Stored], *, files: bool) -> list[str]:
    """The networks: those asked for, or all that are made; with ``files`` also the others."""
    others = [name for name, one in known.items() if one.is_file]
    for name in only:
        if name not in table.ROWS and name not in others:
            hint = "see scripts/bench/networks/table.py"
            raise UsageError(f"there is no network {name!r}", where="--only", hint=hint)
    return list(only) or [*table.ROWS, *(others if files else ())]


def _jobs(
    names: Sequence[str], asked: argparse.Namespace, known: Mapping[str, Stored]
) -> Iterator[Asked]:
    for name in names:
        for core in asked.core or list(BOARDS):
            if name in table.ROWS:
                kind, content = table.ROWS[name].kind, table.model(name)
                yield Asked(name, core, kind, content, is_peer=asked.peer)
            else:
                path = matrix.models_folder() / name
                yield Asked(name, core, known[name].kind, path=path, is_peer=asked.peer)


def _told(jobs: Sequence[Asked], processes: int) -> Iterator[Found]:
    """The outcomes; each is printed on standard error when it is there."""
    for number, found in enumerate(outcomes(jobs, processes), 1):
        count = found.peer.instructions if found.peer else found.instructions
        end = found.failed or found.missing or f"{count:,} instructions"
        asked = found.asked
        print(f"{number}/{len(jobs)} {asked.name} {asked.core}: {end}", file=sys.stderr, flush=True)
        yield found


def _ordered(known: Mapping[str, Stored]) -> dict[str, Stored]:
    """The networks in the order of the table, then files; without those that are no longer made."""
    made = {name: known[name] for name in table.ROWS if name in known}
    return made | {name: one for name, one in known.items() if one.is_file}


def _shown(found: Sequence[Found], known: Mapping[str, Stored], asked: argparse.Namespace) -> int:
    rows = [] if asked.peer else report.compared(found, known)
    if rows:
        OUT.print(report.summary(rows), markup=False)
    if asked.networks:
        OUT.print(report.networks(rows), markup=False)
    if asked.layers:
        OUT.print(report.layers(rows), markup=False)
    worse = [row for row in rows if row.is_worse] if not asked.write else []
    for row in worse:
        OUT.print(_worse(row), markup=False)
    left = [one for one in found if one.missing or one.failed]
    for one in left:
        said = one.missing or one.failed
        OUT.print(f"{one.asked.name} on {one.asked.core}: {said}", markup=False)
    verdict = f"{len(worse)} are worse" if worse else "nothing is worse"
    OUT.print(f"{len(found) - len(left)} measured, {len(left)} not: {verdict}")
    if worse or any(one.failed for one in left):
        return WORSE
    return NOT_ALL_CHECKED if left else PASSED


def _worse(row: Compared) -> str:
    ours = row.core.ours
    assert ours is not None
    pairs = (
        ("instructions", ours.instructions, row.found.instructions),
        ("arena + I/O at speed", ours.arena, row.found.arena),
        ("arena + I/O at balanced", ours.balanced, row.found.balanced),
    )
    said = (f"{what} {before:,} -> {now:,}" for what, before, now in pairs if now > before)
    return f"worse: {row.name}: {', '.join(said)}"


def _written(folder: Path, names: Sequence[str]) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / f"{name}.tflite").write_bytes(table.model(name))
    OUT.print(f"{len(names)} networks are written to {folder}")
    return PASSED
