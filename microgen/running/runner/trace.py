"""Reads every layer's result from the shipped ELF as each operator returns, by gdb's protocol.

Buffers are reused, so a layer's bytes are read before the next operator runs. Layers inside an
operator are read from its scratch, if nothing has overwritten them there. There is one
breakpoint at a time: at the entry of the next operator in the plan, then at its return address.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, NoReturn, TypeVar

import numpy as np

from microgen.base.errors import RunError, ToolError
from microgen.base.manifest import (
    BufferRecord,
    CallRecord,
    Manifest,
    ModuleRecord,
    RowCall,
    StepRecord,
)
from microgen.base.output import progress
from microgen.graph.ir.graph import Array, DType
from microgen.graph.ir.rounds import in_round
from microgen.running.runner import faults
from microgen.running.runner.calls import CONVENTIONS, DebuggedProgram, EndError, Walker
from microgen.running.runner.gdb import GdbError, Stub
from microgen.running.runner.image import Image

# A stop that takes longer leaves the report without a location.
_INTERRUPT_SECONDS = 5.0
_AT_ENTRY = 9  # Linux: include/uapi/linux/auxvec.h
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class TracedLayer:
    """The result of a layer that call ``call`` of sample ``sample`` computed, and the variables
    that were passed to the call, by their names, uint8. Both numbers count from 0, and each
    module's calls are counted separately. ``status`` is the value that the call returned. It may be
    a tensor inside of a loop in some round (``is_inner``)."""

    sample: int
    call: int
    tensor: str
    array: Array
    module: str = ""
    variables: Mapping[str, Array] = field(default_factory=dict)
    status: int = 0
    is_inner: bool = False


@dataclass(frozen=True, slots=True)
class Followed(Generic[T]):
    """The items that were read while a program ran, in order: its layers, or its inferences. If the
    debugger's connection ended before the program, the exit code is None and ``broken`` has the
    reason."""

    items: tuple[T, ...]
    exit_code: int | None
    broken: str = ""


@dataclass(frozen=True, slots=True)
class HaltedProgram:
    """A program that waits for a debugger at the other end of the ``connection`` before its first
    instruction. ``relocated``: the host's kernel chose the addresses, which differ from the ELF's.
    Between two stops the program may run for ``limit`` seconds."""

    connection: socket.socket
    image: Image
    manifest: Manifest
    relocated: bool
    limit: float


def until_end(
    program: HaltedProgram,
    walk: Callable[[Stub, int, list[T]], NoReturn],
    progress: Callable[[Sequence[T]], str],
) -> Followed[T]:
    """The items that ``walk`` reads from a program until the program ends. ``walk`` gets the
    connection, the difference of the program's addresses to the ELF's, and a list for the items.

    Raises RunError with the ``progress`` if the program exceeds its limit.
    """
    image, limit = program.image, program.limit
    items: list[T] = []
    bias, stub = 0, None
    try:
        stub = Stub(program.connection, limit)
        bias = _entry_point(stub) - image.entry if program.relocated else 0
        walk(stub, bias, items)
    except EndError as end:
        return Followed(tuple(items), end.exit_code)
    except GdbError as error:
        return Followed(tuple(items), None, str(error))
    except TimeoutError as error:
        at = location(program.connection, image, bias, stub)
        raise faults.hang(limit, progress(items), at, image.path) from error


def follow(program: HaltedProgram, samples: int) -> Followed[TracedLayer]:
    """Run a program to its end, and read every layer of ``samples`` inferences.

    Raises as ``until_end`` does, RunError if an operator gets a pointer other than the planned one,
    and ToolError for a processor whose calls cannot be read.
    """
    image, manifest = program.image, program.manifest
    # Refused before the program runs, because the walk needs the convention at its first stop.
    if image.machine not in CONVENTIONS:
        raise ToolError(
            f"layers cannot be read on a processor of kind {image.machine}",
            hint=f"kinds that can be read: {', '.join(CONVENTIONS)}",
        )

    def traced(stub: Stub, bias: int, layers: list[TracedLayer]) -> NoReturn:
        walk(Tracer(stub, image, manifest, bias), samples, layers)

    def progress(layers: Sequence[TracedLayer]) -> str:
        return progressed(layers, samples, manifest)

    return until_end(program, traced, progress)


def walk(tracer: Tracer, samples: int, layers: list[TracedLayer]) -> NoReturn:
    """Run a stopped program to its end. Each layer is added to ``layers`` when it has been read, so
    they are kept if the program ends early. Raises EndError, and as ``DebuggedProgram`` does."""
    total = samples * tracer.manifest.seen_count
    layers.extend(progress.counted("layers", tracer.layers(samples), total))
    tracer.finish()


def progressed(layers: Sequence[TracedLayer], samples: int, manifest: Manifest) -> str:
    """The progress of reading layers, as text."""
    return f"after {len(layers)} of {samples * manifest.seen_count} layers"


def location(
    connection: socket.socket, image: Image, bias: int = 0, before: Stub | None = None
) -> str:
    """Stop a program that runs ``bias`` above its ELF's addresses, and return its location as text;
    empty if it is not known. ``before`` has used the connection until now."""
    convention = CONVENTIONS.get(image.machine)
    if convention is None:
        # The location only makes the report better, so without it the report is still made.
        return ""
    try:
        acknowledges = before is None or before.acknowledges
        stub = Stub(connection, _INTERRUPT_SECONDS, running=True, acknowledges=acknowledges)
        registers = stub.registers(convention.registers, convention.width)
    except (GdbError, TimeoutError):
        return ""
    return image.place(registers[convention.pc] - bias)


@dataclass(slots=True)
class _Filled:
    """A layer's result, of which the elements that are ``known`` were read."""

    array: Array
    known: Array

    @classmethod
    def empty(cls, step: StepRecord) -> _Filled:
        array = np.zeros(step.shape, DType(step.dtype).numpy)
        is_last = step.in_rows is not None and step.in_rows.is_last
        return cls(array, np.zeros((1, 1) if is_last else step.shape[1:3], np.bool_))

    def put(self, at: RowCall, block: Array) -> bool:
        """Add rows and columns; False if other values were there."""
        place = slice(at.row, at.row + at.height), slice(at.column, at.column + at.width)
        images = self.array.reshape(*self.known.shape, -1)
        known, before = self.known[place], images[place]
        # Bytes are compared, because a float may be no number.
        is_same: bool = before[known].tobytes() == block[known].tobytes()
        before[...] = block
        known[...] = True
        return is_same


