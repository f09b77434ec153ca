"""The costs of kernels: coefficients of work, fitted to measured layers of many shapes.

Every kernel computes its layers on QEMU's board of each core, once compiled for each layer's shape
and once in its shared form. Coefficients are of instructions, modelled cycles and bytes of code."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from microgen.kernels import cost, registry
from microgen.kernels.base import Implementation
from microgen.kernels.measured import COSTS
from microgen.target.cpu import CPUS, Feature
from scripts.measuring import fit, layer_costs, shapes, tables
from scripts.measuring.layer_costs import Case, Measured

VECTOR = ("four_", "vector", "window_")  # prefixes of the numbers that only MVE's loops have
# A wrong estimate is worse than none, so a form with a larger error is not written.
LIMIT = 0.3
MOST = 150  # layers of one firmware: the compiler has them all in one file
LAYER = 4000  # assumed bytes of a layer's code
# Bytes of flash and RAM for the layers of one firmware: constants and code; what is kept.
ROOM, SMALL_ROOM = (400_000, 100_000), (200_000, 2_600)

Job = tuple[str, bool, Sequence[str], int]  # core, shared, kernels, number of the firmware


def missing(core: str) -> list[str]:
    """The kernels that have no costs on a core in a form, although others can compute one of the
    same layers, so that there is a choice."""
    return [
        kernel.symbol
        for op, its_layers in shapes.FIT.items()
        for kernel in registry()[op]
        if _lacks_costs(kernel, core)
        and any(
            layer_costs.fits(replace(case, kernel=other))
            for case in layer_costs.fitting_on(core, kernel, its_layers)
            for other in registry()[op]
            if other.needs <= CPUS[core].features and other.symbol != kernel.symbol
        )
    ]


def _lacks_costs(kernel: Implementation, core: str) -> bool:
    has_own_rule = kernel.cost is not None or kernel.measured_as is not None
    known = cost.table(kernel.symbol).get(core, {})
    is_on_core = kernel.needs <= CPUS[core].features
    return is_on_core and not has_own_rule and not set(cost.FORMS) <= known.keys()


def write(asked: Mapping[str, Sequence[str]], count: int) -> None:
    """Measure kernels on cores, and put their coefficients into the table. For a core without
    names, all kernels are measured. ``count`` firmwares are measured at a time."""
    jobs = [job for core, symbols in asked.items() for job in _jobs(core, symbols)]
    with ProcessPoolExecutor(count) as pool:
        found = [row for rows in pool.map(_rows, jobs) for row in rows]
    for core in asked:
        rows = [row for row in found if row["core"] == core]
        for form in cost.FORMS:
            _put(core, form, _by_symbol(row for row in rows if row["form"] == form))
        _agree(core, _largest(rows))


def _by_symbol(rows: Iterable[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault(row["symbol"], []).append(row)
    return found


def _put(core: str, form: str, found: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    """Puts a form's coefficients into the table, or removes coefficients with too large an error. A
    line is printed for each kernel, with the largest differences of the fit. Entries without a
    kernel in the tree are left out."""
    known = {kernel.symbol for kernel in tables.kernels()}
    column = f"{core} {form}"
    before = tables.read(COSTS).column(column)
    numbers = {name: rows for name, rows in before.items() if name in known or name.isupper()}
    for symbol, measured in sorted(found.items()):
        fitted = _fitted(measured)
        worst, line = _worst(measured, fitted)
        is_close = worst < LIMIT
        rows = numbers.pop(symbol, {})
        if is_close:
            waits = {name: rows[name] for name in cost.WAITS if name in rows}
            # Work that no measured layer has: an estimate for a layer with it would be a guess.
            unseen = dict.fromkeys(fitted["unseen"], 1)
            numbers[symbol] = {**fitted, **waits, "unseen": unseen}
        print(f"{symbol:32} {core:11} {form:11} {line}{'' if is_close else '  not written'}")
    tables.put(COSTS, column, numbers)


def _jobs(core: str, symbols: Sequence[str]) -> Iterator[Job]:
    count = len(_parts(core, symbols))
    for shared in (False, True):
        yield from ((core, shared, symbols, part) for part in range(count))


def _parts(core: str, symbols: Sequence[str]) -> list[list[Case]]:
    """The cases of each firmware. On a small board there is no room for inputs of both dtypes."""
    cases = layer_costs.cases(shapes.FIT, CPUS[core], symbols)
    if not tables.has_little_ram(core):
        return list(_split(cases, ROOM))
    cases = [case for case in cases if layer_costs.small(case)]
    floats = [case for case in cases if case.kind == "f32"]
    integers = [case for case in cases if case.kind != "f32"]
    return [*_split(integers, SMALL_ROOM), *_split(floats, SMALL_ROOM)]


def _split(cases: Sequence[Case], room: tuple[int, int]) -> Iterator[list[Case]]:
    """The cases in parts that fit into the board's memories."""
    part: list[Case] = []
    flash: dict[str, int] = {}
    ram = 0
    for case in cases:
        constants = layer_costs.constants(case) | {case.name: LAYER}
        kept = layer_costs.kept(case)
        if len(part) == MOST or sum((flash | constants).values()) > room[0] or ram + kept > room[1]:
            yield part
            part, flash, ram = [], {}, 0
        part.append(case)
        flash, ram = flash | constants, ram + kept
    if part:
        yield part


