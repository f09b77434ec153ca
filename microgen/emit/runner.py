"""The runner: one call after the other, and the entry point in front of it."""

from __future__ import annotations

from typing import Any

from microgen import cnames
from microgen.emit import packed, symbols
from microgen.emit.header import header
from microgen.emit.tensors import tensors
from microgen.emit.unit import Unit
from microgen.program import Argument, Call, Parameter, Placement, PrimFunc, Role, Storage


def runner(unit: Unit) -> dict[str, Any]:
    """Values of ``src/lib0.c.j2``."""
    program, plan = unit.program, unit.plan
    ports = [*program.inputs, *program.outputs]
    kept = [buffer.name for buffer in program.state]
    used = {argument.name for call in program.calls for argument in call.args}
    run = [f"inputs->{p.name}" for p in program.inputs]
    run += [f"outputs->{p.name}" for p in program.outputs]
    values = {
        **header(unit),
        "arena": unit.arena,
        "buffers": [_row(p, p.name in kept) for p in plan.placements],
        "state": [(plan.by_name[b.name], b.reset_byte) for b in program.state],
        "main_parameters": ", ".join(f"void *{p.name}" for p in ports),
        "unused": [p.name for p in ports if p.name not in used],
        "run_arguments": ", ".join(run),
        "calls": [_call(call, unit) for call in program.calls],
    }
    if unit.options.interface == "packed":
        values |= packed.entry(unit)
    if not unit.options.unpacked:
        values |= tensors(unit)
    return values


def _call(call: Call, unit: Unit) -> dict[str, Any]:
    number = f"{call.index + 1}/{len(unit.program.calls)}"
    why = "; ".join((call.reason, *(f"not {refusal}" for refusal in call.refusals)))
    return {
        "title": f'{number} "{cnames.comment(call.tensor)}"',
        "types": cnames.comment(call.summary),
        "kernel": cnames.comment(f"{call.kernel}: {why}", 400),
        "function": call.function,
        "args": _arguments(call, unit.program.function(call.function), unit)
        if unit.options.unpacked
        else _packed_arguments(call),
        "index": call.index,
    }


def _packed_arguments(call: Call) -> list[str]:
    count = len(call.types) + bool(call.scratch)
    values, codes = f"(TVMValue *)values_{call.index}", "(int *)type_codes"
    return [values, codes, str(count), "NULL", "NULL", "NULL"]


def _arguments(call: Call, function: PrimFunc, unit: Unit) -> list[str]:
    given = iter(call.args)
    return [
        unit.place(f"scratch_{call.index}")
        if p.role is Role.SCRATCH
        else _pointer(next(given), p, unit)
        for p in function.parameters
    ]


def _pointer(argument: Argument, parameter: Parameter, unit: Unit) -> str:
    if argument.storage is Storage.CONSTANT:
        return symbols.constant(unit.module, argument.name)
    const = "" if parameter.role in (Role.OUTPUT, Role.STATE) else "const "
    if argument.storage is Storage.SID:
        place = unit.place(argument.name)
        return f"({const}{parameter.ctype} *){place} /* {argument.name} */"
    return f"({const}{parameter.ctype} *){argument.name}"


def _row(placement: Placement, is_state: bool) -> str:
    calls = f"{placement.first // 2 + 1}..{placement.last // 2 + 1}"
    calls = "always" if is_state else calls
    return f"{placement.offset:9d} {placement.nbytes:9d}  {calls:12s} {placement.name}"
