"""Lowers each primitive function once per target, as TVM's compile engine does.

A cache has one entry for each pair of a primitive function and a target (TVM's CCacheKey). External
functions, which partitioned models have, are collected meanwhile. When all others are lowered, the
external functions of each target are compiled in one step.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from microgen.base.errors import MicrogenError
from microgen.base.names import cnames
from microgen.compiler.codegens.base import Codegen, Primitive, Region
from microgen.compiler.lowering import runs
from microgen.compiler.lowering.runs import RunCall
from microgen.compiler.partition import Partition
from microgen.graph.ir.graph import ArrayType, DType
from microgen.planner.program.control import Control, InnerBranch, InnerCall, InnerFunction
from microgen.planner.program.external import ExternalModule
from microgen.planner.program.rolling import Event, KernelPart, PatchLoop, Rolling
from microgen.planner.program.types import Device, KernelCall, Parameter, PrimFunc, Role
from microgen.target.board import Board

_RUNTIME = ("TVM", "mg_")  # prefixes of the runtime's names
_Tensor: TypeAlias = tuple[int, DType]  # its elements
# A function's parameters, kernels and inner calls.
_Compared: TypeAlias = tuple[tuple[Parameter, ...], tuple[KernelCall, ...], Control | None]


@dataclass(frozen=True, slots=True)
class Lowered:
    """The function of one region, and the arguments of its call; or, if several calls compute it,
    ``runs`` with their functions."""

    function: PrimFunc
    primitive: Primitive
    runs: tuple[LoweredRun, ...] = ()

    @property
    def functions(self) -> tuple[PrimFunc, ...]:
        """The functions of all calls."""
        return tuple(one.function for one in self.runs) or (self.function,)


@dataclass(frozen=True, slots=True)
class LoweredRun:
    """The function of a call that writes a run of a region's result."""

    function: PrimFunc
    call: RunCall


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
        functions = (function for item in called for function in item.functions)
        return tuple({function.name: function for function in functions}.values())


@dataclass(slots=True)
class LoweringCache:
    """The functions lowered so far. ``prefix`` begins the names of functions that have no name of
    their own, and ``taken`` are names that these may not get. ``host`` is the target of inner
    functions."""

    prefix: str
    host: str = ""
    taken: set[str] = field(default_factory=set)
    entries: dict[tuple[tuple[str, ...], PrimFunc, tuple[_Tensor, ...]], PrimFunc] = field(
        default_factory=dict
    )
    parts: dict[tuple[tuple[Parameter, ...], KernelCall | None, PatchLoop | None], str] = field(
        default_factory=dict
    )
    inner: dict[_Compared, str] = field(default_factory=dict)
    tried: dict[str, int] = field(default_factory=dict)  # see cnames.unique

    def lower(
        self, primitive: Primitive, tensors: tuple[_Tensor, ...], symbol: str = ""
    ) -> PrimFunc:
        """The function for a primitive: an earlier one if it is equal and has the same target. The
        sizes and dtypes of its ``tensors`` have to be equal, too, because packed functions check
        them: a slice may read the same bytes of tensors of several sizes, and a transpose moves
        bytes of bool as it moves those of uint8."""
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
            tensors,
        )
        if key not in self.entries:
            name = symbol or self._unique(primitive.words)
            self.taken.add(name)
            self.entries[key] = made = replace(key[1], name=name, made=primitive.made)
            if _is_callable_inside(made, symbol, self.host):
                self.inner.setdefault(_compared(made), name)
        return self.entries[key]

    def _named(self, rolling: Rolling | None) -> Rolling | None:
        """``rolling`` with a name for each part; equal parts have one name."""
        if rolling is None:
            return None
        return replace(rolling, events=tuple(map(self._with_name, rolling.events)))

    def _with_name(self, event: Event) -> Event:
        if not isinstance(event.rows, KernelPart):
            return event
        return replace(event, rows=self._part(event.rows))

    def _part(self, part: KernelPart) -> KernelPart:
        """The part with a name, and the parts of its patch with names."""
        patch = part.patch
        if patch:
            inner = (replace(one, part=self._part(one.part)) for one in patch.parts)
            patch = replace(patch, parts=tuple(inner))
        key = (part.parameters, part.kernel, patch)
        if key not in self.parts:
            self.parts[key] = self._unique((*part.words, "rows"))
            self.taken.add(self.parts[key])
        return replace(part, name=self.parts[key], patch=patch)

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
        key = _compared(found)
        if key not in self.inner:
            name = self._unique((*function.words, "inside"))
            self.taken.add(name)
            self.inner[key] = name
        return replace(found, name=self.inner[key])

    def _unique(self, words: tuple[str, ...]) -> str:
        name = cnames.function_name(self.prefix, words)
        return cnames.unique(name, self.taken, tried=self.tried)


