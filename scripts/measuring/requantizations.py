"""The additional cost of each output if a kernel's requantization rounds in float32 with integers,
compared with the requantization of the measured kernel. The table of costs has these costs, by the
name of the constant in C.

Many kernels differ only in their requantizations, so one number for each output and core is enough.
It is the number with the least relative errors of the estimates of all their layers."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from microgen.kernels import cost
from microgen.kernels.base import FLOAT_CORES
from microgen.kernels.measured import COSTS
from microgen.target.cpu import CPUS
from scripts.measuring import layer_costs, samples, shapes, tables
from scripts.measuring.layer_costs import Case, Measured

NAMES = (
    *("MG_ROUND_FLOAT", "MG_ROUND_FLOAT_NARROW"),
    *("MG_HIGH_FPU", "MG_HIGH_FPU_CLAMPED"),
)
_MOST, _FEW = 120, 30  # layers of one firmware, and on a board with little RAM
_DIGITS = 4
_LEAST = 6  # instructions or cycles: kernels with one requantization differ by as much


def cases(core: str, form: str) -> Iterator[Case]:
    """The layers of kernels with these requantizations that are measured as others."""
    for op, kernel in samples.estimated(core).values():
        own = cost.table(kernel.symbol).get(core)
        if own or kernel.variant[-1:] not in [(name,) for name in NAMES]:
            continue
        for case in layer_costs.fitting_on(core, kernel, shapes.COMPARED[op]):
            known = _other(case, core, form)
            if known and known.cycles <= samples.LONGEST:
                yield case


def _other(case: Case, core: str, form: str) -> cost.Cost | None:
    """The costs of the layer with the requantization of the kernel that is measured."""
    node, graph = samples.built(case)
    plain = dataclasses.replace(case.kernel, variant=())
    return cost.estimate(plain, node, graph, CPUS[core], shared=form == cost.SHARED)


def missing(core: str) -> bool:
    """Whether nothing was measured on the core."""
    return not any(core in cost.table(name) for name in NAMES)


def write(cores: Sequence[str], count: int) -> None:
    """Measure the costs that requantizations add on the cores, and put them into the table."""
    jobs = [(core, form) for core in cores for form in cost.FORMS]
    list(samples.estimated(cores[0]))  # so that processes know what fits
    with ProcessPoolExecutor(count) as pool:
        for (core, form), found in zip(jobs, pool.map(_measured, jobs), strict=True):
            column = f"{core} {form}"
            tables.put(COSTS, column, {**tables.read(COSTS).column(column), **found})
            print(f"{column}: {found}", flush=True)


def _measured(job: tuple[str, str]) -> dict[str, dict[str, Any]]:
    """The costs that each of the requantizations adds on a core in a form."""
    core, form = job
    found: list[Measured] = []
    parts, most = cases(core, form), _FEW if tables.has_little_ram(core) else _MOST
    while part := list(islice(parts, most)):
        with tempfile.TemporaryDirectory() as folder:
            project = Path(folder) / "requantizations"
            found += layer_costs.measure(part, core, project, shared=form == cost.SHARED)
    by_name: dict[str, list[Measured]] = {}
    for one in found:
        by_name.setdefault(one.case.kernel.variant[-1], []).append(one)
    return {name: _fitted(rows, core, form) for name, rows in by_name.items()}


def _fitted(rows: Sequence[Measured], core: str, form: str) -> dict[str, Any]:
    before = [_other(one.case, core, form) for one in rows]
    outputs = [one.graph.types[one.node.outputs[0]].size for one in rows]

    def added(name: str, times: Sequence[int]) -> float:
        own = [getattr(one, name) for one in rows]
        return _closest([getattr(each, name) for each in before], own, times)

    once = [1] * len(rows)
    times = {name: added(name, outputs) for name in ("instructions", "cycles")}
    is_small = all(abs(each) < _LEAST for each in times.values())
    found: dict[str, Any] = {
        **{name: {} if is_small else {"output": each} for name, each in times.items()},
        "code_bytes": {"call": added("code_bytes", once)},
    }
    if form == cost.SHARED:
        found["shared_bytes"] = round(added("shared_bytes", once))
    sizes = {name: max(one.cores.get(name, 0) for one in rows) for name in FLOAT_CORES}
    cores = {name: nbytes for name, nbytes in sizes.items() if nbytes}
    return {**found, "cores": cores} if cores else found


def _closest(before: Sequence[int], own: Sequence[int], times: Sequence[int]) -> float:
    """The x for which ``before + x * times`` is closest to ``own``, in relation to it."""
    known = [row for row in zip(before, own, times, strict=True) if row[1]]
    if not known:
        return 0.0
    first, last, each = np.array(known, np.float64).T
    slope = each / last
    return float(f"{(slope @ (1 - first / last)) / (slope @ slope):.{_DIGITS}g}")
