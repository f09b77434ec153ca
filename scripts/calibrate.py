"""Measures what kernels cost, for the tables in ``microgen/kernels/costs``.

    scripts/calibrate.py [SYMBOL ...] [--core CORE ...] [--jobs N] [--roundings | --samples]

Every kernel, or only those named, computes layers of many shapes on QEMU's board of each core, once
compiled for each layer's shape and once in its shared form. Coefficients of instructions, modelled
cycles and bytes of code are fitted to what the layers cost. Each line has the largest differences
of a kernel's fit.

With --roundings, what requantizations add to the costs of kernels is measured, so that one table is
enough for many kernels. With --samples, two layers of each kernel that has costs are measured, and
one of each that is measured as another: tests compare the costs with them. Needs the compilers and
QEMU that ``microgen doctor`` lists.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(CHECKOUT))

from microgen.kernels import cost  # noqa: E402
from microgen.target.cpu import CPUS, Feature  # noqa: E402
from scripts.calibration import fit, measure, roundings, samples, shapes  # noqa: E402
from scripts.calibration.measure import Case, Measured  # noqa: E402

TABLES = CHECKOUT / "microgen" / "kernels" / "costs"
VECTOR = ("four_", "vector", "window_")  # what the numbers begin with that only MVE's loops have
# Estimates that are further off are worth less than none: then the form is not written.
LIMIT = 0.3
MOST = 150  # layers of one firmware: the compiler has them all in one file
LAYER = 4000  # assumed bytes of a layer's code
# Bytes of flash and RAM for the layers of one firmware: constants and code; what is kept.
ROOM, SMALL_ROOM = (400_000, 100_000), (200_000, 2_600)

Job = tuple[str, bool, list[str], int]  # core, shared, kernels, number of the firmware


def main() -> None:
    """Measure, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("symbols", nargs="*", metavar="SYMBOL", help="kernels; all by default")
    parser.add_argument("--core", nargs="+", choices=cost.MEASURED, default=cost.MEASURED)
    parser.add_argument("--jobs", type=int, default=2, help="firmwares at a time (%(default)s)")
    few = "measure two layers of each kernel, for tests and for what flash is waited for"
    parser.add_argument("--samples", action="store_true", help=few)
    text = "measure what requantizations cost more than those of the kernels that are measured"
    parser.add_argument("--roundings", action="store_true", help=text)
    asked = parser.parse_args()
    if asked.roundings:
        _rounded(asked.core, asked.jobs)
    elif asked.samples:
        _sampled(asked.core, asked.symbols, asked.jobs)
    else:
        _calibrated(asked.core, asked.symbols, asked.jobs)


def _calibrated(cores: Sequence[str], symbols: Sequence[str], count: int) -> None:
    """Measure kernels on the cores, and write their tables."""
    jobs = list(_jobs(cores, symbols))
    with ProcessPoolExecutor(count) as pool:
        found = [row for rows in pool.map(_rows, jobs) for row in rows]
    by_form: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for row in found:
        by_form.setdefault((row["symbol"], row["core"], row["form"]), []).append(row)
    for (symbol, core, form), measured in sorted(by_form.items()):
        fitted = _fitted(measured)
        worst, line = _worst(measured, fitted)
        is_close = worst < LIMIT
        _write(symbol, core, form, fitted if is_close else None)
        print(f"{symbol:32} {core:11} {form:11} {line}{'' if is_close else '  not written'}")
    for core in cores:
        _agree(core, _largest(row for row in found if row["core"] == core))


def _rounded(cores: Sequence[str], count: int) -> None:
    """Measure what requantizations add on the cores, and write it."""
    jobs = [(core, form) for core in cores for form in (cost.SPECIALISED, cost.SHARED)]
    with ProcessPoolExecutor(count) as pool:
        for (core, form), found in zip(jobs, pool.map(roundings.measured, jobs), strict=True):
            roundings.write(core, form, found)
            print(f"{core:11} {form:11} {json.dumps(found, sort_keys=True)}", flush=True)


def _sampled(cores: Sequence[str], symbols: Sequence[str], count: int) -> None:
    """Measure the samples of the cores, and write them and what they say of waits for flash."""
    jobs = [(core, shared, list(symbols)) for core in cores for shared in (False, True)]
    list(samples.wanted(cores[0], cost.SPECIALISED))  # so that processes know what fits
    with ProcessPoolExecutor(count) as pool:
        for (core, shared, _), found in zip(jobs, pool.map(samples.measured, jobs), strict=True):
            form = cost.SHARED if shared else cost.SPECIALISED
            for symbol, rows in found.items():
                _wait(symbol, core, form, rows)
            samples.write(core, form, found)
            print(f"{core:11} {form:11} {len(found)} kernels", flush=True)


def _wait(symbol: str, core: str, form: str, rows: Mapping[str, Sequence[int]]) -> None:
    """Puts the lines of flash for which a kernel's samples wait into its table, if it has one."""
    path, table = _path(symbol), _table(symbol)
    if form in table.get(core, {}):
        table[core][form] |= samples.waits(rows)
        path.write_text(f"{json.dumps(table, indent=1, sort_keys=True)}\n", encoding="utf-8")


def _jobs(cores: Sequence[str], symbols: Sequence[str]) -> Iterator[Job]:
    for core in cores:
        count = len(_parts(core, symbols))
        for shared in (False, True):
            yield from ((core, shared, list(symbols), part) for part in range(count))


