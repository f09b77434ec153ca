"""Partition -> Program: names functions, gives storage ids, binds weights as arguments.

Storage ids are numbered as TVM's AOT on-demand allocator numbers them on a graph in A-normal
form: first the inputs, then for each call the constants that it is the first to read, and its
results. Ids of inputs, constants and outputs are counted but name no planned buffer. If inputs and
outputs are planned in the workspace (``workspace_io``), the ports' ids are used for that.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from microgen.base.names import cnames
from microgen.compiler.codegens import selection
from microgen.compiler.codegens.base import Codegen, Primitive, Region
from microgen.compiler.lowering import assembling, devices, functions, runs, updates
from microgen.compiler.lowering.assembling import AssembledRegions
from microgen.compiler.lowering.functions import Lowered, LoweredRegions, LoweredRun
from microgen.compiler.lowering.updates import Updates
from microgen.compiler.partition import Partition, assembly, sections
from microgen.graph.ir.graph import Array, ArrayType, DType, Graph
from microgen.kernels.base import KernelConstant
from microgen.kernels.requantization import transforms
from microgen.planner.program.external import ExternalModule, HeldConstant
from microgen.planner.program.kernel_call import ctype
from microgen.planner.program.steps import Step
from microgen.planner.program.types import (
    Argument,
    Buffer,
    Device,
    FirmwareConstant,
    InPlace,
    Port,
    Program,
    Role,
    RunnerCall,
    Storage,
    Transform,
)
from microgen.target.board import Board
from microgen.target.targets import NO_TARGETS, Targets


def lower(
    partition: Partition,
    codegens: Mapping[str, Codegen],
    board: Board,
    *,
    module: str,
    output_names: Sequence[str],
    targets: Targets = NO_TARGETS,
) -> Program:
    """The program for a partition.

    ``output_names`` are the model's names of the outputs' tensors.
    Equal primitive functions (same body, same target) become one, called with different weights.
    Raises MicrogenError for a region of a target that is not among ``targets``.
    """
    partition = assembly.with_copies(partition)
    graph = partition.graph
    inputs = _input_ports(graph)
    outputs = _output_ports(graph, output_names, {p.name for p in inputs})
    needed = _devices(partition, codegens, targets, {p.name for p in (*inputs, *outputs)})
    lowered = functions.lower_regions(partition, codegens, board, f"tvmgen_{module}", needed)
    updated = updates.of(graph, partition.regions, lowered.primitives)
    assembled = assembling.of(partition, lowered.primitives)
    state = _Lowering(graph, partition.regions, needed, updated, assembled, inputs, outputs)
    external = state.add_all(partition.regions, lowered)
    return Program(
        module=module,
        inputs=state.numbered(inputs),
        outputs=state.numbered(outputs),
        functions=lowered.functions_without(updated.dropped | assembled.dropped),
        calls=tuple(state.calls),
        buffers=tuple(state.buffers.values()),
        constants=tuple(state.constants.values()),
        parameters=state.parameters,
        devices=needed,
        external_modules=external,
        parameter_ids=state.parameter_ids,
    )


def may_overlap(
    primitive: Primitive,
    bytes_of: Mapping[str, str],
    parts: Collection[str],
    sections: Collection[str] = (),
) -> tuple[InPlace, ...]:
    """The pairs of parameters of a call whose buffers may overlap, if ``parts`` are the tensors
    that are parts of another tensor's bytes, and ``sections`` are sections and their views."""
    tensors = (*primitive.inputs, *primitive.constants, *primitive.outputs)
    pointers = [i for i, p in enumerate(primitive.parameters) if p.role is not Role.SCRATCH]
    # A section is read from a buffer with other bytes, which may be read later.
    # A part of a buffer is used at other times than its other bytes, so parts are in no pair.
    apart = {
        position
        for position, tensor in zip(pointers, tensors, strict=False)
        if isinstance(tensor, str) and (bytes_of[tensor] in parts or tensor in sections)
    }
    return tuple(p for p in primitive.in_place if apart.isdisjoint((p.input, p.output)))


def _devices(
    partition: Partition, codegens: Mapping[str, Codegen], targets: Targets, taken: set[str]
) -> tuple[Device, ...]:
    """The devices of the regions' targets. Raises MicrogenError if a target is not declared, or if
    the name of an external function or of a hook is in ``taken``."""
    for region in partition.regions:
        targets.by_kind(region.target, where=str(region.origin))
    functions.check_symbols(partition.regions, taken)
    used = {region.target for region in partition.regions}
    return devices.of(targets, used, taken, selection.drivers(codegens, used))


