"""Several nodes as one primitive function: kernels one after another, with the buffers between them
in its scratch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from microgen.base.names import cnames
from microgen.compiler.codegens import placement
from microgen.compiler.codegens.base import LAYOUT_TRANSFORM, Primitive, Region
from microgen.compiler.codegens.placement import BufferSpan
from microgen.compiler.passes.views import roots
from microgen.graph.ir.graph import Graph, Node
from microgen.kernels.base import KernelConstant
from microgen.planner.program.steps import InnerBuffer, Output, Step
from microgen.planner.program.types import Inner, KernelCall, Parameter, Role


def groups(nodes: Sequence[Node], graph: Graph) -> list[tuple[Node, ...]]:
    """Groups of the nodes: each node with the changes of layout before and after it that nothing
    else reads, if the model declares its operators' layouts.

    TVM's operators change the layout of their own operands. In other networks a change is a call,
    whose result can take the place of other tensors."""
    if not any(node.layouts for node in graph.nodes):
        return [(node,) for node in nodes]
    uses = graph.uses_of()
    producer = {out: node for node in nodes for out in node.outputs}
    found: dict[str, list[Node]] = {}
    for node in nodes:
        mine = [node]
        if node.op != LAYOUT_TRANSFORM:
            before = (producer.get(name) for name in node.inputs)
            free = [n for n in before if n and found.get(n.outputs[0]) == [n]]
            mine = [*(n for n in free if _is_own_layout(n, node, uses)), node]
        elif (source := producer.get(node.inputs[0])) and _may_end(source, node, uses):
            mine = [*found.pop(source.outputs[0], [source]), node]
        for member in mine:
            found.pop(member.outputs[0], None)
        found[node.outputs[0]] = list(dict.fromkeys(mine))
    return [tuple(group) for group in found.values()]


def _is_own_layout(change: Node, node: Node, uses: Mapping[str, int]) -> bool:
    """Whether only ``node`` reads the result of a change of layout, at the same place."""
    return (
        change.op == LAYOUT_TRANSFORM
        and uses[change.outputs[0]] == 1
        and change.place == node.place
    )


def _may_end(source: Node, node: Node, uses: Mapping[str, int]) -> bool:
    """Whether ``node`` changes the layout of everything that ``source`` computes."""
    return (
        source.op != LAYOUT_TRANSFORM
        and len(source.outputs) == 1
        and source.place == node.place
        and uses[node.inputs[0]] == 1
    )


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The facts about the graph that a fused function needs: ``results``, the inner tensors that
    something outside reads, in order, and for each view the tensor whose bytes it shows."""

    results: tuple[str, ...]
    bytes_of: Mapping[str, str]

    @classmethod
    def of(cls, region: Region, graph: Graph) -> Surroundings:
        """The surroundings of the region."""
        bytes_of = roots(graph)
        inside = {node.outputs[0] for node in region.nodes}
        read = {bytes_of[name] for name in graph.results}
        for node in graph.nodes:
            if node.outputs[0] not in inside and bytes_of[node.outputs[0]] == node.outputs[0]:
                read.update(bytes_of[name] for name in node.inputs)
        computed = [name for node in region.nodes for name in node.outputs]
        results = tuple(name for name in computed if name in read)
        # A function that nothing reads still has results.
        return cls(results or region.nodes[-1].outputs, bytes_of)

    def seen_through(self, primitive: Primitive) -> Primitive:
        """The primitive with views replaced by the tensors whose bytes they show."""
        inputs = tuple(self.bytes_of.get(name, name) for name in primitive.inputs)
        return replace(primitive, inputs=inputs)


def fused(primitives: Sequence[Primitive], main: Primitive, around: Surroundings) -> Primitive:
    """One primitive function made from several, in order.

    ``main`` gives the name. The steps are the steps of all, each with its place in the whole.
    """
    parts = [around.seen_through(primitive) for primitive in primitives]
    inner = _inner_buffers(parts, around.results)
    state = _Fusion(inner, _inputs(parts), around.results)
    for index, primitive in enumerate(parts):
        state.add(index, primitive)
    # Sorting is stable, so parameters of one role keep their order.
    order = (Role.INPUT, Role.STATE, Role.CONSTANT, Role.OUTPUT)
    parameters = sorted(state.parameters.values(), key=lambda p: order.index(p.role))
    if inner.nbytes:
        parameters.append(Parameter("scratch", "uint8_t", Role.SCRATCH))
    by_name = {f"in{i}": tensor for i, tensor in enumerate(state.inputs)}
    return replace(
        main,
        parameters=tuple(parameters),
        body=tuple(state.body),
        inputs=tuple(by_name[p.name] for p in parameters if p.role in (Role.INPUT, Role.STATE)),
        constants=tuple(state.constants),
        outputs=around.results,
        output_bytes=tuple(_sizes(parts)[name] for name in around.results),
        scratch=inner.nbytes,
        # A kernel may read an input after an earlier kernel has written a result.
        in_place=(),
        steps=tuple(_steps(parts, inner, around.results)),
    )