def _rows(job: Job) -> list[dict[str, Any]]:
    """The costs of the layers of one firmware, as plain data."""
    core, shared, symbols, part = job
    cases = _parts(core, symbols)[part]
    with tempfile.TemporaryDirectory() as folder:
        found = layer_costs.measure(cases, core, Path(folder) / "layers", shared=shared)
    form = cost.SHARED if shared else cost.SPECIALISED
    return [{"core": core, "form": form, **_row(each)} for each in found]


def _row(found: Measured) -> dict[str, Any]:
    kernel = found.case.kernel
    work = kernel.work(found.node, found.graph)
    # These numbers count iterations that other kernels do not have, and would spoil the fit.
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
    # Code does not grow with the iterations, only with the loops that there are.
    has = [{name: int(n > 0) for name, n in work.items()} for work in works]
    return {
        "instructions": fit.fitted(works, [row["instructions"] for row in rows]),
        "cycles": fit.fitted(works, [row["cycles"] for row in rows]),
        "code_bytes": fit.fitted(has, [row["code_bytes"] for row in rows]),
        "unseen": [name for name in works[0] if not any(work[name] for work in works)],
        "shared_bytes": max(row["shared_bytes"] for row in rows),
        "cores": _largest(rows),
    }


def _largest(rows: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """The functions that kernels may share, and the bytes of the largest copy of each."""
    found: dict[str, int] = {}
    for row in rows:
        for name, nbytes in row["cores"].items():
            found[name] = max(nbytes, found.get(name, 0))
    return found


def _worst(rows: Sequence[Mapping[str, Any]], found: Mapping[str, Any]) -> tuple[float, str]:
    """The largest relative error of instructions and cycles, and a line with all errors."""
    parts, largest = [f"{len(rows):2} layers"], []
    for name in cost.COEFFICIENTS:
        works = [row["work"] for row in rows]
        if name == "code_bytes":
            works = [{key: int(n > 0) for key, n in work.items()} for work in works]
        errors = fit.errors(found[name], works, [row[name] for row in rows])
        worst = int(abs(errors).argmax())
        largest.append(abs(errors[worst]))
        layer = rows[worst]["name"].partition("/")[2]
        parts.append(f"{name} {100 * errors[worst]:+5.1f} % ({layer})")
    return max(largest[:2]), "  ".join(parts)


def _agree(core: str, sizes: Mapping[str, int]) -> None:
    """Gives each of these functions the same bytes in all kernels that may share it, as the
    scheduler has to count it once."""
    for form in cost.FORMS:
        column = f"{core} {form}"
        numbers = tables.read(COSTS).column(column)
        for rows in numbers.values():
            own = rows.get("cores", {})
            own.update({name: nbytes for name, nbytes in sizes.items() if name in own})
        tables.put(COSTS, column, numbers)
