"""Reads every layer's output from the shipped ELF as each operator returns, by gdb's protocol.

Buffers are reused, so a layer's bytes are read before the next operator runs. There is one
breakpoint at a time: at the entry of the next operator in the plan, then at its return address.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NoReturn

import numpy as np

from microgen.errors import RunError, ToolError
from microgen.ir.graph import Array, DType
from microgen.manifest import BufferRecord, CallRecord, Manifest, ModuleRecord
from microgen.output import progress
from microgen.runner import faults
from microgen.runner.gdb import GdbError, Stub
from microgen.runner.image import Image

_INTERRUPT_SECONDS = 5.0
_AT_ENTRY = 9  # Linux: include/uapi/linux/auxvec.h


@dataclass(frozen=True, slots=True)
class Layer:
    """The output tensor of call ``call`` of sample ``sample``, and the variables that were passed
    to the call, by their names, uint8. Both numbers count from 0, and each module's calls are
    counted separately. ``status`` is the value that the call returned."""

    sample: int
    call: int
    tensor: str
    array: Array
    module: str = ""
    variables: Mapping[str, Array] = field(default_factory=dict)
    status: int = 0


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


class _EndError(Exception):
    """The program ended."""

    def __init__(self, exit_code: int) -> None:
        super().__init__(exit_code)
        self.exit_code = exit_code


@dataclass(frozen=True, slots=True)
class Trace:
    """The layers that were read, and the program's exit code. If the debugger's connection ended
    before the program, the exit code is None and ``broken`` has the reason."""

    layers: tuple[Layer, ...]
    exit_code: int | None
    broken: str = ""


def follow(
    connection: socket.socket,
    image: Image,
    manifest: Manifest,
    *,
    samples: int,
    relocated: bool,
    limit: float,
) -> Trace:
    """Run a halted program to its end, and read every layer of ``samples`` inferences.

    ``relocated``: the host's kernel chose the addresses, which differ from the ELF's.
    Raises RunError if an operator takes more than ``limit`` seconds or gets a pointer other than
    the planned one, and ToolError for a processor whose calls cannot be read.
    """
    if image.machine not in CONVENTIONS:
        raise ToolError(
            f"layers cannot be read on a processor of kind {image.machine}",
            hint=f"kinds that can be read: {', '.join(CONVENTIONS)}",
        )
    layers: list[Layer] = []
    bias = 0
    try:
        stub = Stub(connection, limit)
        bias = _entry_point(stub) - image.entry if relocated else 0
        tracer = _Tracer(stub, image, manifest, bias)
        total = samples * manifest.call_count
        for layer in progress.counted("layers", tracer.layers(samples), total):
            layers.append(layer)  # keeps the layers read so far if the program ends early
        tracer.finish()
    except _EndError as end:
        return Trace(tuple(layers), end.exit_code)
    except GdbError as error:
        return Trace(tuple(layers), None, str(error))
    except TimeoutError as error:
        done = f"after {len(layers)} of {samples * manifest.call_count} layers"
        raise faults.hang(limit, done, location(connection, image, bias), image.path) from error


def location(connection: socket.socket, image: Image, bias: int = 0) -> str:
    """Stop a program that runs ``bias`` above its ELF's addresses, and return where it was as text;
    empty if that is not known."""
    convention = CONVENTIONS.get(image.machine)
    if convention is None:
        return ""
    try:
        stub = Stub(connection, _INTERRUPT_SECONDS, running=True)
        registers = stub.registers(convention.registers, convention.width)
    except (GdbError, TimeoutError):
        return ""
    return image.place(registers[convention.pc] - bias)


class _Tracer:
    """Follows a program from operator to operator. Raises _EndError when it ends, and the errors of
    ``Stub``."""

    def __init__(self, stub: Stub, image: Image, manifest: Manifest, bias: int) -> None:
        self._stub = stub
        self._image = image
        self._manifest = manifest
        self._convention = CONVENTIONS[image.machine]
        self._bias = bias

    def layers(self, samples: int) -> Iterator[Layer]:
        """Every call's output, sample by sample."""
        for sample in range(samples):
            for module in self._manifest.modules:
                for call in module.calls:
                    yield self._call(sample, call, module)

    def finish(self) -> NoReturn:
        """Let the program run to its end."""
        stop = self._stub.resume()
        if stop.exit_code is None:
            raise GdbError("the program stopped without a breakpoint")
        raise _EndError(stop.exit_code)

    def _call(self, sample: int, call: CallRecord, module: ModuleRecord) -> Layer:
        self._run_to(self._image.address(call.function) + self._bias)
        registers = self._registers()
        output = self._argument(registers, call.output)
        self._check_planned(call, module, output - self._bias)
        passed = self._variables(call, module, registers)
        self._run_to(self._return_address(registers))
        status = self._registers()[self._convention.result] & 0xFFFFFFFF
        size = DType(call.dtype).nbytes * int(np.prod(call.shape, dtype=np.int64))
        return Layer(
            sample,
            call.index,
            call.tensor,
            self._bytes(output, size).view(DType(call.dtype).numpy).reshape(call.shape),
            module.module,
            {record.tensor: self._bytes(at, record.nbytes) for record, at in passed},
            status - (status >> 31 << 32),
        )

    def _variables(
        self, call: CallRecord, module: ModuleRecord, registers: tuple[int, ...]
    ) -> list[tuple[BufferRecord, int]]:
        """Variables among the arguments, with their addresses."""
        states = {record.name: record for record in module.plan.buffers if record.is_state}
        return [
            (states[argument.name], self._argument(registers, k))
            for k, argument in enumerate(call.args)
            if argument.storage == "sid" and argument.name in states
        ]

    def _bytes(self, address: int, size: int) -> Array:
        return np.frombuffer(self._stub.read(address, size), np.uint8)

    def _check_planned(self, call: CallRecord, module: ModuleRecord, pointer: int) -> None:
        argument = call.args[call.output]
        if argument.storage != "sid":
            return
        planned = self._planned(module, argument.name)
        if pointer != planned:
            raise RunError(
                f"{_name(call)} writes to {pointer:#x}, but {argument.name} is at {planned:#x}",
                hint="run `microgen verify`",
            )

    def _planned(self, module: ModuleRecord, buffer: str) -> int:
        """The address of a buffer: its symbol's, or its offset in main's array for the pool."""
        record = next((b for b in module.plan.buffers if b.name == buffer), None)
        pools = {pool.name: pool for pool in module.plan.pools}
        if record is None or pools[record.pool].symbol:
            return self._image.buffer(module.module, buffer)
        array = self._manifest.seen_from(module).pool_array(record.pool)
        return self._image.address(array) + record.offset

    def _run_to(self, address: int) -> None:
        kind = self._convention.breakpoint
        self._stub.insert_breakpoint(address, kind)
        stop = self._stub.resume()
        if stop.exit_code is not None:
            raise _EndError(stop.exit_code)
        at = self._registers()[self._convention.pc]
        if at != address:
            raise GdbError(f"stopped at {at:#x}, expected {address:#x}")
        self._stub.remove_breakpoint(address, kind)

    def _registers(self) -> tuple[int, ...]:
        return self._stub.registers(self._convention.registers, self._convention.width)

    def _argument(self, registers: tuple[int, ...], index: int) -> int:
        own = self._convention
        if index < len(own.arguments):
            return registers[own.arguments[index]]
        slot = index - len(own.arguments) + (own.link is None)
        return self._word(registers[own.stack] + slot * own.width)

    def _return_address(self, registers: tuple[int, ...]) -> int:
        own = self._convention
        if own.link is None:
            return self._word(registers[own.stack])
        return registers[own.link] & ~1  # the lowest bit is Arm's instruction set

    def _word(self, address: int) -> int:
        return int.from_bytes(self._stub.read(address, self._convention.width), "little")


def _entry_point(stub: Stub) -> int:
    """The address at which the host's kernel put the program's entry point."""
    for kind, value in struct.iter_unpack("<QQ", stub.auxiliary_vector()):
        if kind == _AT_ENTRY:
            return int(value)
    raise GdbError("the host does not say at which address it put the program")


def _name(call: CallRecord) -> str:
    return f'call {call.index}, {call.function} (layer "{call.layer}")'
