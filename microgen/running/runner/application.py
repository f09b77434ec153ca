"""Follows a program whose ``main`` is not the project's: it reads the inferences with their inputs,
outputs and layers.

The program stops at each entry of a model's run function, where the arguments are the addresses of
inputs and outputs, and at the function's return address.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from microgen.base.errors import InputError, ToolError
from microgen.base.manifest import CallRecord, Manifest, ModuleRecord, PortRecord
from microgen.graph.ir.graph import Array, DType
from microgen.running.runner import qemu, samples
from microgen.running.runner.calls import CONVENTIONS, DebuggedProgram
from microgen.running.runner.gdb import GdbError, Stub
from microgen.running.runner.image import Image
from microgen.running.runner.trace import Followed, HaltedProgram, TracedLayer, Tracer, until_end
from microgen.verifier.elf import elf

MOST_READ = 8  # inferences of each model whose layers are read

# DLPack's DLTensor, and TVMValue: the bytes of a value, and of the field byte_offset, by the
# bytes of a pointer. The first field is the pointer to the data.
_VALUE_BYTES = 8
_OFFSET_FIELD = {4: 32, 8: 40}


@dataclass(frozen=True, slots=True)
class Inference:
    """A call of a model's run function: its status and its return address. If the call was read, it
    also has the inputs, outputs and layers, by the model's tensor names."""

    module: str
    status: int
    returned_to: int
    inputs: Mapping[str, Array]
    outputs: Mapping[str, Array]
    layers: tuple[TracedLayer, ...] = ()


def _check_readable(module: ModuleRecord) -> None:
    """Raise ToolError unless the run function gets a pointer to each whole input and output."""
    # If an output shares an input's bytes, if the caller feeds rows, or if it owns the workspace,
    # the arguments are not one pointer for each tensor.
    overlaid = any(port.over for port in module.outputs)
    if module.feed or overlaid or module.options.get("workspace_io"):
        raise ToolError(
            "the inputs of this model are not one pointer each, so they cannot be read from a "
            "main that is not the project's",
            where=module.module,
            hint="run the project's own src/main.c, or without --compare",
        )


class _ReturnedError(Exception):
    """The run function has returned."""


def check_reads_samples(elf_file: Path) -> None:
    """Raise InputError unless the program names the file of samples, which it cannot open
    otherwise."""
    name = f"{qemu.INPUT}\0".encode()
    # C strings end with a zero byte, so a longer name that only begins like this one does not
    # match.
    if not any(name in data for _, data in elf.load(elf_file).image()):
        raise InputError(
            f"main of this firmware does not read samples: the ELF does not name {qemu.INPUT}",
            where="--input",
            hint="leave it out, or read that file in src/main.c as the project's own does",
        )


def follow(program: HaltedProgram, *, reads: bool) -> Followed[Inference]:
    """Run a program to its end. If it ``reads``, the inferences' tensors are read.

    Raises as ``until_end`` does, and ToolError for a processor or a model whose calls cannot be
    read.
    """
    image = program.image
    if image.machine not in CONVENTIONS:
        raise ToolError(f"calls cannot be read on a processor of kind {image.machine}")

    def walk(stub: Stub, bias: int, inferences: list[Inference]) -> NoReturn:
        _Follower(stub, image, program.manifest, bias).inferences(inferences, reads=reads)

    def progress(inferences: Sequence[Inference]) -> str:
        return f"after {len(inferences)} inferences"

    return until_end(program, walk, progress)


