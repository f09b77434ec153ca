"""Several nodes as one primitive function: kernels one after another, buffers between them in its
scratch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from microgen.codegens.base import LAYOUT_TRANSFORM, Primitive
from microgen.ir.graph import Graph, Node
from microgen.kernels.base import KernelConstant
from microgen.program import Inner, KernelCall, Parameter, Role

_ALIGNMENT = 16  # of inner buffers: no element needs more


def groups(nodes: Sequence[Node], graph: Graph) -> list[tuple[Node, ...]]:
    """The nodes, each with the changes of layout before and behind it that nothing else reads."""
    uses, producer = graph.uses_of(), graph.producer_of()
    found: dict[str, list[Node]] = {}
    for node in nodes:
        mine = [node]
        if node.op != LAYOUT_TRANSFORM:
            before = (producer.get(name) for name in node.inputs)
            mine = [*(n for n in before if n and _is_own_layout(n, uses)), node]
        elif (source := producer.get(node.inputs[0])) and _may_end(source, node, uses):
            mine = [*found.pop(source.outputs[0], [source]), node]
        for member in mine:
            found.pop(member.outputs[0], None)
        found[node.outputs[0]] = list(dict.fromkeys(mine))
    return [tuple(group) for group in found.values()]


def _is_own_layout(node: Node, uses: Mapping[str, int]) -> bool:
    return node.op == LAYOUT_TRANSFORM and uses[node.outputs[0]] == 1


def _may_end(source: Node, node: Node, uses: Mapping[str, int]) -> bool:
    """Whether ``node`` changes the layout of all that ``source`` computes."""
    return (
        source.op != LAYOUT_TRANSFORM
        and len(source.outputs) == 1
        and source.target == node.target
        and uses[node.inputs[0]] == 1
    )


def fused(primitives: Sequence[Primitive], main: Primitive) -> Primitive:
    """One primitive function of several, in order; the last's results are its results.

    ``main`` gives the name, and is what reports call the kernel.
    """
    inner = _inner_buffers(primitives)
    state = _Fusion(inner, primitives[-1].outputs)
    for index, primitive in enumerate(primitives):
        state.add(index, primitive)
    order = (Role.INPUT, Role.STATE, Role.CONSTANT, Role.OUTPUT)
    parameters = sorted(state.parameters.values(), key=lambda p: order.index(p.role))
    if inner.nbytes:
        parameters.append(Parameter("scratch", "uint8_t", Role.SCRATCH))
    return replace(
        main,
        parameters=tuple(parameters),
        body=tuple(state.body),
        inputs=tuple(state.inputs),
        constants=tuple(state.constants),
        outputs=primitives[-1].outputs,
        scratch=inner.nbytes,
        in_place=(),
    )


@dataclass(frozen=True, slots=True)
class _InnerBuffers:
    """Offsets of tensors by name, and of each step's own scratch by the step's number."""

    tensors: Mapping[str, int]
    scratch: Mapping[int, int]
    nbytes: int


@dataclass(frozen=True, slots=True)
class _Span:
    key: str | int
    nbytes: int
    first: int
    last: int


def _inner_buffers(primitives: Sequence[Primitive]) -> _InnerBuffers:
    """Places for what is computed and read inside, each at the lowest offset that is free while it
    lives."""
    placed: list[tuple[int, _Span]] = []
    for span in sorted(_spans(primitives), key=lambda s: -s.nbytes):
        neighbours = [(o, s) for o, s in placed if s.first <= span.last and span.first <= s.last]
        placed.append((_lowest(span, neighbours), span))
    offsets = {span.key: offset for offset, span in placed}
    return _InnerBuffers(
        {key: offset for key, offset in offsets.items() if isinstance(key, str)},
        {key: offset for key, offset in offsets.items() if isinstance(key, int)},
        max((offset + span.nbytes for offset, span in placed), default=0),
    )


def _lowest(span: _Span, neighbours: list[tuple[int, _Span]]) -> int:
    offset = 0
    for start, other in sorted(neighbours, key=lambda item: item[0]):
        if offset + span.nbytes <= start:
            break
        offset = max(offset, -(-(start + other.nbytes) // _ALIGNMENT) * _ALIGNMENT)
    return offset


def _spans(primitives: Sequence[Primitive]) -> list[_Span]:
    last = {name: i for i, p in enumerate(primitives) for name in p.inputs}
    tensors = [
        _Span(name, nbytes, i, last.get(name, i))
        for i, p in enumerate(primitives[:-1])
        for name, nbytes in zip(p.outputs, p.output_bytes, strict=True)
    ]
    own = [_Span(i, p.scratch, i, i) for i, p in enumerate(primitives) if p.scratch]
    return [*tensors, *own]


class _Fusion:
    """The fused function as it grows, step by step."""

    def __init__(self, inner: _InnerBuffers, outputs: tuple[str, ...]) -> None:
        self.inner = inner
        self.outputs = outputs
        self.parameters: dict[str, Parameter] = {}
        self.body: list[KernelCall] = []
        self.inputs: list[str] = []
        self.constants: list[KernelConstant] = []

    def add(self, index: int, primitive: Primitive) -> None:
        """Append one step's kernels, with its parameters under their names in the whole."""
        given = {
            Role.INPUT: iter(primitive.inputs),
            Role.STATE: iter(primitive.inputs),
            Role.OUTPUT: iter(primitive.outputs),
        }
        constants = iter(primitive.constants)
        names: dict[str, str | Inner] = {"NULL": "NULL"}
        for parameter in primitive.parameters:
            if parameter.role is Role.CONSTANT:
                names[parameter.name] = self._constant(parameter, next(constants))
            elif parameter.role is Role.SCRATCH:
                names[parameter.name] = Inner(self.inner.scratch[index], parameter.ctype)
            else:
                tensor = next(given[parameter.role])
                names[parameter.name] = self._tensor(parameter, tensor)
        for kernel in primitive.body:
            arguments = tuple(names[a] if isinstance(a, str) else a for a in kernel.args)
            self.body.append(replace(kernel, args=arguments))

    def _tensor(self, parameter: Parameter, tensor: str) -> str | Inner:
        if tensor in self.inner.tensors:
            return Inner(self.inner.tensors[tensor], parameter.ctype)
        if parameter.role is Role.OUTPUT:
            name = f"out{self.outputs.index(tensor)}"
        else:
            if tensor not in self.inputs:
                self.inputs.append(tensor)
            name = f"in{self.inputs.index(tensor)}"
        self.parameters.setdefault(name, replace(parameter, name=name))
        return name

    def _constant(self, parameter: Parameter, constant: KernelConstant) -> str:
        name = parameter.name
        while name in self.parameters:
            name += "_"
        self.parameters[name] = replace(parameter, name=name)
        self.constants.append(constant)
        return name
