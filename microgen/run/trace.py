"""Reads every layer's output from the shipped ELF, as each operator returns, through gdb's protocol.

Buffers are reused, so a layer's bytes are read before the next operator runs. There is one
breakpoint at a time: at the entry of the next operator in the plan, then at its return address.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from microgen.errors import RunError, ToolError
from microgen.ir.graph import Array, DType
from microgen.manifest import CallRecord, Manifest
from microgen.run.gdb import GdbError, Stop, Stub
from microgen.run.image import Image

_AT_NULL, _AT_ENTRY = 0, 9  # Linux: include/uapi/linux/auxvec.h


@dataclass(frozen=True, slots=True)
class Layer:
    """What call ``call`` of sample ``sample`` left in its output tensor (both count from 0)."""

    sample: int
    call: int
    tensor: str
    array: Array


@dataclass(frozen=True, slots=True)
class Convention:
    """A procedure call standard. ``arguments``, ``stack``, ``pc``, ``link``: registers by their
    place in gdb's list; ``link`` is None where the return address is the first word on the stack.
    ``breakpoint`` is the kind that gdb's protocol gives a breakpoint's instruction."""

    registers: int
    width: int
    arguments: tuple[int, ...]
    stack: int
    pc: int
    link: int | None
    breakpoint: int


CONVENTIONS = {
    # Arm IHI 0042 (AAPCS32): r0-r3, then the stack; gdb's list is r0-r15.
    "EM_ARM": Convention(16, 4, (0, 1, 2, 3), stack=13, pc=15, link=14, breakpoint=2),
    # System V ABI, AMD64: rdi, rsi, rdx, rcx, r8, r9, then the stack behind the return address;
    # gdb's list is rax, rbx, rcx, rdx, rsi, rdi, rbp, rsp, r8-r15, rip.
    "EM_X86_64": Convention(17, 8, (5, 4, 3, 2, 8, 9), stack=7, pc=16, link=None, breakpoint=1),
}


class Lost(Exception):
    """The program ended before the next operator."""

    def __init__(self, stop: Stop) -> None:
        super().__init__()
        self.stop = stop


class Tracer:
    """Follows a halted program over ``stub``; ``position`` says in words where it has come to.

    Raises ToolError for a processor whose calls it cannot read.
    """

    def __init__(self, stub: Stub, image: Image, manifest: Manifest) -> None:
        if image.machine not in CONVENTIONS:
            raise ToolError(
                f"layers cannot be read on a processor of kind {image.machine}",
                hint=f"kinds that can be read: {', '.join(CONVENTIONS)}",
            )
        self._stub = stub
        self._image = image
        self._manifest = manifest
        self._convention = CONVENTIONS[image.machine]
        self._bias = 0 if not manifest.is_relocated else 0
        self.position = "before the first operator"
