"""The calls that a model's runner has to make, by its manifest: functions, arguments, failures."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from microgen.base.manifest import (
    ArgumentRecord,
    CallRecord,
    DeviceRecord,
    ModuleRecord,
    PortRecord,
)
from microgen.verifier.elf.elf import Elf
from microgen.verifier.runner_walk import values
from microgen.verifier.runner_walk.values import SymbolicValue, Value

UNPACK = "mg_packed_tensors"
_POINTER_BYTES = 4
_PACKED_PARAMETERS = 6

Form = Literal["pointers", "tensors", "unpack"]


@dataclass(frozen=True, slots=True)
class PlannedArgument:
    """An argument: its name for messages, and its value; None if the ELF has no such symbol.
    ``in_struct``: it is passed in the structure of such arguments."""

    name: str
    value: Value
    in_struct: bool = False


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A planned call of a function at one of ``addresses``.

    ``form``: it takes its arguments as plain pointers, or as tensors by the packed convention;
    "unpack" stores the addresses of the data of the caller's tensors. ``can_fail``: the runner
    looks at the returned status; otherwise it does not. ``opener``: this call undoes the call of
    that number, so it is made after a later failure, too.
    """

    function: str
    addresses: frozenset[int]
    arguments: tuple[PlannedArgument, ...]
    form: Form = "pointers"
    can_fail: bool = True
    opener: int | None = None

    @property
    def words(self) -> int:
        """The number of words that are passed to the function, in registers and on the stack. The
        address of a structure is one word."""
        if self.form != "pointers":
            return _PACKED_PARAMETERS
        inside = sum(argument.in_struct for argument in self.arguments)
        return len(self.arguments) - max(0, inside - 1)


@dataclass(frozen=True, slots=True)
class CallPlan:
    """The calls of a run without failures, in order. ``parameters`` is the number of parameters of
    the entry point. ``pointers`` are the values that it may compare with NULL, each with the
    alignment in bytes that it may check. ``equal`` are distances of pointers that have to be 0,
    ``apart`` are distances that must not be 0."""

    steps: tuple[PlannedCall, ...]
    parameters: int
    pointers: Mapping[SymbolicValue, int] = field(default_factory=dict)
    equal: frozenset[SymbolicValue] = frozenset()
    apart: frozenset[SymbolicValue] = frozenset()

    def after_failure(self, failed: int) -> list[int]:
        """The calls that follow if a call is the first that fails: they undo earlier calls."""
        later = enumerate(self.steps[failed + 1 :], failed + 1)
        return [i for i, step in later if step.opener is not None and step.opener < failed]

    def may_test(self, value: SymbolicValue) -> bool:
        """Whether the runner may depend on a value that is zero or not."""
        kind, *parts = value.base
        if kind == "result":
            (call,) = parts
            return isinstance(call, int) and self.steps[call].can_fail
        if kind == "masked":
            whole, mask = parts
            if isinstance(whole, SymbolicValue) and isinstance(mask, int):
                return self._aligns(whole, mask)
            return False
        return value in self.pointers or value in self.equal | self.apart

    def _aligns(self, value: SymbolicValue, mask: int) -> bool:
        if value.base[0] == "union":
            return all(
                isinstance(v, SymbolicValue) and self._aligns(v, mask) for v in value.base[1:]
            )
        return mask < self.pointers.get(value, 0)


def of_model(module: ModuleRecord, elf: Elf) -> CallPlan:
    """The plan of a model's entry point."""
    places = _Places(module, elf)
    steps: list[PlannedCall] = []
    if places.is_packed:
        steps.append(_unpack(elf, len(module.inputs) + len(module.outputs)))
    activated = {}
    for device in module.devices:
        activated[device.name] = len(steps)
        steps.append(places.hook(device, "activate"))
    for call in module.calls:
        steps += places.call(call, len(steps))
    # In the opposite order: each deactivation undoes an activation.
    for device in reversed(module.devices):
        steps.append(places.hook(device, "deactivate", activated[device.name]))
    return CallPlan(
        tuple(steps),
        _PACKED_PARAMETERS if places.is_packed else len(places.structs),
        {} if places.is_packed else places.pointers(),
        places.equal(),
        places.apart(),
    )