def _parts(core: str, symbols: Sequence[str]) -> list[list[Case]]:
    """The cases of each firmware. On microbit there is no room for inputs of both dtypes."""
    cases = measure.cases(shapes.FIT, CPUS[core], symbols)
    if measure.BOARDS[core] != "microbit":
        return list(_split(cases, ROOM))
    cases = [case for case in cases if measure.small(case)]
    floats = [case for case in cases if case.kind == "f32"]
    integers = [case for case in cases if case.kind != "f32"]
    return [*_split(integers, SMALL_ROOM), *_split(floats, SMALL_ROOM)]


def _split(cases: Sequence[Case], room: tuple[int, int]) -> Iterator[list[Case]]:
    """The cases in parts that fit into the board's memories."""
    part: list[Case] = []
    flash: dict[str, int] = {}
    ram = 0
    for case in cases:
        constants, kept = measure.constants(case) | {case.name: LAYER}, measure.kept(case)
        if len(part) == MOST or sum((flash | constants).values()) > room[0] or ram + kept > room[1]:
            yield part
            part, flash, ram = [], {}, 0
        part.append(case)
        flash, ram = flash | constants, ram + kept
    if part:
        yield part


def _rows(job: Job) -> list[dict[str, Any]]:
    """What the layers of one firmware cost, as plain data."""
    core, shared, symbols, part = job
    cases = _parts(core, symbols)[part]
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "calibration"
        found = measure.measure(cases, measure.BOARDS[core], project, shared=shared)
    form = cost.SHARED if shared else cost.SPECIALISED
    return [{"core": core, "form": form, **_row(each)} for each in found]


def _row(found: Measured) -> dict[str, Any]:
    kernel = found.case.kernel
    work = kernel.work(found.node, found.graph)
    if Feature.MVE not in kernel.needs:
        work = {name: n for name, n in work.items() if not name.startswith(VECTOR)}
    return {
        "symbol": kernel.symbol,
        "name": found.case.name,
        "work": dict(work),
        "instructions": found.instructions,
        "cycles": found.cycles,
        "code_bytes": found.code_bytes,
        "shared_bytes": found.shared_bytes,
        "cores": dict(found.cores),
    }


def _fitted(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    works = [row["work"] for row in rows]
    has = [{name: int(n > 0) for name, n in work.items()} for work in works]
    found: dict[str, Any] = {
        "instructions": fit.fitted(works, [row["instructions"] for row in rows]),
        "cycles": fit.fitted(works, [row["cycles"] for row in rows]),
        "code_bytes": fit.fitted(has, [row["code_bytes"] for row in rows]),
        "unseen": [name for name in works[0] if not any(work[name] for work in works)],
    }
    shared = max(row["shared_bytes"] for row in rows)
    common = {"shared_bytes": shared, "cores": _largest(rows)}
    return {**found, **{name: value for name, value in common.items() if value}}


def _largest(rows: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """The functions that kernels may share, and the bytes of each: those of its largest copy."""
    found: dict[str, int] = {}
    for row in rows:
        for name, nbytes in row["cores"].items():
            found[name] = max(nbytes, found.get(name, 0))
    return found


def _worst(rows: Sequence[Mapping[str, Any]], found: Mapping[str, Any]) -> tuple[float, str]:
    """The largest relative error of instructions and cycles, and a line with all errors."""
    parts, largest = [f"{len(rows):2} layers"], []
    for name in ("instructions", "cycles", "code_bytes"):
        works = [row["work"] for row in rows]
        if name == "code_bytes":
            works = [{key: int(n > 0) for key, n in work.items()} for work in works]
        errors = fit.errors(found[name], works, [row[name] for row in rows])
        worst = int(abs(errors).argmax())
        largest.append(abs(errors[worst]))
        layer = rows[worst]["name"].partition("/")[2]
        parts.append(f"{name} {100 * errors[worst]:+5.1f} % ({layer})")
    return max(largest[:2]), "  ".join(parts)


def _path(symbol: str) -> Path:
    return TABLES / f"{symbol.removeprefix('mg_')}.json"


def _table(symbol: str) -> dict[str, Any]:
    """The kernel's table, or an empty one."""
    path = _path(symbol)
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return found


def _write(symbol: str, core: str, form: str, found: Mapping[str, Any] | None) -> None:
    """Puts a form's coefficients into the kernel's table, or removes those that it has."""
    path, table = _path(symbol), _table(symbol)
    forms = table.setdefault(core, {})
    before = forms.pop(form, {})
    if found is not None:
        waits = {name: before[name] for name in ("waited", "followed") if name in before}
        forms[form] = {**found, **waits}
    if any(table.values()):
        path.write_text(f"{json.dumps(table, indent=1, sort_keys=True)}\n", encoding="utf-8")
    else:
        path.unlink(missing_ok=True)


def _agree(core: str, sizes: Mapping[str, int]) -> None:
    """Gives each of these functions the same bytes in the tables of all kernels that may share it,
    as the scheduler has to count it once."""
    for path in TABLES.glob("*.json"):
        table = json.loads(path.read_text(encoding="utf-8"))
        known = [form["cores"] for form in table.get(core, {}).values() if "cores" in form]
        for cores in known:
            cores.update({name: n for name, n in sizes.items() if name in cores})
        if known:
            path.write_text(f"{json.dumps(table, indent=1, sort_keys=True)}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
