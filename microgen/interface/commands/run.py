"""``microgen run``: run the firmware on samples."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from microgen.base import manifest
from microgen.base.errors import InputError, RunError
from microgen.base.manifest import CallRecord, Manifest, ModuleRecord
from microgen.base.names import cnames
from microgen.base.output import junit
from microgen.base.output.console import Console, Outcome
from microgen.base.output.junit import Case
from microgen.base.output.text_layout import Column, Listing, Part, Table
from microgen.graph.ir.graph import Array
from microgen.interface import api
from microgen.interface.commands import compiling
from microgen.target import projects

if TYPE_CHECKING:
    from microgen.running.runner import Cycles, InnerCount, RunCost, RunCosts, Sample

_Numbers: TypeAlias = tuple[str, list[str]]  # a heading, and the cells below it
# The first cells of a layer inside of a call, its counts, and further cells.
_InnerRow: TypeAlias = tuple[tuple[str, str, str], "InnerCount | None", tuple[str, ...]]

_OPTIONS = ("profile", "compare", "sanitize", "timeout", "on", "scope")
_REAL = ("quantize_inputs", "dequantize_outputs")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add = parser.add_argument
    add("project", metavar="DIR", type=Path, help="a generated project")
    add("--input", type=Path, metavar="X.npz", help="the samples (default: one sample of zeros)")
    add("--output", type=Path, metavar="Y.npz", help="write the outputs to this file")
    real = "quantize float samples of quantized inputs; outputs are then float32, too"
    add("--quantize-inputs", action="store_true", help=real)
    real = "give quantized outputs as the float32 numbers that they stand for"
    add("--dequantize-outputs", action="store_true", help=real)
    add(
        "--profile",
        action="store_true",
        help="count instructions and model cycles per operator (with --on: count cycles)",
    )
    add("--compare", action="store_true", help="compare every layer with the references")
    on = "run on a board or emulator that a debugger's server reaches: "
    servers = "gdb:HOST:PORT, openocd:CONFIG, pyocd:TARGET"
    add("--on", default="", metavar="SERVER", help=on + servers)
    add("--sanitize", action="store_true", help="build with ASan and UBSan (native only)")
    scope = "model: src/main.c was replaced, so only the model is verified, profiled and compared"
    add("--scope", choices=("project", "model"), default="project", help=scope)
    wait = "give up after S seconds without a finished sample (default 60)"
    add("--timeout", type=float, default=60.0, metavar="S", help=wait)
    compiling.add_given_board(parser)
    add("--junit", type=Path, metavar="FILE", help="also write a JUnit XML report")


def execute(args: argparse.Namespace, console: Console) -> Outcome:
    """Run, and print the console, the profile and the verdicts; exit 1 if an output differs."""
    from microgen.running.runner import samples

    inputs = _inputs(args)
    try:
        result = _run(args, inputs, console)
    except RunError as error:
        _report(args, [Case("run", "run", "failed", str(error))])
        raise
    _report(args, _cases(result))
    if args.output and not result.outputs:
        raise InputError(
            "the firmware's main wrote no outputs of the samples",
            where="--output",
            hint="leave it out, or write microgen_output.bin as the project's own src/main.c does",
        )
    if args.output:
        samples.save(args.output, result.outputs)
    record = manifest.load(args.project)
    scoped = [result.checks.notice] if result.checks.notice else []
    same = all(verdict.ok or verdict.is_skipped for verdict in result.verdicts)
    data = _data(result, record, same)
    return Outcome(data, [*scoped, *_text(result, record)], exit_code=0 if same else 1)


def _run(
    args: argparse.Namespace, inputs: dict[str, Array] | None, console: Console
) -> api.RunResult:
    with projects.given(args.board), console.step(f"running {args.project}"):
        return api.run(args.project, inputs, **compiling.options_of(args, *_OPTIONS, *_REAL))


def _report(args: argparse.Namespace, cases: Sequence[Case]) -> None:
    if args.junit:
        junit.write(args.junit, "microgen run", cases)


def _cases(result: api.RunResult) -> list[Case]:
    """The cases of the JUnit file: one for each check before the run, one for the run, and one for
    each comparison."""
    compared = [verdict.to_json() for verdict in result.verdicts]
    return [
        *result.checks.cases(),
        Case("run", "run", "ok"),
        *(Case("compare", one["name"], one["status"], one["detail"]) for one in compared),
    ]


def _inputs(args: argparse.Namespace) -> dict[str, Array] | None:
    """The given samples. Without them, zeros if outputs are to be written, because a run without
    samples returns no outputs; None if a comparison then chooses its own samples."""
    # Heavy imports wait until they are needed, as in ``api``.
    from microgen.running.runner import npz, samples

    if args.input:
        return npz.read(args.input)
    if args.output and not args.compare and args.scope == "project":
        return samples.zeros(manifest.load(args.project))
    return None


def _data(result: api.RunResult, record: Manifest, same: bool) -> dict[str, Any]:
    names = [module.module for module in record.modules]
    counts = [dict(zip(names, sample, strict=True)) for sample in result.per_module or ()]
    return {
        **({"cycles": result.cycles.to_json()} if result.cycles else {}),
        **({"per_module": counts or None} if record.more else {}),
        "ok": same,
        "scope": result.checks.scope,
        "samples": result.samples,
        "left_out": result.left_out,
        "stack": result.stack,
        "instructions": result.instructions and list(result.instructions),
        "modelled": result.modelled and result.modelled.to_json(),
        "per_call": result.per_call and [list(sample) for sample in result.per_call],
        "inside": [_inside(sample, record) for sample in result.inside],
        "steps": [_steps(call) for module in record.modules for call in module.calls],
        "comparisons": [verdict.to_json() for verdict in result.verdicts],
        "outputs": {name: list(array.shape) for name, array in result.outputs.items()},
    }


def _inside(sample: Sample, record: Manifest) -> list[list[dict[str, Any]]]:
    """The counts of layers in loops and branches, of each operator call, model after model."""
    return [
        [one.to_json() for one in own if one.call == call.index]
        for module, own in zip(record.modules, sample, strict=True)
        for call in module.calls
    ]


def _steps(call: CallRecord) -> list[dict[str, str]]:
    return [{"layer": s.layer, "op": s.op, "kernel": s.kernel} for s in call.steps]


def _text(result: api.RunResult, record: Manifest) -> list[Part]:
    from microgen.running.runner import samples

    parts: list[Part] = [Listing(samples.readable(result.console, record).strip())]
    if result.per_call is not None:
        parts += profile_tables(result, record)
    if result.modelled is not None:
        parts.append(str(result.modelled))
    if result.cycles is not None:
        parts += [*_cycles_tables(result.cycles, record), str(result.cycles)]
    if result.left_out:
        parts.append(f"{result.left_out} more samples were left out: the network has no results")
    return [*parts, *(str(verdict) for verdict in result.verdicts)]


def profile_tables(result: api.RunResult, record: Manifest) -> Iterator[Table]:
    """Instructions and modelled costs of the first sample: a table per model, a row per call. If a
    call has several layers, only the row of the first has numbers. Layers in loops and branches
    have rows of their own below, whose numbers are parts of the call's."""
    assert result.per_module is not None
    assert result.per_call is not None
    counts = iter(result.per_call[0])
    costs = result.modelled.rows[0] if result.modelled else [()] * len(record.modules)
    totals = result.per_module[0]
    inside = result.inside[0] if result.inside else [()] * len(record.modules)
    for module, total, modelled, inner in zip(record.modules, totals, costs, inside, strict=True):
        calls = list(islice(counts, len(module.calls)))
        title = module.module if record.more else ""
        columns = _modelled(result.modelled, modelled) if result.modelled else ()
        below = {call.index: _inner_rows(call, inner, result.modelled) for call in module.calls}
        yield _profile_table(module, calls, total, title, more=columns, below=below)


