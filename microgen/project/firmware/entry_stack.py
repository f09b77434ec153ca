"""The stack that firmware uses around an operator for its inputs, outputs and arguments.

This is the part of the frames of ``main``'s ``infer``, of the model's ``run`` and of its runner
that depends on the network. ``kernels/measured/stack_bytes.json`` has the other part, which is the
same for all networks, because ``scripts/measure.py`` subtracts the bytes that are computed here.
"""

from __future__ import annotations

from microgen.graph.ir.graph import ArrayType
from microgen.kernels import stack
from microgen.options import Options
from microgen.planner.program.types import Argument, PrimFunc, Program, Storage
from microgen.project.firmware import code_size

_WORD = 4  # bytes
_VALUE, _TYPE_CODE = 8, 4  # of a packed argument: TVMValue and its type code
_TENSOR = 40  # a DLTensor
_USUAL = 2  # ports, of the networks that were measured
_SAVED = 8  # registers that a function saves; further pointers remain where the caller passed them
KEPT = 8  # a pointer that the runner saves a register for, aligned
_CALLERS = (Storage.INPUT, Storage.OUTPUT)


def above(ports: int, options: Options) -> int:
    """The bytes that ``infer`` keeps: a pointer or a packed argument for each port."""
    return ports * ((_VALUE + _TYPE_CODE) if options.interface == "packed" else _WORD)


def until_runner(ports: int, options: Options, devices: int = 0) -> int:
    """The bytes that ``infer`` and ``run`` keep, with memory for the runner's arguments."""
    if options.executor == "graph":
        return above(ports, options)
    tensors = 0 if options.workspace_io else ports
    passed = stack.arguments(tensors + devices + len(options.pool))
    # `run` checks all pointers before it passes any, so it keeps the pointers that do not fit into
    # registers.
    kept = tensors * _WORD if options.interface == "packed" else passed
    return above(ports, options) + passed + kept


def until_call(program: Program, options: Options) -> int:
    """The bytes that are kept up to the call of the deepest operator, with the largest number of
    arguments of any operator."""
    nbytes = until_runner(count(program), options, len(program.devices)) + _kept(program)
    if code_size.runner(options) != "packed" or options.is_unpacked:
        most = max((function.passed for function in program.functions), default=0)
        return nbytes + stack.arguments(most) + _structure(program, options)
    return nbytes + _described(program) + max(map(_wrapper, program.functions), default=0)


def count(program: Program) -> int:
    """The number of inputs and outputs."""
    return len(program.inputs) + len(program.outputs)


def _kept(program: Program) -> int:
    """The bytes that the runner keeps for pointers to the caller's buffers, in addition to one
    input and one output. Buffers in which tensors lie take the most."""
    planned = {buffer.name for buffer in program.buffers}
    ports = (*program.inputs, *program.outputs)
    lie_there = sum(p.sid in planned and not p.buffer for p in ports)
    in_registers = min(max(0, len(ports) - lie_there - _USUAL), _SAVED)
    return KEPT * lie_there + _WORD * in_registers


def _described(program: Program) -> int:
    """The bytes of a runner of packed operators: a DLTensor for each tensor in the caller's
    buffers, and the argument values of all calls that pass such a tensor."""
    described: set[tuple[Argument, ArrayType]] = set()
    values = 0
    for call in program.calls:
        arguments = [argument for argument in call.args if argument.storage is not Storage.DEVICE]
        tensors = zip(arguments, call.types, strict=True)
        own = {(a, kind) for a, kind in tensors if a.storage in _CALLERS}
        values += _VALUE * (len(call.args) + bool(call.scratch)) * bool(own)
        described |= own
    return _TENSOR * len(described) + values


def _wrapper(function: PrimFunc) -> int:
    """The bytes that a packed function uses for the pointers in its arguments."""
    number, inside = len(function.parameters), len(function.in_struct)
    return (number + inside) * _WORD + stack.arguments(function.passed)


def _structure(program: Program, options: Options) -> int:
    """The bytes that a runner has for the largest structure of constants."""
    most = max((len(function.in_struct) for function in program.functions), default=0)
    # Only if the caller passes the constants' pool are their addresses not known at link time.
    return most * _WORD if options.pool else 0
