"""A C kernel inside a primitive function, and the function's parameters."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from microgen.planner.program.kernel_code import KernelCode


class Role(enum.Enum):
    """The purpose of a primitive function's parameter."""

    INPUT = "input"
    CONSTANT = "constant"
    OUTPUT = "output"
    STATE = "state"  # read, and updated for the next inference
    SCRATCH = "scratch"
    DEVICE = "device"  # the context of the device that computes it


Value = int | float  # an int is an int32_t in C, a float a float
Fields = tuple[tuple[str, Value | tuple[Value, ...]], ...]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a primitive function: C identifier, C element type, role."""

    name: str
    ctype: str
    role: Role


@dataclass(frozen=True, slots=True)
class Inner:
    """A buffer inside a primitive function: ``offset`` bytes into its scratch, of C elements."""

    offset: int
    ctype: str


@dataclass(frozen=True, slots=True)
class KernelCall:
    """One C kernel inside a primitive function.

    ``params`` are the compile-time constants: the fields of the kernel's parameter struct in order.
    ``args`` are names of the primitive function's parameters, "NULL", or buffers inside it, in the
    kernel's argument order. ``can_fail``: the kernel returns a status. ``is_shared``: the function
    calls the kernel's out-of-line form, for any parameters, and does not contain a body that is
    compiled for these.
    """

    code: KernelCode
    params: Fields
    args: tuple[str | Inner, ...]
    can_fail: bool = False
    is_shared: bool = False