def _modelled(costs: RunCosts, row: Sequence[RunCost]) -> tuple[_Numbers, ...]:
    """The columns of modelled costs. ``row`` has the costs of the inference, then of its calls."""
    listed = [_cells(costs, cost) for cost in (*row[1:], costs.outside_calls(row), row[0])]
    cells = map(list, zip(*listed, strict=True))
    return tuple(zip(("cycles", "ms", "flash B"), cells, strict=True))


def _cells(costs: RunCosts, cost: RunCost) -> tuple[str, str, str]:
    milliseconds = _milliseconds(costs.conditions.milliseconds(cost.cycles))
    return f"{cost.cycles:,}", milliseconds, f"{cost.flash_bytes:,}"


def _milliseconds(time: float | None) -> str:
    return "n/a" if time is None else f"{time:.3f}"


def _cycles_tables(cycles: Cycles, record: Manifest) -> Iterator[Table]:
    """The tables of ``profile_tables`` with cycles of the core's clock, if cycles were counted by
    call."""
    rows = cycles.per_call[0] if cycles.per_call else ()
    for module, (total, *calls) in zip(record.modules, rows, strict=False):
        yield _profile_table(module, calls, total, module.module if record.more else "", "cycles")


def _profile_table(
    module: ModuleRecord,
    calls: Sequence[int],
    total: int,
    title: str,
    what: str = "instructions",
    more: Sequence[_Numbers] = (),
    below: Mapping[int, Sequence[_InnerRow]] | None = None,
) -> Table:
    names = [Column("call"), Column("layer", shorten=True), Column("kernel", optional=bool(more))]
    inner = below or {call.index: _inner_rows(call, (), None) for call in module.calls}
    each = ("per round",) if below and any(below.values()) else ()
    headings = (what, *each, "%", *(name for name, _ in more))
    numbers = [Column(heading, right=True) for heading in headings]
    table = Table([*names, *numbers], title)
    rows = [_labels(call) for call in module.calls]
    rows += [[("", "runner", "")], [("", "inference", "")]]
    counts = [*calls, total - sum(calls), total]
    columns = [cells for _, cells in more]
    # A call of several layers has its numbers in the row of the first.
    for place, ((first, *others), count, *cells) in enumerate(
        zip(rows, counts, *columns, strict=True)
    ):
        table.add(*first, f"{count:,}", *[""] * len(each), _share(count, total), *cells)
        for other in others:
            table.add(*other, *[""] * len(numbers))
        for labels, one, cells_of_one in inner.get(place, ()):
            known = [""] * (1 + len(each) + 1)
            if one is not None:
                per_round = one.instructions // max(1, one.times)
                known = [f"{one.instructions:,}", f"{per_round:,}", _share(one.instructions, total)]
            table.add(*labels, *known, *(cells_of_one or [""] * len(more)))
    return table