# Macros of the header, TVMGEN_<M>_<NAME>_SIZE, that no input or output may define again.
_OWN_MACROS = ("WORKSPACE",)


def _input_ports(graph: Graph) -> tuple[Port, ...]:
    """Ports with C identifiers made from the names of inputs, which also differ in upper case, for
    macros."""
    # Only an input whose name in the model is "input" gets this name.
    used = {*_OWN_MACROS, *({"INPUT"} if "input" not in graph.inputs else ())}
    ports = []
    tried: dict[str, int] = {}
    for tensor in graph.inputs:
        plain = cnames.unique(cnames.field(tensor), used, key=str.upper, tried=tried)
        used.add(plain.upper())
        ports.append(Port(plain, tensor, graph.types[tensor], graph.fixed.get(tensor, ())))
    own = graph.input_aliases or ((),) * len(ports)
    return tuple(
        replace(port, aliases=aliases)
        for port, aliases in zip(_with_second_names(ports, own), own, strict=True)
    )


def _output_ports(graph: Graph, tensors: Sequence[str], taken: set[str]) -> tuple[Port, ...]:
    """Output ports with TVM's names: the names in the graph if it has any, otherwise ``output``, or
    ``output0``, ``output1``, ... ``tensors`` are the model's names of the outputs."""
    count = len(graph.outputs)
    used = {*_OWN_MACROS, *(name.upper() for name in taken)}
    ports: list[Port] = []
    labels = graph.output_names or (None,) * count
    # An output that is listed twice gets no other tensor's name.
    named = {*graph.types, *graph.dropped}.difference(tensors)
    known: set[str] = set()
    tried: dict[str, int] = {}
    for i, (tensor, own, label) in enumerate(zip(graph.outputs, tensors, labels, strict=True)):
        plain = "output" if count == 1 else f"output{i}"
        plain = plain if label is None else cnames.field(label)
        plain = cnames.unique(plain, used, key=str.upper)
        used.add(plain.upper())
        name = cnames.unique(own, named)
        named.add(name)
        label = cnames.unique(name if label is None else label, known, tried=tried)
        known.add(label)
        texts = graph.labels.get(tensor, ())
        ports.append(Port(plain, name, graph.types[tensor], label=label, texts=texts))
    return _with_second_names(ports, graph.output_aliases)


def _with_second_names(ports: Sequence[Port], names: Sequence[Sequence[str]]) -> tuple[Port, ...]:
    """The ports, each with the further names that C allows for it."""
    second = cnames.aliases(names, [port.name for port in ports])
    return tuple(replace(port, second_names=own) for port, own in zip(ports, second, strict=True))


