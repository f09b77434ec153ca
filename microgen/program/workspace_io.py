"""Inputs and outputs planned in the workspace, as TVM's ``use_workspace_io`` has them.

The caller then asks where they lie, and owns none of their bytes. An input's bytes may be used
again once its last reader has run, so they must be written before every run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from microgen.program.types import Argument, Buffer, Call, Port, Program, Role, Storage


def planned(program: Program) -> Program:
    """The program with a storage id for each input and output."""
    names = dict(_names(program))
    inputs = tuple(_bound(port, Storage.INPUT, names) for port in program.inputs)
    outputs = tuple(_bound(port, Storage.OUTPUT, names) for port in program.outputs)
    buffers = (
        *(Buffer(p.buffer, p.type.nbytes, p.tensor, is_input=True) for p in inputs),
        *program.buffers,
        *(Buffer(p.buffer, p.type.nbytes, p.tensor, is_output=True) for p in outputs),
    )
    calls = tuple(_rebound(call, names) for call in program.calls)
    return replace(program, inputs=inputs, outputs=outputs, buffers=buffers, calls=calls)


def _names(program: Program) -> Iterator[tuple[Argument, str]]:
    """The storage ids of the ports, counted as lowering counts them: inputs, variables, then call
    by call the constants that it is the first to read, and its results."""
    for number, port in enumerate(program.inputs):
        yield Argument(Storage.INPUT, port.name), f"sid_{number}"
    number = len(program.inputs) + len(program.state)
    seen: set[Argument] = set()
    for call in program.calls:
        for role, argument in _arguments(program, call):
            is_new = argument.storage is Storage.CONSTANT and argument not in seen
            if not is_new and role is not Role.OUTPUT:
                continue
            seen.add(argument)
            if argument.storage is Storage.OUTPUT:
                yield argument, f"sid_{number}"
            number += 1


def _arguments(program: Program, call: Call) -> Iterator[tuple[Role, Argument]]:
    parameters = program.function(call.function).parameters
    roles = (p.role for p in parameters if p.role is not Role.SCRATCH)
    yield from zip(roles, call.args, strict=True)


def _bound(port: Port, storage: Storage, names: Mapping[Argument, str]) -> Port:
    return replace(port, buffer=names[Argument(storage, port.name)])


def _rebound(call: Call, names: Mapping[Argument, str]) -> Call:
    args = (Argument(Storage.SID, names[a]) if a in names else a for a in call.args)
    return replace(call, args=tuple(args))
