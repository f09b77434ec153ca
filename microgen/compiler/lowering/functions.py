"""Lowers each primitive function once per target, as TVM's compile engine does.

A cache has one entry for each pair of a primitive function and a target (TVM's CCacheKey). External
functions, which partitioned models have, are collected meanwhile. When all others are lowered, the
external functions of each target are compiled in one step.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from microgen.base.errors import MicrogenError
from microgen.base.names import cnames
from microgen.compiler.codegens.base import Codegen, Primitive, Region
from microgen.compiler.partition import Partition
from microgen.planner.program.control import Control, InnerBranch, InnerCall, InnerFunction
from microgen.planner.program.external import ExternalModule
from microgen.planner.program.rolling import Event, KernelPart, Rolling
from microgen.planner.program.types import Device, KernelCall, Parameter, PrimFunc, Role
from microgen.target.board import Board

_RUNTIME = ("TVM", "mg_")  # prefixes of the runtime's names


@dataclass(frozen=True, slots=True)
class Lowered:
    """The function of one region, and the arguments of its call."""

    function: PrimFunc
    primitive: Primitive


@dataclass(frozen=True, slots=True)
class LoweredRegions:
    """``regions``: the result for each, in execution order. ``external``: the functions that were
    collected, by target, in the order of their first calls."""

    regions: tuple[Lowered, ...]
    external: tuple[ExternalModule, ...]

    @property
    def primitives(self) -> tuple[Primitive, ...]:
        """The primitive function of each region."""
        return tuple(item.primitive for item in self.regions)

    def functions_without(self, dropped: Collection[int]) -> tuple[PrimFunc, ...]:
        """Every function once, in the order of first calls. The regions with the numbers
        ``dropped`` are not called."""
        called = [item for i, item in enumerate(self.regions) if i not in dropped]
        return tuple({item.function.name: item.function for item in called}.values())


@dataclass(slots=True)
class LoweringCache:
    """The functions lowered so far. ``prefix`` begins the names of functions that have no name of
    their own, and ``taken`` are names that these may not get."""

    prefix: str
    taken: set[str] = field(default_factory=set)
    entries: dict[tuple[tuple[str, ...], PrimFunc], PrimFunc] = field(default_factory=dict)
    parts: dict[tuple[tuple[Parameter, ...], KernelCall], str] = field(default_factory=dict)
    inner: dict[InnerFunction, str] = field(default_factory=dict)
    tried: dict[str, int] = field(default_factory=dict)  # see cnames.unique

    def lower(self, primitive: Primitive, symbol: str = "") -> PrimFunc:
        """The function for a primitive: an earlier one if it is equal and has the same target."""
        rolling = self._named(primitive.rolling)
        control = self._with_functions(primitive.control)
        # Without ``made``, which is not compared: an external function has a symbol of its own, so
        # two of them are never merged.
        key = (
            primitive.words,
            PrimFunc(
                *(symbol, primitive.target, primitive.parameters, primitive.body),
                rolling=rolling,
                control=control,
            ),
        )
        if key not in self.entries:
            name = symbol or self._unique(primitive.words)
            self.taken.add(name)
            self.entries[key] = replace(key[1], name=name, made=primitive.made)
        return self.entries[key]

    def _named(self, rolling: Rolling | None) -> Rolling | None:
        """``rolling`` with a name for each part; equal parts have one name."""
        if rolling is None:
            return None
        return replace(rolling, events=tuple(map(self._with_name, rolling.events)))

    def _with_name(self, event: Event) -> Event:
        if not isinstance(event.rows, KernelPart):
            return event
        key = (event.rows.parameters, event.rows.kernel)
        if key not in self.parts:
            self.parts[key] = self._unique((*event.rows.words, "rows"))
            self.taken.add(self.parts[key])
        return replace(event, rows=replace(event.rows, name=self.parts[key]))

    def _with_functions(self, control: Control | None) -> Control | None:
        """``control`` with a name for each function that it calls; equal functions have one."""
        if control is None:
            return None
        if isinstance(control, InnerBranch):
            then, otherwise = map(self._calls, (control.then, control.otherwise))
            return replace(control, then=then, otherwise=otherwise)
        calls, condition = map(self._calls, (control.calls, control.condition))
        return replace(control, calls=calls, condition=condition)

    def _calls(self, calls: Sequence[InnerCall]) -> tuple[InnerCall, ...]:
        return tuple(replace(call, function=self._function(call.function)) for call in calls)

    def _function(self, function: InnerFunction) -> InnerFunction:
        found = replace(function, control=self._with_functions(function.control))
        if found not in self.inner:
            name = self._unique((*function.words, "inside"))
            self.taken.add(name)
            self.inner[found] = name
        return replace(found, name=self.inner[found])

    def _unique(self, words: tuple[str, ...]) -> str:
        name = cnames.function_name(self.prefix, words)
        return cnames.unique(name, self.taken, tried=self.tried)


def lower_regions(
    partition: Partition,
    codegens: Mapping[str, Codegen],
    board: Board,
    prefix: str,
    devices: Collection[Device],
) -> LoweredRegions:
    """Lower every region. Functions' names begin with ``prefix``, and ``devices`` are the devices
    whose contexts are passed to operators."""
    regions, graph = partition.regions, partition.graph
    # External functions keep their names, so no generated function may get one of these.
    cache = LoweringCache(prefix, taken={_symbol(region) for region in regions})
    context = {device.target: device.context for device in devices}
    collected: dict[tuple[str, str], list[int]] = {}
    for index, region in enumerate(regions):
        owner = region.target if region.function else ""
        collected.setdefault((owner, region.codegen), []).append(index)
    lowered: dict[int, Lowered] = {}
    for _, own in sorted(collected.items(), key=lambda item: bool(item[0][0])):  # external last
        codegen = codegens[regions[own[0]].codegen]
        made = codegen.lower([regions[index] for index in own], graph, board)
        for index, primitive in zip(own, made, strict=True):
            region = regions[index]
            if region.target in context:
                primitive = _on_device(primitive, context[region.target])
            lowered[index] = Lowered(cache.lower(primitive, _symbol(region)), primitive)
    in_order = tuple(lowered[index] for index in range(len(regions)))
    return LoweredRegions(in_order, _modules(regions, in_order))


def _modules(regions: Sequence[Region], lowered: Sequence[Lowered]) -> tuple[ExternalModule, ...]:
    """The external functions, grouped by the module that was made from them, or by target if the
    built-in kernels compute them."""
    found: dict[tuple[str, str, int], list[Lowered]] = {}
    for region, item in zip(regions, lowered, strict=True):
        if region.function:
            # One result of a generator is one module, however many functions it defines.
            key = (region.codegen, region.target, id(item.primitive.made))
            found.setdefault(key, []).append(item)
    return tuple(
        ExternalModule(
            codegen,
            target,
            functions=tuple(item.function.name for item in own),
            made=own[0].primitive.made,
        )
        for (codegen, target, _), own in found.items()
    )


def _symbol(region: Region) -> str:
    return cnames.identifier(region.function) if region.function else ""


def check_symbols(regions: Sequence[Region], taken: Collection[str]) -> None:
    """Raise MicrogenError if the C name of an external function belongs to another function or the
    runtime, or is in ``taken``, the names of the runner's parameters."""
    owners: dict[str, str] = {}
    for region in regions:
        name = _symbol(region)
        other = owners.setdefault(name, region.function)
        if other != region.function:
            what = f"is {name!r} in C, as {other!r} is"
        elif name in taken:
            what = f"is {name!r} in C, as an input or an output is"
        elif name == "main" or name.startswith(_RUNTIME):
            what = f"is {name!r} in C, a name of the runtime"
        else:
            continue
        raise MicrogenError(
            f"the external function {region.function!r} {what}",
            where=str(region.origin),
            hint="give it another global_symbol",
        )


def _on_device(primitive: Primitive, context: str) -> Primitive:
    """The primitive with the device's context as its last parameter."""
    last = Parameter(context, "void", Role.DEVICE)
    return replace(primitive, parameters=(*primitive.parameters, last))