@dataclass(slots=True)
class _Lowering:
    """The program under construction, call by call."""

    graph: Graph
    regions: tuple[Region, ...]
    devices: tuple[Device, ...]
    updates: Updates
    assembled: AssembledRegions
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    calls: list[RunnerCall] = field(default_factory=list)
    buffers: dict[str, Buffer] = field(default_factory=dict)
    constants: dict[Transform, FirmwareConstant] = field(default_factory=dict)
    arrays: dict[str, Array] = field(default_factory=dict)  # of the constants, by name
    parameters: dict[str, Array] = field(default_factory=dict)
    parameter_names: dict[tuple[str, str], str] = field(default_factory=dict)
    parameter_ids: dict[str, int] = field(default_factory=dict)
    storage: dict[str, Argument] = field(default_factory=dict)
    ports: dict[str, Port] = field(default_factory=dict)  # the first output port of each tensor
    written: dict[str, Port] = field(default_factory=dict)  # the same for each tensor's bytes
    port_sids: dict[str, str] = field(default_factory=dict)  # by the port's name
    next_sid: int = 0
    sections: Mapping[str, int] = field(init=False)  # tensor -> its offset in its bytes

    def __post_init__(self) -> None:
        self.sections = sections.offsets(self.graph)
        for port, output in zip(self.outputs, self.graph.outputs, strict=True):
            self.ports.setdefault(output, port)
            self.written.setdefault(self.bytes_of[output], port)
        for port, tensor in zip(self.inputs, self.graph.inputs, strict=True):
            self.storage[tensor] = Argument(Storage.INPUT, port.name)
            self.port_sids[port.name] = self._new_sid()

    @property
    def bytes_of(self) -> Mapping[str, str]:
        """Tensor -> the tensor whose bytes it has."""
        return self.updates.bytes_of

    def add_all(
        self, regions: Sequence[Region], lowered: LoweredRegions
    ) -> tuple[ExternalModule, ...]:
        """Add the variables, then each region's call in execution order. Returns the external
        modules with the constants that they get when they are loaded."""
        # A variable that no region touches gets no memory.
        used = {self.bytes_of[n] for item in lowered.regions for n in item.primitive.inputs}
        used.update(self.updates.places.values())
        for name in self.graph.variables:
            if name in used:
                self.add_variable(name)
        for index, (region, item) in enumerate(zip(regions, lowered.regions, strict=True)):
            if index in self.assembled.dropped:
                self._assembled(region.main.outputs[0])
            elif index not in self.updates.dropped:
                self.add(region, item, self.assembled.steps.get(index, ()))
        return tuple(self.with_constants(made, lowered) for made in lowered.external)

    def _read(self, tensor: str) -> Argument:
        """The place from which a call reads a tensor."""
        place = self.storage[self.bytes_of[tensor]]
        return replace(place, offset=place.offset + self.sections.get(tensor, 0))

    def add_variable(self, tensor: str) -> None:
        """Give a variable its buffer and its initial bytes."""
        argument, kind = self._buffer(tensor), self.graph.types[tensor]
        values = self.graph.initial.get(tensor, np.full((), kind.zero, kind.dtype.numpy))
        found, initial = set(values.tobytes()), ""
        if len(found) > 1:
            # Reset fills the buffer with one repeated byte, which needs no constant in flash.
            constant = KernelConstant("initial", ctype(kind.dtype), tensor, array=values)
            initial = self._constant(constant, tensor).name
        reset_byte = 0 if initial else min(found)
        self.buffers[argument.name] = replace(
            self.buffers[argument.name], is_state=True, reset_byte=reset_byte, initial=initial
        )

    def add(self, region: Region, lowered: Lowered, more: Sequence[Step] = ()) -> None:
        """Append the calls of one region. The last one completes the steps ``more``."""
        for one in lowered.runs:
            self._add_run(region, one, more if one is lowered.runs[-1] else ())
        if lowered.runs:
            return
        primitive = lowered.primitive
        device = next((one for one in self.devices if one.target == region.target), None)
        # Inputs are bound before constants and results: a constant's id precedes its call's.
        arguments = [self._read(name) for name in primitive.inputs]
        arguments += [self._constant(c, _reader(region, c)) for c in primitive.constants]
        arguments += [self._result(name) for name in primitive.outputs]
        context = [Argument(Storage.DEVICE, device.name)] if device else []
        self.calls.append(
            RunnerCall(
                index=len(self.calls),
                function=lowered.function.name,
                args=(*arguments, *context),
                scratch=primitive.scratch,
                in_place=may_overlap(
                    primitive, self.bytes_of, self.assembled.places, self.sections
                ),
                steps=tuple(
                    replace(step, tensor=self._model_name(step.tensor))
                    for step in (*primitive.steps, *more)
                ),
                device=device.name if device else "",
                types=self._types(primitive, arguments),
                layouts=tuple(dict.fromkeys(pair for n in region.nodes for pair in n.layouts)),
            )
        )

    def _add_run(self, region: Region, lowered: LoweredRun, more: Sequence[Step]) -> None:
        """Append a call that writes a run of a concatenation's result."""
        primitive, start = lowered.call.primitive, lowered.call.start
        arguments = [self._read(name) for name in primitive.inputs]
        arguments += [self._constant(c, _reader(region, c)) for c in primitive.constants]
        whole = self._assembled(*primitive.outputs)  # the first of the calls gives it its place
        steps = (*primitive.steps, *(runs.with_start(step, start) for step in more))
        pairs = may_overlap(primitive, self.bytes_of, self.assembled.places, self.sections)
        self.calls.append(
            RunnerCall(
                *(len(self.calls), lowered.function.name),
                args=(*arguments, replace(whole, offset=whole.offset + start)),
                scratch=0,
                in_place=pairs,
                steps=tuple(replace(one, tensor=self._model_name(one.tensor)) for one in steps),
                types=(*self._types(primitive, arguments)[:-1], lowered.call.result),
                run=lowered.call.run,
            )
        )

    def with_constants(self, module: ExternalModule, lowered: LoweredRegions) -> ExternalModule:
        """The module with the constants that its functions get when they are loaded."""
        held = tuple(
            HeldConstant(item.function.name, c.name, self._constant(c, _reader(region, c)).name)
            for region, item in zip(self.regions, lowered.regions, strict=True)
            if item.function.name in module.functions
            for c in item.primitive.held
        )
        return replace(module, constants=held)

    def numbered(self, ports: tuple[Port, ...]) -> tuple[Port, ...]:
        """The ports with the storage ids that were counted for them."""
        return tuple(replace(port, sid=self.port_sids[port.name]) for port in ports)

    def _new_sid(self) -> str:
        self.next_sid += 1
        return f"sid_{self.next_sid - 1}"

    def _result(self, tensor: str) -> Argument:
        # A place in a variable or in a concatenation's result comes before a buffer of its own.
        if tensor in self.updates.places:
            self.storage[tensor] = self.storage[self.updates.places[tensor]]
            return self.storage[tensor]
        if tensor in self.assembled.places:
            return self._part(tensor)
        if tensor not in self.written:
            return self._buffer(tensor)
        name = self.written[tensor].name
        self.port_sids[name] = self._new_sid()
        self.storage[tensor] = Argument(Storage.OUTPUT, name)
        return self.storage[tensor]

    def _part(self, tensor: str) -> Argument:
        """The place of a part in the result of a concatenation. The result gets its place first."""
        place = self.assembled.places[tensor]
        whole = self._assembled(place.result)
        self.storage[tensor] = replace(whole, offset=whole.offset + place.offset)
        return self.storage[tensor]

    def _assembled(self, result: str) -> Argument:
        """The place of a concatenation's result. Some of its parts may have places already."""
        return self.storage[result] if result in self.storage else self._result(result)

    def _buffer(self, tensor: str) -> Argument:
        name = self._new_sid()
        self.buffers[name] = Buffer(name, self.graph.types[tensor].nbytes, tensor)
        self.storage[tensor] = Argument(Storage.SID, name)
        return self.storage[tensor]

    def _constant(self, constant: KernelConstant, layer: str) -> Argument:
        sources = self._parameters(constant)
        transform = Transform(constant.transform, sources, constant.arguments)
        # Layers that need the same arrays in the same layout share one constant.
        if transform not in self.constants:
            for source in sources:
                self.parameter_ids.setdefault(source, self.next_sid)
            self._new_sid()
            made = self._new_constant(constant, transform, layer)
            self.constants[transform] = made
            self.arrays[made.name] = made.array
        return Argument(Storage.CONSTANT, self.constants[transform].name)

    def _new_constant(
        self, constant: KernelConstant, transform: Transform, layer: str
    ) -> FirmwareConstant:
        source, *_ = transform.sources
        plain = source if transform.kind == "identity" else f"{source}_{constant.name}"
        name = cnames.unique(plain, self.arrays)
        sources = [self.parameters[name] for name in transform.sources]
        array = transforms.kept(transform.kind, sources, transform.arguments)
        return FirmwareConstant(name, constant.ctype, array, transform, layer, constant.name)

    def _parameters(self, constant: KernelConstant) -> tuple[str, ...]:
        """The names, ``p<n>``, of the model's arrays from which a constant is computed."""
        for key, array in zip(constant.sources, constant.arrays(self.graph), strict=True):
            if key not in self.parameter_names:
                name = f"p{len(self.parameter_names)}"
                self.parameter_names[key] = name
                self.parameters[name] = array
        return tuple(self.parameter_names[key] for key in constant.sources)

    def _model_name(self, tensor: str) -> str:
        """The model's name of a tensor. A copy that a pass made has the name of the output's
        tensor."""
        return self.ports[tensor].tensor if tensor in self.ports else tensor

    def _types(self, primitive: Primitive, arguments: list[Argument]) -> tuple[ArrayType, ...]:
        """The types of a call's arguments: inputs, constants, outputs."""
        constants = [self.arrays[a.name] for a in arguments if a.storage is Storage.CONSTANT]
        return (
            *(self.graph.types[name] for name in primitive.inputs),
            *(ArrayType(array.shape, DType(array.dtype.name)) for array in constants),
            *(self.graph.types[name] for name in primitive.outputs),
        )


def _reader(region: Region, constant: KernelConstant) -> str:
    """The layer of a region that reads a constant: the first layer that has the constant's tensor,
    if there is one."""
    having = (node for node in region.nodes if constant.tensor in (*node.inputs, *node.outputs))
    return next(having, region.main).origin.layer
