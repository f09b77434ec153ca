"""Schedules as records, and records as schedules: ``--schedule FILE`` and ``microgen.json``."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import cattrs

from microgen.base.errors import ModelError, UnsupportedError, short
from microgen.base.files import content
from microgen.base.formats import checked_json
from microgen.base.formats.structuring import structure
from microgen.base.manifest.schedule import (
    ASSEMBLED,
    FROM_FILE,
    SHARED,
    SPECIALISED,
    ChoiceRecord,
    FunctionChoices,
    ScheduleRecord,
)
from microgen.compiler.codegens.base import Choice, Region
from microgen.compiler.codegens.selection import BUILTIN
from microgen.compiler.partition import Partition
from microgen.compiler.partition.assembly import Assembly, assemblies
from microgen.compiler.passes.views import roots
from microgen.compiler.schedule import assembled, feeding, rounds, row_options
from microgen.compiler.schedule.options import Option, of_choice
from microgen.compiler.schedule.state import Candidate, Schedule
from microgen.graph.ir.graph import Graph, Node
from microgen.graph.rows import tiles
from microgen.kernels import patterns
from microgen.kernels.fitting import fitting
from microgen.target.cpu import Cpu

OPTION = "--schedule"
_MOST = 1 << 26  # bytes; the largest networks have some megabytes
_HINT = "`microgen plan MODEL --explore -o FRONT.json` writes schedules that fit"


def record(schedule: Schedule) -> ScheduleRecord:
    """The schedule as plain data."""
    return ScheduleRecord(
        functions=tuple(_function(region) for region in schedule.partition.regions),
        goal=schedule.goal,
        considered=schedule.considered,
        ram_bound=schedule.bound or 0,
        instructions=schedule.score.instructions,
        cycles=schedule.score.cycles,
        flash=schedule.score.flash,
        unmeasured=schedule.score.unmeasured,
    )


def _function(region: Region) -> FunctionChoices:
    choices = tuple(
        ChoiceRecord(
            *(_results(one.nodes), one.symbol, _form(one), one.in_place, one.rows, one.columns)
        )
        for one in region.choices
    )
    # Other code generators make no choices.
    return FunctionChoices(region.codegen, choices or (ChoiceRecord(_results(region.nodes)),))


def _form(choice: Choice) -> str:
    if choice.is_assembled:
        return ASSEMBLED
    return SHARED if choice.is_shared else SPECIALISED


def _results(nodes: Sequence[Node]) -> tuple[str, ...]:
    return tuple(node.outputs[0] for node in nodes)


def dumps(made: ScheduleRecord) -> str:
    """The text of a schedule's file."""
    return json.dumps(cattrs.unstructure(made), indent=1) + "\n"


def load(path: Path) -> ScheduleRecord:
    """Read a schedule's file. Raises ModelError if it cannot be read or is not a schedule."""
    data: Any = checked_json.parse(content(path, "a schedule", _MOST), str(path)).value
    try:
        return structure(data, ScheduleRecord)
    except ValueError as error:
        raise ModelError(f"is no schedule: {error}", where=str(path), hint=_HINT) from error


def applied(given: ScheduleRecord, partition: Partition, cpu: Cpu) -> Schedule:
    """The schedule that a record describes, for this partition.

    Raises UnsupportedError if a function names nodes that the partition does not have or gives to
    another code generator, if a node is missing or named twice, if an implementation does not fit,
    if a function comes before one whose result it reads, or if a concatenation cannot be assembled
    as recorded.
    """
    known = _Known.of(partition, cpu)
    _check_names(given, known.owners)
    feeding.check(partition)
    regions = tuple(_region(function, known) for function in given.functions)
    _check_order(regions, partition)
    made = replace(partition, regions=regions)
    feeding.check_fed(made)
    possible = assemblies(made)
    for region in regions:
        if region.is_assembled and region.nodes[-1].outputs[0] not in possible:
            raise _refused(f"{short(region.nodes[-1].outputs[0])!r} cannot be assembled")
    picks = row_options.by_result(
        o for region in regions for o in _options(region, made, cpu, possible)
    )
    score = Candidate(picks).score + rounds.inside(made, cpu)
    return Schedule(made, FROM_FILE, score, considered=1)


@dataclass(frozen=True, slots=True)
class _Known:
    """The facts with which records are compared. The keys of ``owners`` and ``nodes`` are the first
    results of nodes."""

    owners: Mapping[str, Region]
    nodes: Mapping[str, Node]
    chains: patterns.Chains
    graph: Graph
    cpu: Cpu
    fed: int

    @classmethod
    def of(cls, partition: Partition, cpu: Cpu) -> _Known:
        owners = {node.outputs[0]: region for region in partition.regions for node in region.nodes}
        nodes = {node.outputs[0]: node for region in partition.regions for node in region.nodes}
        chains = patterns.Chains(partition.graph)
        return cls(owners, nodes, chains, partition.graph, cpu, partition.fed)


