"""The runner, which makes one call after the other, and the entry point that calls it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from microgen.base.names import cnames
from microgen.planner.program.plan import Placement, Pool
from microgen.planner.program.steps import Around, InnerBuffer, InRound, InRows, NotStored, Step
from microgen.planner.program.types import (
    Argument,
    Parameter,
    Port,
    PrimFunc,
    Role,
    RunnerCall,
    Storage,
)
from microgen.project.emit import layout, packed, symbols
from microgen.project.emit.header import device, header
from microgen.project.emit.kernel_calls import struct
from microgen.project.emit.tensors import tensors
from microgen.project.emit.unit import Unit

_INDENT = 4  # of the calls


def runner(unit: Unit) -> dict[str, Any]:
    """Values of ``src/lib0.c.j2``."""
    program = unit.program
    fields = _fields(unit)
    calls = list(_calls(unit))
    checks = list(_checks(unit, fields))
    # main has a parameter for each pointer of the interface; compilers warn of unused parameters.
    used = _used(unit)
    main = f"{unit.prefix}___tvm_main__"
    declared = [f"{p.ctype} *{p.name}" for p in fields] or ["void"]
    values = {
        **header(unit),
        "arenas": [_arena(pool, unit) for pool in unit.plan.used_pools if not pool.is_constant],
        "state": [
            (unit.place(b.name), b, b.initial and unit.constant_address(b.initial))
            for b in program.state
        ],
        "main": layout.call(f"int32_t {main}", declared),
        "run_operators": layout.call("int32_t run_operators", declared),
        "call_run_operators": layout.call("run_operators", [p.name for p in fields], 17),
        "call_main": layout.call(main, [p.source for p in fields], 17 if checks else 11),
        "checks": checks,
        "unused": [p.name for p in fields if p.name not in used],
        "errors": sorted({error for _, error in checks}),
        "calls": calls,
        "has_status": any(call["can_fail"] or call["device"] for call in calls),
    }
    if unit.options.interface == "packed":
        values |= packed.entry(unit)
    if not unit.options.unpacked:
        values |= tensors(unit)
    return values


def _checks(unit: Unit, fields: Sequence[_Field]) -> Iterator[tuple[str, str]]:
    """The errors in the caller's arguments as C conditions with their error codes, in the order of
    the checks."""
    # The structures come first, because the later checks read their fields.
    nulls = [f"{name} == NULL" for name in _structs(unit)]
    if nulls:
        yield layout.joined(" || ", nulls), "NULL_POINTER"
    for port in unit.program.outputs:
        if port.over:
            yield f"outputs->{port.name} != inputs->{port.over}", "NOT_ONE_BUFFER"
    for pointer, other in _apart(unit):
        yield f"{pointer} == {other}", "ONE_BUFFER"
    for field in fields:
        if not field.may_be_null:
            yield f"{field.source} == NULL", "NULL_POINTER"
    for field in fields:
        if field.alignment > 1:
            mask = field.alignment - 1
            yield f"((uintptr_t){field.source} & {mask}U) != 0U", "MISALIGNED_POOL"


@dataclass(frozen=True, slots=True)
class _Field:
    """A pointer that ``run`` passes to main: main's parameter and the structure's field."""

    name: str
    ctype: str
    source: str
    alignment: int = 1
    may_be_null: bool = False


def _fields(unit: Unit) -> list[_Field]:
    """In main's order: inputs, outputs, pools, devices."""
    program = unit.program
    inputs = [_port(p, "inputs", unit) for p in program.inputs if not p.buffer]
    # ``feed`` gets rows, and no structure of inputs.
    if program.feed:
        inputs = [_Field(p.name, "const void", "rows") for p in program.inputs]
    outputs = [_port(p, "outputs", unit) for p in program.outputs if not p.buffer]
    pools = [
        _Field(
            unit.passed_pools[pool.name],
            "const uint8_t" if pool.is_constant else "uint8_t",
            f"workspace_pools->{pool.name}",
            pool.alignment,
        )
        for pool in unit.plan.passed_pools
    ]
    devices = [
        # A driver may need no context, so NULL is valid.
        _Field(d.context, "void", f"devices->{d.name}", may_be_null=True)
        for d in program.devices
    ]
    return [*inputs, *outputs, *pools, *devices]