def _compared(function: PrimFunc | InnerFunction) -> _Compared:
    """The part of a function that its C depends on. The names of its parameters do not matter, nor
    whether an operand that is only read is a constant."""
    if function.control:  # its calls have the names
        return function.parameters, (), function.control
    places = {each.name: f"p{number}" for number, each in enumerate(function.parameters)}
    parameters = tuple(
        Parameter(
            places[each.name],
            each.ctype,
            Role.INPUT if each.role is Role.CONSTANT else each.role,
        )
        for each in function.parameters
    )
    return parameters, _renamed(function.body, places), None


def _renamed(body: Sequence[KernelCall], names: Mapping[str, str]) -> tuple[KernelCall, ...]:
    """The kernels, with other names of the function's parameters."""
    return tuple(
        replace(
            kernel,
            args=tuple(
                names.get(each, each) if isinstance(each, str) else each for each in kernel.args
            ),
        )
        for kernel in body
    )


def _is_callable_inside(function: PrimFunc, symbol: str, host: str) -> bool:
    """Whether an operator is also a function that loops and branches may call: kernels of the host,
    whose pointers are all passed one by one."""
    is_plain = not (function.made or function.rolling or function.control or function.in_struct)
    return is_plain and not symbol and function.target == host


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
    taken = {_symbol(region) for region in regions}
    cache = LoweringCache(prefix, host=board.cpu.name, taken=taken)
    context = {device.target: device.context for device in devices}
    collected: dict[tuple[str, str], list[int]] = {}
    for index, region in enumerate(regions):
        owner = region.target if region.function else ""
        collected.setdefault((owner, region.codegen), []).append(index)
    primitives: dict[int, Primitive] = {}
    for _, own in sorted(collected.items(), key=lambda item: bool(item[0][0])):  # external last
        codegen = codegens[regions[own[0]].codegen]
        made = codegen.lower([regions[index] for index in own], graph, board)
        for index, primitive in zip(own, made, strict=True):
            region = regions[index]
            if region.target in context:
                primitive = _on_device(primitive, context[region.target])
            primitives[index] = primitive
    lowered: dict[int, Lowered] = {}
    # Loops and branches call operators that are equal to their own functions, so they come last.
    for index, primitive in sorted(primitives.items(), key=lambda item: bool(item[1].control)):
        lowered[index] = _lowered(regions[index], primitive, partition, cache)
    in_order = tuple(lowered[index] for index in range(len(regions)))
    return LoweredRegions(in_order, _modules(regions, in_order))


def _lowered(
    region: Region, primitive: Primitive, partition: Partition, cache: LoweringCache
) -> Lowered:
    """The function of a region, or those of the calls that compute it together."""
    graph, found = partition.graph, list[LoweredRun]()
    for call in runs.of(region, primitive, graph, is_whole=partition.copies_parts):
        kinds = (*graph.type_of(call.primitive.inputs), call.result)
        function = cache.lower(call.primitive, _tensors(kinds))
        found.append(LoweredRun(function, call))
    if found:  # the last call has the result
        return Lowered(found[-1].function, primitive, tuple(found))
    kinds = graph.type_of((*primitive.inputs, *primitive.outputs))
    function = cache.lower(primitive, _tensors(kinds), _symbol(region))
    return Lowered(function, primitive)


def _tensors(kinds: Sequence[ArrayType]) -> tuple[_Tensor, ...]:
    return tuple((kind.size, kind.dtype) for kind in kinds)


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