def _steps(
    primitives: Sequence[Primitive], inner: _InnerBuffers, results: tuple[str, ...]
) -> Iterator[Step]:
    """The steps of all primitives, with their places in the whole."""
    for index, primitive in enumerate(primitives):
        for step in primitive.steps:
            place = step.place
            match place:
                case Output(number) if primitive.outputs[number] in results:
                    place = Output(results.index(primitive.outputs[number]))
                case Output(number):
                    place = InnerBuffer(inner.offsets[primitive.outputs[number]])
                case InnerBuffer(offset):
                    place = replace(place, offset=inner.offsets[index] + offset)
            if isinstance(place, InnerBuffer) and not place.overwritten_by:
                own = (place.offset, step.tensor_type.nbytes)
                later = placement.overwriting(inner.spans, inner.offsets, own, index)
                if later is not None:
                    layer = cnames.short(primitives[later].steps[-1].origin.layer)
                    place = replace(place, overwritten_by=layer)
            yield replace(step, place=place)


def _inputs(primitives: Sequence[Primitive]) -> tuple[str, ...]:
    """The tensors that come from outside, in the order in which they are first read."""
    computed = _sizes(primitives).keys()
    read = dict.fromkeys(name for primitive in primitives for name in primitive.inputs)
    return tuple(name for name in read if name not in computed)


def _sizes(primitives: Sequence[Primitive]) -> dict[str, int]:
    return {
        name: nbytes
        for primitive in primitives
        for name, nbytes in zip(primitive.outputs, primitive.output_bytes, strict=True)
    }


@dataclass(frozen=True, slots=True)
class _InnerBuffers:
    """Offsets of tensors by name, and of each primitive's own scratch by the primitive's number.
    ``spans`` says how long each is live."""

    offsets: Mapping[str | int, int]
    nbytes: int
    spans: tuple[BufferSpan, ...]


def _inner_buffers(primitives: Sequence[Primitive], results: tuple[str, ...]) -> _InnerBuffers:
    """Places for the tensors that are computed and read inside."""
    spans = _spans(primitives, results)
    offsets, nbytes = placement.placed(spans)
    return _InnerBuffers(offsets, nbytes, tuple(spans))


def _spans(primitives: Sequence[Primitive], results: tuple[str, ...]) -> list[BufferSpan]:
    last = {name: i for i, p in enumerate(primitives) for name in p.inputs}
    tensors = [
        BufferSpan(name, nbytes, i, last.get(name, i))
        for i, p in enumerate(primitives)
        for name, nbytes in zip(p.outputs, p.output_bytes, strict=True)
        if name not in results
    ]
    own = [BufferSpan(i, p.scratch, i, i) for i, p in enumerate(primitives) if p.scratch]
    return [*tensors, *own]


class _Fusion:
    """The fused function under construction, primitive by primitive."""

    def __init__(
        self, inner: _InnerBuffers, inputs: tuple[str, ...], outputs: tuple[str, ...]
    ) -> None:
        self.inner = inner
        self.inputs = inputs
        self.outputs = outputs
        self.parameters: dict[str, Parameter] = {}
        self.body: list[KernelCall] = []
        self.constants: list[KernelConstant] = []
        self.taken = {
            *(f"in{i}" for i in range(len(inputs))),
            *(f"out{i}" for i in range(len(outputs))),
        }

    def add(self, index: int, primitive: Primitive) -> None:
        """Append one primitive's kernels, with its parameters renamed to the whole's."""
        inputs = iter(primitive.inputs)
        given = {Role.INPUT: inputs, Role.STATE: inputs, Role.OUTPUT: iter(primitive.outputs)}
        constants = iter(primitive.constants)
        names: dict[str, str | Inner] = {"NULL": "NULL"}
        for parameter in primitive.parameters:
            if parameter.role is Role.CONSTANT:
                names[parameter.name] = self._constant(parameter, next(constants))
            elif parameter.role is Role.SCRATCH:
                names[parameter.name] = Inner(self.inner.offsets[index], parameter.ctype)
            else:
                tensor = next(given[parameter.role])
                names[parameter.name] = self._tensor(parameter, tensor)
        for kernel in primitive.body:
            arguments = tuple(names[a] if isinstance(a, str) else a for a in kernel.args)
            self.body.append(replace(kernel, args=arguments))

    def _tensor(self, parameter: Parameter, tensor: str) -> str | Inner:
        if tensor in self.inner.offsets:
            return Inner(self.inner.offsets[tensor], parameter.ctype)
        if tensor in self.outputs:
            name, role = f"out{self.outputs.index(tensor)}", Role.OUTPUT
        else:
            name, role = f"in{self.inputs.index(tensor)}", parameter.role
        known = self.parameters.get(name)
        if known is None or role is Role.STATE:
            self.parameters[name] = Parameter(name, parameter.ctype, role)
        return name

    def _constant(self, parameter: Parameter, constant: KernelConstant) -> str:
        name = parameter.name
        # Two kernels may have constants of one name, such as weight.
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        self.parameters[name] = replace(parameter, name=name)
        self.constants.append(constant)
        return name