def _structs(unit: Unit) -> list[str]:
    """The structures that are passed to the function that calls main."""
    return [name for name in unit.structs if name != "inputs" or not unit.program.feed]


def _port(port: Port, struct: str, unit: Unit) -> _Field:
    """A port, with the alignment in bytes that ``run`` checks; 1 for none."""
    promised = max((p.promised for p in unit.plan.port_pools if p.port == port.name), default=1)
    # C requires the alignment of the elements anyway, so only a larger alignment is checked.
    alignment = promised if promised > port.type.dtype.nbytes else 1
    return _Field(port.name, "void", f"{struct}->{port.name}", alignment)


def _apart(unit: Unit) -> list[tuple[str, str]]:
    """The pairs of pointers that must differ: the input, and an output whose buffer holds other
    tensors."""
    program, shared = unit.program, {pool.port for pool in unit.plan.port_pools}
    # Only one pair, because compilers turn several comparisons into arithmetic that the check
    # ``runner`` cannot follow.
    if len(program.inputs) != 1 or len(program.outputs) != 1 or program.feed:
        return []
    (source,), (target,) = program.inputs, program.outputs
    is_shared = target.name in shared
    return [(f"outputs->{target.name}", f"inputs->{source.name}")] if is_shared else []


def _used(unit: Unit) -> set[str]:
    """The parameters of main that at least one call needs."""
    plan = unit.plan
    passed = [argument for call in unit.program.calls for argument in call.args]
    constants = {a.name for a in passed if a.storage is Storage.CONSTANT}
    names = {a.name for a in passed if a.storage is not Storage.CONSTANT}
    names |= {device.context for device in unit.program.devices}
    names |= {f"scratch_{call.index}" for call in unit.program.calls if call.scratch}
    pools = {p.pool for p in plan.placements if p.name in names}
    pools |= {p.pool for p in plan.constants if p.name in constants}
    names |= {pool.port for pool in plan.port_pools if pool.name in pools}
    return names | {name for pool, name in unit.passed_pools.items() if pool in pools}


def _arena(pool: Pool, unit: Unit) -> dict[str, Any]:
    kept = [buffer.name for buffer in unit.program.state]
    inside = [p for p in unit.plan.placements if p.pool == pool.name]
    symbol = symbols.arena(unit.module, pool.name)
    return {
        "title": symbol if pool.is_internal else f"{_owned(pool)}, the caller's",
        "symbol": symbol if pool.is_internal else "",
        "nbytes": pool.nbytes,
        "buffers": [_row(p, p.name in kept) for p in inside],
    }


def _owned(pool: Pool) -> str:
    """The pointer of a pool that the caller owns."""
    return pool.name.replace(".", "->") if pool.port else f"workspace_pools->{pool.name}"


def _calls(unit: Unit) -> Iterator[dict[str, Any]]:
    """The calls. After a call that can fail, a call is made only if none has failed."""
    # The first call runs in any case, so the status need not be tested before it.
    is_guarded = False
    for call in unit.program.calls:
        made = _call(call, unit, is_guarded=is_guarded)
        yield made
        is_guarded |= made["can_fail"] or made["device"] is not None


def _call(call: RunnerCall, unit: Unit, *, is_guarded: bool) -> dict[str, Any]:
    indent = 2 * _INDENT if is_guarded else _INDENT
    devices = {d.name: device(d) for d in unit.program.devices}
    function = unit.program.function(call.function)
    number = f"{call.index + 1}/{len(unit.program.calls)}"
    # A call of several layers has a line for each of them.
    first, *later = map(_step, call.steps)
    return {
        "comment": layout.comment(f"{number} {first}", indent, more=[f"then {r}" for r in later]),
        "function": call.function,
        "is_guarded": is_guarded,
        # A packed function checks its arguments.
        "can_fail": function.can_fail or not unit.options.unpacked,
        "device": devices.get(call.device),
        **_passed(call, function, unit),
        "index": call.index,
    }


