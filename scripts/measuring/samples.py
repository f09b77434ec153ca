"""Two measured layers of each kernel that has costs. Tests compare the costs with them.

``tests/kernels/samples.json`` has, by core, form, kernel and layer: instructions, cycles, bytes of
code, bytes of shared code, lines of flash that are waited for, and lines that are followed. A layer
is named by its op, its kind, and its number in ``shapes.COMPARED``."""

from __future__ import annotations

import functools
import json
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TypeAlias

from microgen import kernels
from microgen.graph.ir.graph import Graph, Node
from microgen.kernels import cost
from microgen.kernels.base import Implementation
from microgen.kernels.measured import COSTS
from microgen.target.cpu import CPUS
from scripts.measuring import layer_costs, shapes, tables
from scripts.measuring.builder import Builder
from scripts.measuring.layer_costs import Case
from scripts.measuring.layers import Layer

FILE = Path(__file__).resolve().parents[2] / "tests" / "kernels" / "samples.json"
# The allowed ratios of estimates to measurements, in time and in bytes of code. The ends for time
# are less than a factor of three apart, so costs that are three times or a third of right ones are
# always outside.
TIME, CODE = (0.6, 1.7), (0.4, 3.4)
# The error that small layers may always have.
FEW = {"instructions": 5000, "cycles": 5000, "code_bytes": 96, "shared_bytes": 96}
_NONE = {**FEW, "instructions": 0, "cycles": 0}  # of a kernel's largest sample
FIELDS = ("instructions", "cycles", "code_bytes", "shared_bytes", "waited", "followed")
ESTIMATES = ("instructions", "cycles", "code_bytes", "shared_bytes")
LONGEST = 400_000  # cycles of a sample if there are any, so that QEMU takes little time

_SEPARATOR = " "

Rows: TypeAlias = dict[str, list[int]]  # by layer
Samples: TypeAlias = dict[str, dict[str, dict[str, Rows]]]  # by core, form and kernel


def forms(kernel: Implementation, core: str) -> tuple[str, ...]:
    """The forms for which a kernel, or the kernel that it is measured as, has costs on a core."""
    of = cost.table(kernel.symbol).get(core) or {}
    like = kernel.measured_as
    other = (cost.table(like.symbol).get(core) or {}) if like else {}
    return tuple(form for form in (cost.SPECIALISED, cost.SHARED) if form in of or form in other)


def estimated(core: str) -> dict[str, tuple[str, Implementation]]:
    """The kernels that have costs on a core, with one of their ops."""
    return {
        kernel.symbol: (op, kernel)
        for op, found in kernels.registry().items()
        for kernel in reversed(found)
        if op in shapes.COMPARED and kernel.needs <= CPUS[core].features and forms(kernel, core)
    }


def wanted(core: str, form: str, symbols: Collection[str] = ()) -> Iterator[Case]:
    """The smallest and the largest layer of each kernel that has costs in a form, or only the
    largest if they are another's."""
    for op, kernel in estimated(core).values():
        if form not in forms(kernel, core) or (symbols and kernel.symbol not in symbols):
            continue
        found: list[tuple[int, str, Case]] = []
        for case in layer_costs.fitting_on(core, kernel, shapes.COMPARED[op]):
            known = estimate(case, core, form)
            if known:
                found.append((known.cycles, case.name, case))
        found.sort(key=lambda one: one[:2])
        # At least the smallest, even if it takes long.
        found = [one for one in found if one[0] <= LONGEST] or found[:1]
        ends = found[:1] + found[-1:] if cost.table(kernel.symbol).get(core) else found[-1:]
        yield from dict.fromkeys(case for _, _, case in ends)


def estimate(case: Case, core: str, form: str) -> cost.Cost | None:
    """The costs of a sample's layer."""
    node, graph = built(case)
    is_shared = form == cost.SHARED
    return cost.estimate(case.kernel, node, graph, CPUS[core], shared=is_shared)


def built(case: Case) -> tuple[Node, Graph]:
    """The node of a case, and its graph."""
    return _built(case.layer, case.kind)


@functools.lru_cache(maxsize=1 << 12)
def _built(layer: Layer, kind: str) -> tuple[Node, Graph]:
    dtype, bits = layer_costs.KINDS[kind]
    builder = Builder()
    builder.layer = "sample"
    node = layer(builder, dtype, bits)
    return node, builder.graph()


def missing(every: Samples, core: str) -> list[str]:
    """The kernels that have costs in a form on a core, but no sample."""
    return [
        symbol
        for symbol, (_, kernel) in estimated(core).items()
        if any(symbol not in every.get(core, {}).get(form, {}) for form in forms(kernel, core))
    ]


def differing(every: Samples, core: str, symbols: Collection[str] = ()) -> Iterator[str]:
    """A line for each estimate that is too far from its sample, of all kernels or of some."""
    known = estimated(core)
    for form, rows in every.get(core, {}).items():
        for symbol in symbols or known:
            layers = rows.get(symbol, {})
            largest = max((numbers[1] for numbers in layers.values()), default=0)
            for layer, numbers in layers.items():
                case, slack = named(known[symbol][1], layer), FEW if numbers[1] < largest else _NONE
                expected = dict(zip(ESTIMATES, numbers, strict=False))
                yield from _compared(case, core, form, expected, slack)