class _Follower(Tracer):
    """Follows a program from inference to inference."""

    def __init__(
        self, program: DebuggedProgram, image: Image, manifest: Manifest, bias: int
    ) -> None:
        super().__init__(program, image, manifest, bias)
        self._entries = self._functions({m.entry: m for m in manifest.modules})
        self._resets = self._functions({f"{m.prefix}_reset": m for m in manifest.modules})
        # 0 is no address of code on any board, so it means that no run function is running.
        self._end = 0  # the address to which the run function returns, while it runs

    def _functions(self, named: Mapping[str, ModuleRecord]) -> dict[int, ModuleRecord]:
        """The modules whose run functions are in the program, by the functions' addresses."""
        # The linker drops a function that nobody calls, so a program need not have all models.
        known = ((self._image.address_or_none(name), module) for name, module in named.items())
        # A program of the host is loaded at another address than the ELF's; ``bias`` is the
        # difference.
        return {a + self._bias: module for a, module in known if a is not None}

    def run_to(self, address: int) -> None:
        """Run the program up to the instruction at ``address``. Raises _ReturnedError if the run
        function returns first."""
        if self.run_to_any({address, self._end} - {0}) == self._end != address:
            # The entry of a call and the return address are both watched: a run function that
            # refuses its arguments returns without the call, and the program would otherwise run to
            # its end.
            raise _ReturnedError

    def inferences(self, inferences: list[Inference], *, reads: bool) -> NoReturn:
        """Add each inference to ``inferences`` when it has ended, until the program ends.

        After a reset or an error of a model with state, no more of its inferences are read, because
        the state is unknown then.
        """
        counts = dict.fromkeys((module.module for module in self.manifest.modules), 0)
        most = dict.fromkeys(counts, MOST_READ if reads else 0)
        while True:
            at = self.run_to_any({*self._entries, *self._resets})
            if at in self._resets:
                name = self._resets[at].module
                # A reset before the first inference does not change the state.
                most[name] = min(most[name], counts[name] or MOST_READ)
                # A breakpoint at the address of the stop itself would stop the program again at
                # once.
                self.run_to_any((self.return_address(self.registers()),))
                continue
            module = self._entries[at]
            name = module.module
            is_read = counts[name] < most[name]
            inferences.append(self._inference(module, counts[name], is_read=is_read))
            counts[name] += 1
            # No outputs: the inference returned an error or was not read, so the next one begins
            # with a state that we do not know.
            if not inferences[-1].outputs and any(b.is_state for b in module.plan.buffers):
                most[name] = 0

    def _inference(self, module: ModuleRecord, number: int, *, is_read: bool) -> Inference:
        registers = self.registers()
        # While the arguments are read, no run function of an earlier inference is awaited.
        self._end = 0
        end = self.return_address(registers)
        inputs: dict[str, Array] = {}
        places: dict[str, int] = {}
        layers: list[TracedLayer] = []
        # A run function that returns early must not be run to its return address a second time.
        has_returned = False
        if is_read:
            _check_readable(module)
            try:
                # Read at the entry, because the run function may overwrite its inputs.
                places = self._places(module, registers)
                inputs = {p.tensor: self._port(p, places[p.name]) for p in module.inputs}
            except GdbError:  # a pointer leads nowhere, so the run function returns an error
                is_read = False
        if is_read:
            layers, has_returned = self._layers(module, number, end)
        if not has_returned:
            self.run_to_any((end,))
        status = self.result()
        # After an error the outputs may hold anything, so they are not compared.
        if not is_read or status:
            # The plugin of the profiler knows the ELF's addresses only, which are without the bias.
            return Inference(module.module, status, end - self._bias, {}, {})
        outputs = {p.tensor: self._port(p, places[p.name]) for p in module.outputs}
        return Inference(module.module, status, end - self._bias, inputs, outputs, tuple(layers))

    def _layers(
        self, module: ModuleRecord, number: int, end: int
    ) -> tuple[list[TracedLayer], bool]:
        """The layers of the inference, and whether the run function has returned. After an error it
        returns before its last call."""
        layers: list[TracedLayer] = []
        self._end = end
        try:
            for call in module.calls:
                layers += self.layers_of(number, call, module)
        except _ReturnedError:
            return layers, True
        finally:
            self._end = 0
        return layers, False

    def _places(self, module: ModuleRecord, registers: tuple[int, ...]) -> dict[str, int]:
        """The addresses of the call's inputs and outputs, by field in C. Their tensors' names do
        not tell an input from an output that is called the same."""
        ports = (*module.inputs, *module.outputs)
        if module.options.get("interface") == "packed":
            # The packed function has one array of TVMValue for inputs and outputs.
            values = self.argument(registers, 0)
            return {
                port.name: self._data(self._word(values + k * _VALUE_BYTES))
                for k, port in enumerate(ports)
            }
        return {
            # The plain function has two structs of pointers, one for the inputs and one for the
            # outputs.
            port.name: self._word(self.argument(registers, index) + k * self._convention.width)
            for index, group in enumerate((module.inputs, module.outputs))
            for k, port in enumerate(group)
        }

    def _data(self, tensor: int) -> int:
        """The address of a DLTensor's first element."""
        offset = self._word(tensor + _OFFSET_FIELD[self._convention.width])
        return self._word(tensor) + offset

    def _port(self, port: PortRecord, address: int) -> Array:
        if port.fixed:  # the firmware ignores the caller's value
            return samples.port_array(port, port.fixed)
        dtype = DType(port.dtype).numpy
        return self._bytes(address, port.nbytes).view(dtype).reshape(port.shape)

    def _check_planned(
        self, call: CallRecord, position: int, module: ModuleRecord, pointer: int
    ) -> None:
        """Checks nothing, because the address of memory that the caller passes is not planned."""
        name = call.args[position].name
        pools = {pool.name: pool for pool in module.plan.pools}
        # Pools with a symbol are the firmware's own memory, whose addresses the linker gave.
        owned = {b.name for b in module.plan.buffers if pools[b.pool].symbol}
        if name in owned:
            super()._check_planned(call, position, module, pointer)