def _passed(call: RunnerCall, function: PrimFunc, unit: Unit) -> dict[str, Any]:
    """The arguments of a call, and the structure of its constants."""
    if not unit.options.unpacked:
        return {"args": _packed_arguments(call), "struct": None}
    pairs = list(zip(function.parameters, _arguments(call, function, unit), strict=True))
    inside = function.in_struct
    if not inside:
        return {"args": [text for _, text in pairs], "struct": None}
    ports = {port.name for port in (*unit.program.inputs, *unit.program.outputs)}
    # The structure is a constant, too, if all addresses in it are known at link time.
    name, local = cnames.unique(f"constants_{call.index}", ports), _is_passed(call, unit)
    return {
        "args": [
            f"&{name}" if parameter == inside[0] else text
            for parameter, text in pairs
            if parameter not in inside[1:]
        ],
        "struct": {
            "defined": layout.words(
                f"{'' if local else 'static '}const {struct(unit.implementation(function.name))}",
                f"{name} = {{",
                indent=12,
            ),
            "members": [f".{p.name} = {text}" for p, text in pairs if p in inside],
        },
    }


def _is_passed(call: RunnerCall, unit: Unit) -> bool:
    """Whether a constant of the call is in a pool that the caller passes."""
    places, pools = unit.plan.constant_places, unit.passed_pools
    constants = [a.name for a in call.args if a.storage is Storage.CONSTANT]
    return any(name in places and places[name].pool in pools for name in constants)


def _step(step: Step) -> str:
    text = f"{cnames.layer(step.origin.layer)}: {step.summary}"
    match step.place:
        case InnerBuffer(offset):
            text += f" in scratch[{offset}]"
        case InRows():
            text += " row by row"
        case Around(before=before):
            text += f" from {before} bytes before" if before else ""
        case InRound():
            text += " (in each round)"
        case NotStored():
            text += " (inside)"
    return f"{text}, {step.kernel}"


def _packed_arguments(call: RunnerCall) -> list[str]:
    # The scratch is an argument of a packed function, too.
    count = len(call.types) + bool(call.scratch)
    values, codes = f"(TVMValue *)values_{call.index}", "(int *)type_codes"
    return [values, codes, str(count), "NULL", "NULL", "NULL"]


def _arguments(call: RunnerCall, function: PrimFunc, unit: Unit) -> list[str]:
    arguments = iter(call.args)
    return [
        f"{unit.place(f'scratch_{call.index}')} /* scratch_{call.index} */"
        if p.role is Role.SCRATCH
        else _pointer(next(arguments), p, unit)
        for p in function.parameters
    ]


def _pointer(argument: Argument, parameter: Parameter, unit: Unit) -> str:
    if argument.storage is Storage.DEVICE:
        return parameter.name
    if argument.storage is Storage.CONSTANT:
        return _constant(argument.name, parameter, unit)
    const = "" if parameter.role in (Role.OUTPUT, Role.STATE) else "const "
    if argument.storage is Storage.SID:
        place = unit.place(argument.name, argument.offset)
        what = f"{argument.name} + {argument.offset}" if argument.offset else argument.name
        return f"({const}{parameter.ctype} *){place} /* {what} */"
    at = argument.offset
    place = f"(({const}uint8_t *){argument.name} + {at})" if at else argument.name
    return f"({const}{parameter.ctype} *){place}"


def _constant(name: str, parameter: Parameter, unit: Unit) -> str:
    place = unit.plan.constant_places.get(name)
    if place is None or place.pool not in unit.passed_pools:
        return unit.constant_address(name)
    what = unit.constants[name].removeprefix(f"{unit.prefix}_")
    return f"(const {parameter.ctype} *)&{unit.base(place.pool)}[{place.offset}] /* {what} */"


def _row(placement: Placement, is_state: bool) -> str:
    calls = f"{placement.first // 2 + 1}..{placement.last // 2 + 1}"
    calls = "always" if is_state else calls
    return f"{placement.offset:9d} {placement.nbytes:9d}  {calls:12s} {placement.name}"