def of_wrapper(call: CallRecord, module: ModuleRecord, elf: Elf) -> CallPlan:
    """The plan of the packed function that passes a call on."""
    places, is_graph = _Places(module, elf), module.options.get("executor") == "graph"
    numbers = itertools.count()
    passed = tuple(
        PlannedArgument(a.name, places.buffer(a.name))
        # The graph executor does not know of scratch buffers, so the packed function has the
        # address.
        if is_graph and a.storage == "scratch"
        else PlannedArgument(a.name, values.data(next(numbers)), a.in_struct)
        for a in call.args
    )
    steps = (
        _unpack(elf, next(numbers)),
        PlannedCall(call.function, _addresses(elf, call.function), passed),
    )
    return CallPlan(steps, _PACKED_PARAMETERS)


def _unpack(elf: Elf, count: int) -> PlannedCall:
    addresses = frozenset(elf.code_address(s) for s in elf.functions() if s.stem == UNPACK)
    arguments = [PlannedArgument(name, values.parameter(i)) for i, name in enumerate(_PASSED_ON)]
    return PlannedCall(
        UNPACK, addresses, (*arguments, PlannedArgument("count", values.const(count))), "unpack"
    )


_PASSED_ON = ("args", "type_codes", "num_args")


def _addresses(elf: Elf, name: str) -> frozenset[int]:
    addresses = [elf.code_address(s) for s in elf.named(name, "func")]
    return frozenset(addresses if len(addresses) == 1 else ())


