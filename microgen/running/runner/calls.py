"""Follows programs from call to call: calling conventions, and a walk by breakpoints."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import NoReturn, Protocol

from microgen.running.runner.gdb import GdbError, Stop


@dataclass(frozen=True, slots=True)
class Convention:
    """A procedure call standard. ``arguments``, ``result``, ``stack``, ``pc`` and ``link`` are
    registers, by their index in gdb's list; ``link`` is None if the return address is the first
    word on the stack. ``breakpoint`` is the protocol's kind of a breakpoint's instruction."""

    registers: int
    width: int
    arguments: tuple[int, ...]
    stack: int
    pc: int
    link: int | None
    breakpoint: int
    result: int


CONVENTIONS = {
    # Arm IHI 0042 (AAPCS32): r0-r3, then the stack; gdb's list is r0-r15.
    "EM_ARM": Convention(16, 4, (0, 1, 2, 3), stack=13, pc=15, link=14, breakpoint=2, result=0),
    # RISC-V ELF psABI, ilp32: a0-a7 (x10-x17), then the stack; gdb's list is x0-x31, pc.
    "EM_RISCV": Convention(
        33, 4, tuple(range(10, 18)), stack=2, pc=32, link=1, breakpoint=2, result=10
    ),
    # System V ABI, AMD64: rdi, rsi, rdx, rcx, r8, r9, then the stack above the return address;
    # gdb's list is rax, rbx, rcx, rdx, rsi, rdi, rbp, rsp, r8-r15, rip.
    "EM_X86_64": Convention(
        17, 8, (5, 4, 3, 2, 8, 9), stack=7, pc=16, link=None, breakpoint=1, result=0
    ),
}


class EndError(Exception):
    """The program ended with this exit code, negative for a signal."""

    def __init__(self, exit_code: int) -> None:
        super().__init__(exit_code)
        self.exit_code = exit_code


class DebuggedProgram(Protocol):
    """A stopped program under a debugger. Methods raise GdbError and TimeoutError."""

    def registers(self, count: int, width: int) -> tuple[int, ...]:
        """The first ``count`` registers of the machine's list, ``width`` bytes each."""
        ...

    def read(self, address: int, size: int) -> bytes:
        """Bytes of memory."""
        ...

    def insert_breakpoint(self, address: int, kind: int) -> None:
        """Insert a breakpoint; ``kind`` is the protocol's."""
        ...

    def remove_breakpoint(self, address: int, kind: int) -> None:
        """Undo ``insert_breakpoint``."""
        ...

    def resume(self) -> Stop:
        """Let the program run until it stops or ends."""
        ...


class Walker:
    """Runs a program from place to place. There are no breakpoints while it is stopped. Raises
    EndError when the program ends, and the errors of ``DebuggedProgram``."""

    def __init__(self, program: DebuggedProgram, machine: str) -> None:
        self._program = program
        self._convention = CONVENTIONS[machine]
        self._stopped: tuple[int, ...] | None = None  # the registers since the program stopped

    def run_to(self, address: int) -> None:
        """Let the program run up to the instruction at ``address``."""
        self.run_to_any((address,))

    def run_to_any(self, addresses: Collection[int]) -> int:
        """Let the program run up to the first of these instructions; return its address."""
        kind = self._convention.breakpoint
        # Breakpoints are inserted anew for each run, so that the memory that is read while the
        # program is stopped contains the program's own instructions.
        for address in addresses:
            self._program.insert_breakpoint(address, kind)
        stop = self._resume()
        if stop.exit_code is not None:
            raise EndError(stop.exit_code)
        at = self.registers()[self._convention.pc]
        # A signal stops the program, too, at an address where nobody waits.
        if at not in addresses:
            expected = " or ".join(f"{address:#x}" for address in addresses)
            raise GdbError(f"stopped at {at:#x}, expected {expected}")
        for address in addresses:
            self._program.remove_breakpoint(address, kind)
        return at

    def finish(self) -> NoReturn:
        """Let the program run to its end."""
        stop = self._resume()
        if stop.exit_code is None:
            raise GdbError("the program stopped without a breakpoint")
        raise EndError(stop.exit_code)

    def registers(self) -> tuple[int, ...]:
        """The registers of the convention's list."""
        if self._stopped is None:
            own = self._convention
            self._stopped = self._program.registers(own.registers, own.width)
        return self._stopped

    def argument(self, registers: tuple[int, ...], index: int) -> int:
        """An argument of the function at whose entry the program is."""
        own = self._convention
        if index < len(own.arguments):
            return registers[own.arguments[index]]
        # Without a link register the return address is on the stack below the arguments.
        slot = index - len(own.arguments) + (own.link is None)
        return self._word(registers[own.stack] + slot * own.width)

    def return_address(self, registers: tuple[int, ...]) -> int:
        """The address to which the function at whose entry the program is will return."""
        own = self._convention
        if own.link is None:
            return self._word(registers[own.stack])
        return registers[own.link] & ~1  # the lowest bit is Arm's instruction set

    def result(self) -> int:
        """The result of the function that has just returned: 32 bits, signed."""
        # All run functions return int32_t; the upper half of a register of 64 bits is undefined.
        value = self.registers()[self._convention.result] & 0xFFFFFFFF
        # Two's complement: bit 31 counts -2**31.
        return value - (value >> 31 << 32)

    def read(self, address: int, size: int) -> bytes:
        """Bytes of memory."""
        return self._program.read(address, size)

    def _resume(self) -> Stop:
        self._stopped = None
        return self._program.resume()

    def _word(self, address: int) -> int:
        return int.from_bytes(self.read(address, self._convention.width), "little")