def _labels(call: CallRecord) -> list[tuple[str, str, str]]:
    """The first cells of a call's rows: its number, and each of its layers with the kernel, but for
    layers in loops and branches."""
    steps = [step for step in call.steps if not step.in_round]
    numbers = [str(call.index + 1), *[""] * (len(steps) - 1)]
    named = zip(numbers, steps, strict=True)
    return [(number, cnames.layer(step.layer), step.kernel) for number, step in named]


def _inner_rows(
    call: CallRecord, counts: Sequence[InnerCount], costs: RunCosts | None
) -> list[_InnerRow]:
    """The rows of the layers in a call's loops and branches: their first cells, their counts, and
    their modelled costs. Layers with one count have it in the row of the first."""
    known = {one.layers: one for one in counts if one.call == call.index}
    rows: list[_InnerRow] = []
    for layers in call.inner_layers:
        first, *others = layers.steps
        one = known.get(layers)
        times = one.times if one else math.prod(rounds for _, rounds in first.loops)
        cells = _cells(costs, one.cost) if one and one.cost and costs else ()
        name = f"{cnames.layer(first.layer)}{f' x {times:,}' if times != 1 else ''}"
        rows.append((("", name, first.kernel), one, cells))
        for other in others:
            if other.layer != first.layer:
                name = f"{cnames.layer(other.layer)}, in the row above"
                rows.append((("", name, other.kernel), None, ()))
    return rows


def _share(count: int, total: int) -> str:
    return f"{100 * count / total:.1f}"