class _Places:
    """The places of a model's buffers and constants, as values in its runner."""

    def __init__(self, module: ModuleRecord, elf: Elf) -> None:
        self.module, self.elf = module, elf
        self.is_packed = module.options.get("interface") == "packed"
        self.structs: dict[str, tuple[str, ...]] = {}
        if not module.options.get("workspace_io"):
            # Rows that are fed have no structure: the parameter is the pointer to them.
            self.structs["inputs"] = () if module.feed else _names(module.inputs)
            self.structs["outputs"] = _names(module.outputs)
        if module.passed_pools:
            self.structs["workspace_pools"] = module.passed_pools
        if module.devices:
            self.structs["devices"] = _names(module.devices)
        self.pools = {pool.name: pool for pool in module.plan.pools}
        self.buffers = {buffer.name: buffer for buffer in module.plan.buffers}
        self.constants = {c.symbol or c.name: c for c in module.constants}

    def pointers(self) -> dict[SymbolicValue, int]:
        """The structures and their members, except the devices' contexts, which may be NULL."""
        alignments = {values.parameter(i): 1 for i in range(len(self.structs))}
        for i, (struct, names) in enumerate(self.structs.items()):
            for n, name in enumerate(names if struct != "devices" else ()):
                alignments[values.member(i, n * _POINTER_BYTES)] = self.promised(struct, name)
        return alignments

    def equal(self) -> frozenset[SymbolicValue]:
        """For each output in an input's buffer, the distance between both pointers."""
        outputs = [port for port in self.module.outputs if port.over]
        return _distances(
            (self.member("outputs", own.name), self.member("inputs", own.over)) for own in outputs
        )

    def apart(self) -> frozenset[SymbolicValue]:
        """The distance between the only output, if other tensors lie there, and the only input."""
        module, shared = self.module, {pool.port for pool in self.module.plan.pools}
        has_one = (len(module.inputs), len(module.outputs)) == (1, 1)
        if self.is_packed or module.options.get("input_rows") or not has_one:
            return frozenset()
        (source,), (target,) = module.inputs, module.outputs
        pair = self.member("outputs", target.name), self.member("inputs", source.name)
        return _distances([pair] if target.name in shared else [])

    def promised(self, struct: str, name: str) -> int:
        """The alignment in bytes that a pointer in one of the structures must have."""
        if struct == "workspace_pools":
            return self.alignment(name)
        return max((p.promised for p in self.module.plan.pools if p.port == name), default=1)

    def alignment(self, pool: str) -> int:
        """The alignment of a pool that the caller passes, in bytes."""
        return self.pools[pool].alignment if pool in self.pools else _MOST_ALIGNMENT

    def hook(self, device: DeviceRecord, name: str, opener: int | None = None) -> PlannedCall:
        """A call of a device's hook with the device's context."""
        function = dict(zip(_HOOKS, device.hooks, strict=False)).get(name, "")
        place = self.member("devices", device.name)
        context = PlannedArgument(f"the context of {device.name}", place)
        return PlannedCall(function, _addresses(self.elf, function), (context,), opener=opener)

    def call(self, call: CallRecord, number: int) -> Iterator[PlannedCall]:
        """An operator's call, between the hooks of its device."""
        device = next((d for d in self.module.devices if d.name == call.device), None)
        if device is not None:
            yield self.hook(device, "open")
        elif call.device:
            yield PlannedCall(f"the hooks of {call.device}", frozenset(), ())
        function = call.packed or call.function
        form: Form = "tensors" if call.packed else "pointers"
        arguments = tuple(
            PlannedArgument(a.name, self.argument(a), a.in_struct and not call.packed)
            for a in call.args
        )
        addresses = _addresses(self.elf, function)
        yield PlannedCall(function, addresses, arguments, form, call.can_fail or bool(call.packed))
        if device is not None:
            yield self.hook(device, "close", number)

    def argument(self, argument: ArgumentRecord) -> Value:
        """The value of an argument; None if it is nowhere."""
        whole = self._whole(argument)
        return whole.plus(argument.offset) if whole and argument.offset else whole

    def _whole(self, argument: ArgumentRecord) -> Value:
        """The value of the buffer that has an argument's tensor."""
        name, storage = argument.name, argument.storage
        if storage in ("sid", "scratch"):
            return self.buffer(name)
        if storage == "constant":
            return self.constant(name)
        if storage == "device":
            return self.member("devices", name)
        return self.port(f"{storage}s", name)

    def port(self, struct: str, name: str) -> Value:
        """The caller's buffer for an input or output."""
        if self.module.feed and struct == "inputs":
            return values.parameter(0)
        if not self.is_packed:
            return self.member(struct, name)
        names = self.structs.get(struct, ())
        before = len(self.module.inputs) if struct == "outputs" else 0
        return values.data(before + names.index(name)) if name in names else None

    def member(self, struct: str, name: str) -> Value:
        """A pointer in one of the caller's structures, which have one pointer for each name."""
        names = self.structs.get(struct, ())
        if name not in names:
            return None
        index = list(self.structs).index(struct)
        return values.member(index, names.index(name) * _POINTER_BYTES)

    def buffer(self, name: str) -> Value:
        """A planned buffer."""
        buffer = self.buffers.get(name)
        return None if buffer is None else self.in_pool(buffer.pool, buffer.offset)

    def constant(self, name: str) -> Value:
        """The value of a constant's address. The constant has a symbol or is in a pool that the
        caller passes."""
        constant = self.constants.get(name)
        if constant is None:
            return None
        if constant.symbol:
            return self.symbol(name)
        return self.in_pool(constant.pool, constant.offset)

    def in_pool(self, name: str, offset: int) -> Value:
        """The value of an address in a pool."""
        if name in self.pools and (port := self.pools[name].port):
            start = self.port("inputs", port) or self.port("outputs", port)
            return None if start is None else start.plus(offset - self.pools[name].before)
        if name in self.module.passed_pools:
            base = self.member("workspace_pools", name)
        else:
            base = self.symbol(self.pools[name].symbol) if name in self.pools else None
        return None if base is None else base.plus(offset)

    def symbol(self, name: str) -> Value:
        """The address of the only object of that name."""
        symbols = self.elf.named(name)
        return values.const(symbols[0].address) if len(symbols) == 1 else None


def _distances(pairs: Iterable[tuple[Value, Value]]) -> frozenset[SymbolicValue]:
    return frozenset(values.apart(a, b) for a, b in pairs if a is not None and b is not None)


_HOOKS = ("activate", "open", "close", "deactivate")
_MOST_ALIGNMENT = 2**16  # of a constant pool, whose alignment the manifest does not have


def _names(records: Iterable[PortRecord | DeviceRecord]) -> tuple[str, ...]:
    return tuple(record.name for record in records)