class Tracer(Walker):
    """Follows a program from operator to operator."""

    def __init__(
        self, program: DebuggedProgram, image: Image, manifest: Manifest, bias: int = 0
    ) -> None:
        super().__init__(program, image.machine)
        self._image = image
        self.manifest = manifest
        self._bias = bias
        # Of each module: the buffers by name. There may be thousands, and each call asks for some.
        self._buffers = {m.module: {b.name: b for b in m.plan.buffers} for m in manifest.modules}

    def layers(self, samples: int) -> Iterator[TracedLayer]:
        """Every layer that can be read, sample by sample."""
        for sample in range(samples):
            for module in self.manifest.modules:
                for call in module.calls:
                    yield from self.layers_of(sample, call, module)

    def layers_of(self, sample: int, call: CallRecord, module: ModuleRecord) -> list[TracedLayer]:
        """Let the program run through a call; return the layers that it has computed."""
        # A call by rows has no memory for a whole layer, so its rows are read at each of its parts.
        rows = list(call.row_calls)
        if rows:
            return self._rolled(sample, call, module, rows)
        self.run_to(self._image.address(call.function) + self._bias)
        registers = self.registers()
        results = []
        for step, position in call.seen:
            pointer = self.argument(registers, _parameter(call, position))
            self._check_planned(call, position, module, pointer - self._bias)
            # Read from registers at the entry, because a function may change them before it
            # returns.
            results.append((step, pointer + step.offset))
        passed = self._variables(call, module, registers)
        inside = self._in_rounds(sample, call, module)
        self.run_to(self.return_address(registers))
        # The variables have the values after the call, which may update them.
        variables = {record.tensor: self._bytes(at, record.nbytes) for record, at in passed}
        status = self.result()
        return inside + [
            TracedLayer(
                *(sample, call.index, step.tensor, self._tensor(step, at), module.module),
                variables,
                status,
            )
            for step, at in results
        ]

    def _in_rounds(self, sample: int, call: CallRecord, module: ModuleRecord) -> list[TracedLayer]:
        """The layers that functions inside the call compute in each round of its loops."""
        found = []
        for step, inner, done in call.round_calls:
            self.run_to(self._image.address(inner.function) + self._bias)
            registers = self.registers()
            pointer = self.argument(registers, inner.argument)
            self.run_to(self.return_address(registers))
            # Read now, because the next round writes to the same place.
            name, array = in_round(step.tensor, done), self._tensor(step, pointer)
            own = TracedLayer(sample, call.index, name, array, module.module, is_inner=True)
            found.append(own)
        return found

    def _rolled(
        self, sample: int, call: CallRecord, module: ModuleRecord, rows: Sequence[RowCall]
    ) -> list[TracedLayer]:
        """The layers of a call that computes them row by row: the rows that each of its parts has
        written when the part returns. Patches compute rows again, which must be the same."""
        found: dict[str, _Filled] = {}
        for one in rows:
            self.run_to(self._image.address(one.rows.function) + self._bias)
            registers = self.registers()
            pointer = self.argument(registers, one.rows.argument)
            self.run_to(self.return_address(registers))
            own = found.setdefault(one.step.tensor, _Filled.empty(one.step))
            # Read now, because the next rows may take the place of these. The last time may write
            # the final result, of which the times before have written parts.
            if not own.put(one, self._block(one, pointer)) and not one.rows.is_last:
                raise RunError(
                    f"{_name(call)} computes rows of {one.step.tensor!r} twice, with different "
                    f"values in row {one.row}, columns {one.column} to {one.column + one.width - 1}"
                )
        return [
            TracedLayer(sample, call.index, tensor, own.array, module.module)
            for tensor, own in found.items()
        ]

    def _block(self, one: RowCall, address: int) -> Array:
        """The rows and columns of a layer's result at an address: [height, width, channels]."""
        shape = (one.height, one.width, one.step.shape[-1])
        return self._tensor(replace(one.step, shape=shape), address)

    def _tensor(self, step: StepRecord, address: int) -> Array:
        dtype = DType(step.dtype)
        size = dtype.nbytes * int(np.prod(step.shape, dtype=np.int64))
        return self._bytes(address, size).view(dtype.numpy).reshape(step.shape)

    def _variables(
        self, call: CallRecord, module: ModuleRecord, registers: tuple[int, ...]
    ) -> list[tuple[BufferRecord, int]]:
        """Variables among the arguments, with their addresses."""
        buffers = self._buffers[module.module]
        return [
            (buffers[argument.name], self.argument(registers, _parameter(call, k)))
            for k, argument in enumerate(call.args)
            if argument.storage == "sid"
            and argument.name in buffers
            and buffers[argument.name].is_state
        ]

    def _bytes(self, address: int, size: int) -> Array:
        return np.frombuffer(self.read(address, size), np.uint8)

    def _check_planned(
        self, call: CallRecord, position: int, module: ModuleRecord, pointer: int
    ) -> None:
        argument = call.args[position]
        if argument.storage != "sid":
            return
        planned = self._planned(module, argument.name) + argument.offset
        # Otherwise bytes of another buffer would be compared, and they might even be equal.
        if pointer != planned:
            raise RunError(
                f"{_name(call)} writes to {pointer:#x}, but {argument.name} is at {planned:#x}",
                hint="run `microgen verify`",
            )

    def _planned(self, module: ModuleRecord, buffer: str) -> int:
        """The address of a buffer: its symbol's address, or an offset in main's array for the pool
        or for the port in which it lies."""
        record = self._buffers[module.module].get(buffer)
        pools = {pool.name: pool for pool in module.plan.pools}
        # A pool without a symbol is an array of main, or lies in the buffer of a port.
        if record is None or pools[record.pool].symbol:
            return self._image.buffer(module.module, buffer)
        seen = self.manifest.seen_from(module)
        array = seen.port_array(pools[record.pool]) or seen.pool_array(record.pool)
        return self._image.address(array) + record.offset


def _entry_point(stub: Stub) -> int:
    """The address at which the host's kernel put the program's entry point."""
    # Linux's auxiliary vector has pairs of 64-bit words on the hosts that we support.
    for kind, value in struct.iter_unpack("<QQ", stub.transfer("auxv", "", "auxiliary vector")):
        if kind == _AT_ENTRY:
            return int(value)
    raise GdbError("the host does not say at which address it put the program")


def _parameter(call: CallRecord, position: int) -> int:
    """The C parameter that passes the argument at a position, which is not in the structure of
    constants."""
    # All arguments in the structure are one parameter: its address.
    inside = sum(argument.in_struct for argument in call.args[:position])
    return position - max(0, inside - 1)


def _name(call: CallRecord) -> str:
    return f'call {call.index}, {call.function} (layer "{" + ".join(call.layers)}")'
