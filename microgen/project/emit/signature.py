"""The types of a call's arguments, in the form of C's tensors."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from microgen.base.errors import InternalError
from microgen.graph.ir.graph import ArrayType, DType
from microgen.planner.program.types import (
    FirmwareConstant,
    Parameter,
    PrimFunc,
    Program,
    Role,
    RunnerCall,
)
from microgen.project.emit import symbols
from microgen.project.emit.unit import Unit

# DLPack: a bool has one bit and takes a byte.
_CODES = {"i": "kDLInt", "u": "kDLUInt", "f": "kDLFloat", "b": "kDLUInt"}


def argument_types(call: RunnerCall, function: PrimFunc) -> tuple[ArrayType, ...]:
    """The types of a call's arguments in the order of ``tensor_parameters``."""
    types = iter(call.types)
    return tuple(
        # Scratch is no argument of the call, but the packed function gets it as a tensor of bytes.
        ArrayType((call.scratch,), DType.UINT8) if p.role is Role.SCRATCH else next(types)
        for p in tensor_parameters(function)
    )


def tensor_parameters(function: PrimFunc) -> tuple[Parameter, ...]:
    """The C parameters that are tensors, scratch included: all but a device's context."""
    return tuple(p for p in function.parameters if p.role is not Role.DEVICE)


@dataclass(frozen=True, slots=True)
class Taken:
    """The type of one parameter of an operator in all its calls. ``any_shape``: the function does
    not depend on shapes and is called with several; ``type`` then has one dimension, the number of
    elements."""

    name: str
    type: ArrayType
    any_shape: bool


def takes(function: PrimFunc, unit: Unit) -> list[Taken]:
    """The types of an operator's parameters, scratch included."""
    calls = [call for call in unit.program.calls if call.function == function.name]
    columns = zip(*(argument_types(call, function) for call in calls), strict=True)
    return [_taken(p, kinds) for p, kinds in zip(tensor_parameters(function), columns, strict=True)]


def taken_arguments(function: PrimFunc, unit: Unit) -> list[Taken]:
    """The types of the packed function's arguments."""
    taken = zip(tensor_parameters(function), takes(function, unit), strict=True)
    # The graph executor does not know about scratch buffers.
    return [t for p, t in taken if not (p.role is Role.SCRATCH and unit.graph is not None)]


def _taken(parameter: Parameter, kinds: tuple[ArrayType, ...]) -> Taken:
    first = kinds[0]
    # If all calls have one shape, C checks it; if there are several, C checks only the number of
    # elements.
    if all(kind.shape == first.shape for kind in kinds):
        return Taken(parameter.name, first, any_shape=False)
    if any(kind.size != first.size for kind in kinds):
        raise InternalError("takes tensors of several sizes", where=parameter.name)
    return Taken(parameter.name, ArrayType((first.size,), first.dtype), any_shape=True)


def dtype(kind: DType) -> str:
    """A DLDataType's initialiser."""
    return f"{{{_CODES[kind.numpy.kind]}, {_bits(kind)}U, 1U}}"


def _bits(kind: DType) -> int:
    return 1 if kind is DType.BOOL else 8 * kind.nbytes


def described(kind: ArrayType, unit: Unit) -> dict[str, Any]:
    """Shape, number of dimensions and element type, for templates."""
    return {
        "shape": symbols.shape(unit.module, kind.shape),
        "ndim": len(kind.shape),
        "dtype": dtype(kind.dtype),
        "code": _CODES[kind.dtype.numpy.kind],
        "bits": f"{_bits(kind.dtype)}U",
    }


def shapes(unit: Unit) -> dict[str, Any]:
    """Values of ``src/tensors.h.j2`` and ``src/tensors.c.j2``: each shape once."""
    program = unit.program
    kinds = [port.type for port in (*program.inputs, *program.outputs)]
    if not unit.options.unpacked and unit.graph is None:
        kinds += _passed(program, program.calls)
    kinds += _loaded(unit)
    if not unit.options.unpacked:
        kinds += [t.type for f in program.functions for t in taken_arguments(f, unit)]
    return {
        **unit.common("TENSORS_"),
        "shapes": [
            {"name": symbols.shape(unit.module, dims), "dims": dims} for dims in _distinct(kinds)
        ],
    }


def held_type(constant: FirmwareConstant) -> ArrayType:
    """The type of a constant that a module receives."""
    return ArrayType(constant.array.shape, DType(constant.array.dtype.name))


def _passed(program: Program, calls: Iterable[RunnerCall]) -> list[ArrayType]:
    """The types of the arguments of calls."""
    functions = ((call, program.function(call.function)) for call in calls)
    return [kind for call, function in functions for kind in argument_types(call, function)]


def _loaded(unit: Unit) -> list[ArrayType]:
    """The types of the arguments and constants of loaded modules' functions."""
    program = unit.program
    functions = {name for module, _ in program.runtime_modules for name in module.functions}
    kinds = _passed(program, (call for call in program.calls if call.function in functions))
    held = (c for c in program.constants if c.name in program.held_constants)
    return [*kinds, *map(held_type, held)]


def _distinct(kinds: Iterable[ArrayType]) -> list[tuple[int, ...]]:
    return [dims for dims in dict.fromkeys(kind.shape for kind in kinds) if dims]