def _check_names(given: ScheduleRecord, owners: Mapping[str, Region]) -> None:
    named = Counter(n for f in given.functions for choice in f.choices for n in choice.computes)
    for name, count in named.items():
        if name not in owners:
            raise _refused(f"no node computes {short(name)!r}")
        if count > 1:
            raise _refused(f"{short(name)!r} is computed twice")
    for name in owners:
        if name not in named:
            raise _refused(f"nothing computes {short(name)!r}")


def _region(function: FunctionChoices, known: _Known) -> Region:
    names = [name for choice in function.choices for name in choice.computes]
    if not names:
        raise _refused("a function computes nothing")
    for name in names:
        whose = known.owners[name].codegen
        if whose != function.codegen:
            raise _refused(f"{short(name)!r} belongs to {whose}, not to {function.codegen}")
    first = known.owners[names[0]]
    # Other generators' regions, and external functions, are compiled as they are.
    if function.codegen != BUILTIN or first.function:
        if [node.outputs[0] for node in first.nodes] != names:
            raise _refused(f"the function of {short(names[0])!r} has other nodes")
        if function.codegen != BUILTIN:
            return first
    own = tuple(known.nodes[name] for name in names)
    if len({node.place for node in own}) > 1:
        raise _refused(f"{short(names[-1])!r} is not computed where {short(names[0])!r} is")
    if any(choice.rows for choice in function.choices):
        return Region(BUILTIN, own, _rolled(function, own, known))
    choices = tuple(_choice(choice, known) for choice in function.choices)
    return Region(BUILTIN, own, choices)


def _rolled(function: FunctionChoices, own: tuple[Node, ...], known: _Known) -> tuple[Choice, ...]:
    """The choices of a function that computes rows at a time."""
    last = short(own[-1].outputs[0])
    if any(len(choice.computes) > 1 or not choice.rows for choice in function.choices):
        raise _refused(
            f"the function of {last!r} computes rows, so each choice needs one node and rows"
        )
    fed = known.fed if feeding.reads_input(own[0], known.graph) else 0
    try:
        rows, columns = zip(*((one.rows, one.columns) for one in function.choices), strict=True)
        group = tiles.of(own, known.graph, rows, fed, columns)
    except ValueError as error:
        raise _refused(f"the function of {last!r} cannot compute rows: {error}") from error
    found = []
    for node, choice in zip(own, function.choices, strict=True):
        tile = group.tiles[node.outputs[0]]
        made = _fitting_choice(choice, (tile.node,), replace(known, graph=tile.graph))
        found.append(replace(made, nodes=(node,), fed=fed))
    return tuple(found)


def _choice(given: ChoiceRecord, known: _Known) -> Choice:
    own = tuple(known.nodes[name] for name in given.computes)
    last = given.computes[-1]
    if len(own) > 1 and known.chains.ending(own[-1], [node.op for node in own]) != own:
        raise _refused(f"the nodes before {short(last)!r} are no chain that ends with it")
    return _fitting_choice(given, own, known)


def _fitting_choice(given: ChoiceRecord, own: tuple[Node, ...], known: _Known) -> Choice:
    """The choice, if its implementation can compute the nodes in the graph of ``known``."""
    last = given.computes[-1]
    found = fitting(patterns.joined(own), known.graph, known.cpu)
    kernel = found.named(given.implementation)
    if kernel is None:
        why = next((r.why for r in found.refusals if r.by == given.implementation), "")
        why = why or "there is no such implementation of these operators"
        raise _refused(f"{short(given.implementation)!r} cannot compute {short(last)!r}: {why}")
    is_shared = given.form == SHARED
    return Choice(
        own,
        kernel.symbol,
        is_shared,
        given.in_place,
        given.rows,
        columns=given.columns,
        is_assembled=given.form == ASSEMBLED,
        reason=f"{OPTION} says so",
        refusals=found.before(kernel, patterns.joined(own).op),
    )


def _check_order(regions: Sequence[Region], partition: Partition) -> None:
    """Raise UnsupportedError if a function reads a tensor that is computed later."""
    graph = partition.graph
    before = [region.nodes[-1].outputs[0] for region in partition.regions]
    after = [region.nodes[-1].outputs[0] for region in regions]
    # Variables are updated where the model says.
    if graph.variables and after != [name for name in before if name in set(after)]:
        raise _refused("the model has variables, so the order of its calls cannot be changed")
    bytes_of = roots(graph)
    computed = {name for region in regions for node in region.nodes for name in node.outputs}
    done: set[str] = set()
    for region in regions:
        for node in region.nodes:
            for name in (bytes_of[name] for name in node.inputs):
                if name in computed and name not in done:
                    result = short(node.outputs[0])
                    raise _refused(f"{result!r} is computed before {short(name)!r}, which it reads")
            done.update(node.outputs)


def _options(
    region: Region, partition: Partition, cpu: Cpu, possible: Mapping[str, Assembly]
) -> Iterator[Option]:
    if region.is_rolled:
        yield row_options.of_region(region, partition.graph, cpu)
        return
    for choice in region.choices:
        made = of_choice(choice, choice.nodes, partition.graph, cpu)
        own = possible[made.result] if choice.is_assembled else None
        yield assembled.option(own, made.kernel, partition, cpu) if own else made


def _refused(what: str) -> UnsupportedError:
    return UnsupportedError(what, where=OPTION, hint=_HINT)