def named(kernel: Implementation, layer: str) -> Case:
    """The case of a sample's layer."""
    op, kind, number = layer.split(_SEPARATOR)
    return Case(kernel, kind, shapes.COMPARED[op][int(number)], int(number))


def _compared(
    case: Case, core: str, form: str, found: Mapping[str, int], slack: Mapping[str, int]
) -> Iterator[str]:
    known = estimate(case, core, form)
    if known is None:
        yield f"{case.name} {core} {form}: it is not estimated"
        return
    for name, its in found.items():
        mine, (least, most) = getattr(known, name), CODE if name.endswith("_bytes") else TIME
        if name == "shared_bytes" and not its:
            continue  # a part that is no function if only one operator of a firmware calls it
        few = slack[name]
        if name == "shared_bytes":  # compilers may copy shared functions into kernels' bodies
            few += sum(nbytes for _, nbytes in known.cores)
        if not (least * its <= mine <= most * its or abs(mine - its) <= few):
            yield f"{case.name} {core} {form} {name}: estimated {mine:,}, expected {its:,}"


def write(asked: Mapping[str, Collection[str]], count: int) -> None:
    """Measure the samples of kernels on cores, and write them with their waits for flash. For a
    core without names, all kernels are measured."""
    jobs = [(core, shared, symbols) for core, symbols in asked.items() for shared in (True, False)]
    for core in asked:
        list(wanted(core, cost.SPECIALISED))  # so that processes know what fits
    with ProcessPoolExecutor(count) as pool:
        for (core, shared, _), found in zip(jobs, pool.map(_measured, jobs), strict=True):
            form = cost.SHARED if shared else cost.SPECIALISED
            column = f"{core} {form}"
            numbers = tables.read(COSTS).column(column)
            for symbol, rows in found.items():
                if symbol in numbers:
                    numbers[symbol] |= waits(rows)
            tables.put(COSTS, column, numbers)
            _write(core, form, found)
            print(f"{column}: samples of {len(found)} kernels", flush=True)


def _measured(job: tuple[str, bool, Collection[str]]) -> dict[str, Rows]:
    """The samples of a core in one form, by kernel and layer: of all kernels, or of some."""
    core, shared, symbols = job
    cases = list(wanted(core, cost.SHARED if shared else cost.SPECIALISED, symbols))
    found: dict[str, Rows] = {}
    for part in _parts(cases, core):
        with tempfile.TemporaryDirectory() as folder:
            rows = layer_costs.measure(part, core, Path(folder) / "samples", shared=shared)
        for one in rows:
            layer = f"{one.node.op}{_SEPARATOR}{one.case.kind}{_SEPARATOR}{one.case.number}"
            numbers = [int(getattr(one, field)) for field in FIELDS]
            found.setdefault(one.case.kernel.symbol, {})[layer] = numbers
    return found


def _parts(cases: Sequence[Case], core: str) -> Iterator[list[Case]]:
    """The cases of each firmware. Floats have a firmware of their own, because small boards have no
    room for inputs of both dtypes."""
    most = 30 if tables.has_little_ram(core) else 120
    floats = [case for case in cases if case.kind == "f32"]
    others = [case for case in cases if case.kind != "f32"]
    for each in (others, floats):
        yield from (each[i : i + most] for i in range(0, len(each), most))


def load() -> Samples:
    """The samples that are committed."""
    found: Samples = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    return found


def _write(core: str, form: str, found: Mapping[str, Rows]) -> None:
    """Puts samples of a core in one form into the file."""
    every = load()
    every.setdefault(core, {}).setdefault(form, {}).update(found)
    lines = []
    for name, by_form in sorted(every.items()):
        parts = []
        for each, rows in sorted(by_form.items()):
            inner = [f"{json.dumps(k)}: {json.dumps(v, sort_keys=True)}" for k, v in rows.items()]
            parts.append(f"{json.dumps(each)}: {{\n" + ",\n".join(sorted(inner)) + "\n}")
        lines.append(f"{json.dumps(name)}: {{\n" + ",\n".join(parts) + "\n}")
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def waits(rows: Mapping[str, Sequence[int]]) -> dict[str, dict[str, float]]:
    """The lines of flash for which a kernel waits: a number for each call, and one for each cycle.
    They describe the straight line through its samples, or through the origin if that line would
    begin below it."""
    each = [dict(zip(FIELDS, numbers, strict=False)) for numbers in rows.values()]
    first, last = min(each, key=_cycles), max(each, key=_cycles)
    return {name: _line(first, last, name) for name in ("waited", "followed")}


def _cycles(numbers: Mapping[str, int]) -> int:
    return numbers["cycles"]


def _line(first: Mapping[str, int], last: Mapping[str, int], name: str) -> dict[str, float]:
    run = last["cycles"] - first["cycles"]
    slope = max(0.0, (last[name] - first[name]) / run) if run else 0.0
    start = first[name] - slope * first["cycles"]
    # Two samples can lie on a line that begins below 0, but no kernel waits less than never.
    if start < 0:
        start, slope = 0.0, last[name] / last["cycles"]
    found = {"call": start, "cycle": slope}
    return {key: float(f"{value:.4g}") for key, value in found.items() if value}
