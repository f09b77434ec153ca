"""Nodes that are computed row by row, as one primitive function."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from microgen.compiler.codegens import ending, patch_function
from microgen.compiler.codegens.base import Primitive
from microgen.compiler.codegens.placement import BufferSpan
from microgen.graph.ir.graph import ArrayType, Graph
from microgen.graph.rows import geometry, overlap
from microgen.graph.rows.tiles import RowGroup
from microgen.kernels.base import KernelConstant
from microgen.planner.program.kernel_call import ctype
from microgen.planner.program.rolling import (
    BufferedRows,
    Event,
    Feed,
    KernelPart,
    LineBuffer,
    Rolling,
    RowCopy,
    Rows,
    ScratchPlace,
    When,
)
from microgen.planner.program.steps import InRows, Step
from microgen.planner.program.types import Inner, InPlace, Parameter, Role

_RESULT = "out0"


def primitive(group: RowGroup, primitives: Sequence[Primitive], graph: Graph) -> Primitive:
    """The primitive function of a group. ``primitives`` compute the tiles of its nodes, in order.
    The last one gives it its name."""
    primitives = list(_units(group, primitives, graph))
    spans = _spans(group, [one.scratch for one in primitives], graph)
    offsets, nbytes, lag = ending.placed(group, spans, graph)
    made = _Rolled(group, graph, offsets)
    for number, one in enumerate(primitives):
        made.add(number, one)
    # A kernel that gets all rows in one step may have no sums.
    last = len(primitives) - 1
    clears = group.is_summed and last in offsets
    # Sorting is stable, so parameters of one role keep their order.
    order = (Role.INPUT, Role.CONSTANT, Role.OUTPUT)
    parameters = sorted(made.parameters.values(), key=lambda p: order.index(p.role))
    parameters += [Parameter("scratch", "uint8_t", Role.SCRATCH)] if nbytes else []
    return replace(
        primitives[-1],
        parameters=tuple(parameters),
        body=(),
        inputs=group.outside,
        constants=tuple(made.constants),
        output_bytes=(graph.types[primitives[-1].outputs[0]].nbytes,),
        scratch=nbytes,
        in_place=(
            *_in_place(group, primitives[-1], parameters, graph),
            *_over_scratch(parameters, lag),
        ),
        steps=tuple(_steps(group, primitives, graph)),
        rolling=Rolling(
            group.geometry.steps,
            tuple(made.events()),
            tuple(_places(group, primitives, spans, offsets)),
            cleared=(offsets[last], primitives[-1].scratch) if clears else None,
            feed=_feed(group, graph) if group.fed else None,
        ),
    )


def _units(group: RowGroup, primitives: Sequence[Primitive], graph: Graph) -> Iterator[Primitive]:
    """The primitives, with one for each patch."""
    every = iter(primitives)
    for nodes in group.units:
        own = [next(every) for _ in nodes]
        patch = group.patches.get(nodes[-1].outputs[0])
        yield patch_function.primitive(patch, own, graph) if patch else own[0]


def _feed(group: RowGroup, graph: Graph) -> Feed:
    """The feed of the group's input. The group copies some rows of the input at a time into a
    buffer."""
    (name,) = group.outside
    kind, timing = graph.types[name], group.geometry.timings[name]
    return Feed(
        rows=group.fed,
        height=kind.shape[1],
        row_bytes=_row(kind).nbytes,
        steps=group.fed // timing.rows * timing.period,
    )


def _in_place(
    group: RowGroup, last: Primitive, parameters: Sequence[Parameter], graph: Graph
) -> Iterator[InPlace]:
    """The inputs whose bytes the output may take. ``last`` computes its rows."""
    names = [parameter.name for parameter in parameters]
    stated = {pair.input: pair.lag for pair in last.in_place}
    own = overlap.by_tensor(last.inputs, stated)
    for name, lag in overlap.of(group, graph, own).items():
        position = names.index(f"in{group.outside.index(name)}")
        yield InPlace(position, names.index(_RESULT), lag)


def _over_scratch(parameters: Sequence[Parameter], lag: int | None) -> Iterator[InPlace]:
    """The pair of scratch and output if they may overlap."""
    names = [parameter.name for parameter in parameters]
    if lag is not None:
        yield InPlace(names.index("scratch"), names.index(_RESULT), lag)


def _steps(group: RowGroup, primitives: Sequence[Primitive], graph: Graph) -> Iterator[Step]:
    """The layers, each with the type of its whole result."""
    every = (step for one in primitives for step in one.steps)
    for number, step in enumerate(every):
        is_summed, timing = (
            group.tiles[step.tensor].is_summed,
            group.geometry.timings.get(step.tensor),
        )
        # The layers of a patch compute a row at a time.
        place = InRows(number, timing.rows if timing and not is_summed else 1, is_summed)
        yield replace(step, tensor_type=graph.types[step.tensor], place=place)


def _places(
    group: RowGroup,
    primitives: Sequence[Primitive],
    spans: Sequence[BufferSpan],
    offsets: Mapping[str | int, int],
) -> Iterator[ScratchPlace]:
    """The memory map of the scratch, in the order of the addresses."""
    last = len(primitives) - 1
    for span in sorted(spans, key=lambda span: (offsets[span.key], span.first)):
        if isinstance(span.key, int):
            tensor = primitives[span.key].outputs[0]
            is_kept = group.is_summed and span.key == last
        else:
            tensor = span.key
            buffer = group.geometry.buffers[tensor]
            is_kept = buffer.rows > buffer.timing.rows
        is_own = isinstance(span.key, int)
        place = offsets[span.key], span.nbytes, span.first, span.last
        yield ScratchPlace(tensor, is_own, *place, is_kept)


def scratch(group: RowGroup, own: Sequence[int], graph: Graph) -> tuple[int, int | None]:
    """Bytes of scratch that the group needs if its kernels need ``own``, in order, and the number
    of bytes by which the output must begin before it if they overlap; None if they may not."""
    every, units = iter(own), list[int]()
    for nodes in group.units:
        each = [next(every) for _ in nodes]
        patch = group.patches.get(nodes[-1].outputs[0])
        units.append(patch_function.scratch(patch, each, graph) if patch else each[0])
    _, nbytes, lag = ending.placed(group, _spans(group, units, graph), graph)
    return nbytes, lag


def kept(group: RowGroup, graph: Graph) -> int:
    """Bytes of the buffers in which rows of earlier steps remain: a part of ``scratch``, beside
    which each kernel has its own."""
    return sum(
        buffer.rows * (graph.types[name].nbytes // graph.types[name].shape[1])
        for name, buffer in group.geometry.buffers.items()
        if buffer.rows > buffer.timing.rows
    )


def _spans(group: RowGroup, own: Sequence[int], graph: Graph) -> list[BufferSpan]:
    """The buffers, and the own scratch of each part, patches being one, under its number."""
    units = group.units
    last = len(units) - 1
    makers = {nodes[-1].outputs[0]: number for number, nodes in enumerate(units)}
    spans = [
        # Sums are kept from the first step of rows to the last.
        BufferSpan(number, nbytes, 0 if group.is_summed and number == last else number, number)
        for number, nbytes in enumerate(own)
        if nbytes
    ]
    # The last reader of each tensor.
    reads = {name: k for k, nodes in enumerate(units) for node in nodes for name in node.inputs}
    for name, buffer in group.geometry.buffers.items():
        kind = graph.types[name]
        nbytes = buffer.rows * (kind.nbytes // kind.shape[1])
        # Rows of earlier steps remain in such a buffer, so its bytes are never free.
        is_kept = buffer.rows > buffer.timing.rows
        first = 0 if is_kept else makers.get(name, 0)
        spans.append(BufferSpan(name, nbytes, first, last if is_kept else reads[name]))
    return spans


def _row(kind: ArrayType) -> ArrayType:
    return replace(kind, shape=(kind.shape[0], 1, *kind.shape[2:]))


@dataclass(slots=True)
class _Rolled:
    """The function under construction, part by part."""

    group: RowGroup
    graph: Graph
    offsets: Mapping[str | int, int]
    parameters: dict[str, Parameter] = field(default_factory=dict)
    constants: list[KernelConstant] = field(default_factory=list)
    parts: dict[str, KernelPart] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for number, name in enumerate(self.group.outside):
            kind = ctype(self.graph.types[name].dtype)
            self.parameters[f"in{number}"] = Parameter(f"in{number}", kind, Role.INPUT)

    def add(self, number: int, one: Primitive) -> None:
        """Append a node's part, with its constants as parameters of the whole."""
        inputs, constants = iter(one.inputs), iter(one.constants)
        (result,) = one.outputs
        args: list[str | Inner | BufferedRows | Rows] = []
        for parameter in one.parameters:
            if parameter.role is Role.CONSTANT:
                args.append(self._constant(number, parameter, next(constants)))
            elif parameter.role is Role.SCRATCH:
                args.append(Inner(self.offsets[number], parameter.ctype))
            elif parameter.role is Role.OUTPUT:
                args.append(self._new_rows(result, parameter))
            else:
                args.append(self._read(result, next(inputs), parameter))
        kernel = one.body[0] if one.body else None
        self.parts[result] = KernelPart(
            one.words, one.parameters, kernel, tuple(args), patch=one.patch
        )

    def events(self) -> list[Event]:
        """The events of each step, in order: a copy into a buffer comes first."""
        return [self._event(name) for name in self.group.geometry.timings]

    def _event(self, name: str) -> Event:
        timing, buffer = self.group.geometry.timings[name], self.group.geometry.buffers.get(name)
        when = When(timing.first, timing.period, timing.count)
        kept = self._buffer(name, buffer) if buffer else None
        rows = self.parts.get(name) or self._copy(name, timing)
        is_added = self.group.is_summed and name == self.group.nodes[-1].outputs[0]
        return Event(when, rows, kept, name, 0 if is_added else timing.rows)

    def _buffer(self, name: str, buffer: geometry.RowBuffer) -> LineBuffer:
        row = _row(self.graph.types[name])
        return LineBuffer(
            offset=self.offsets[name],
            rows=buffer.rows,
            nbytes=buffer.rows * row.nbytes,
            new=buffer.timing.rows * row.nbytes,
            end=buffer.end,
            # A negative zero point as the value of its byte.
            fill=None if buffer.fill is None else buffer.fill & 0xFF,
            surplus=buffer.surplus * row.nbytes,
        )

    def _copy(self, name: str, timing: geometry.Timing) -> RowCopy:
        row, position = _row(self.graph.types[name]), self.group.outside.index(name)
        return RowCopy(Rows(f"in{position}", timing.rows * row.size), timing.rows * row.nbytes)

    def _constant(self, number: int, parameter: Parameter, constant: KernelConstant) -> str:
        name = f"{parameter.name}_{number}"
        self.parameters[name] = replace(parameter, name=name)
        self.constants.append(constant)
        return name

    def _new_rows(self, tensor: str, parameter: Parameter) -> str | BufferedRows | Rows:
        buffer, row = self.group.geometry.buffers.get(tensor), _row(self.graph.types[tensor])
        if buffer:
            kept = (buffer.rows - buffer.timing.rows) * row.nbytes
            return BufferedRows(tensor, kept, parameter.ctype)
        self.parameters[_RESULT] = replace(parameter, name=_RESULT)
        if self.group.is_summed:
            return _RESULT
        return Rows(_RESULT, self.group.geometry.timings[tensor].rows * row.size)

    def _read(self, result: str, tensor: str, parameter: Parameter) -> BufferedRows | Rows:
        row = _row(self.graph.types[tensor])
        start = self.group.geometry.starts.get((result, tensor))
        if start is not None:
            return BufferedRows(tensor, start * row.nbytes, parameter.ctype)
        window = self.group.windows[result][tensor]
        each = self.group.geometry.timings[result].rows * window.stride
        return Rows(f"in{self.group.outside.index(tensor)}", each * row.size)
