"""The primitive functions of loops and branches.

The values of a loop are in the buffers of its outputs from the first round to the last. Everything
else that the layers inside compute is in the function's scratch, where buffers share bytes if they
are live at different times of a round.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from microgen.compiler.codegens import placement
from microgen.compiler.codegens.base import Primitive, step
from microgen.compiler.codegens.placement import BufferSpan
from microgen.compiler.control.inside import Inside
from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ir.rounds import inner_name
from microgen.graph.ops.control.loop import LoopAttrs
from microgen.kernels.base import KernelConstant
from microgen.planner.program.control import (
    Control,
    First,
    InnerBranch,
    InnerCall,
    InnerFunction,
    InnerLoop,
    is_certain,
    leaves,
)
from microgen.planner.program.kernel_call import Inner, Parameter, Role, ctype
from microgen.planner.program.steps import InRound, NotStored, Output, Place, Step
from microgen.planner.program.types import InPlace
from microgen.target.board import Board

_MOST_READ = 8192  # results of inner calls that a debugger reads: a minute
_SCRATCH = Parameter("scratch", "uint8_t", Role.SCRATCH)


def primitive(node: Node, graph: Graph, inside: Sequence[Inside], board: Board) -> Primitive:
    """The primitive function of a loop or a branch, whose graphs are ``inside``."""
    made = _Making(node, graph)
    if isinstance(node.attrs, LoopAttrs):
        control: Control = made.loop(node.attrs, inside)
    else:
        control = made.branch(inside)
    scratch = (_SCRATCH,) if made.nbytes else ()
    parameters = (*made.inputs, *made.constants, *made.outputs, *scratch)
    return Primitive(
        words=(node.op,),
        target=node.target or board.cpu.name,
        parameters=parameters,
        body=(),
        inputs=tuple(made.inputs.values()),
        constants=tuple(made.constants.values()),
        outputs=node.outputs,
        output_bytes=tuple(kind.nbytes for kind in graph.type_of(node.outputs)),
        scratch=made.nbytes,
        in_place=tuple(_in_place(control, parameters)),
        steps=(*_seen(made.steps, control), *_results(node, graph)),
        control=control,
    )


def _in_place(control: Control, parameters: Sequence[Parameter]) -> Iterator[InPlace]:
    """A loop's value may have its first bytes in its own place. The planner lets it if nothing else
    reads these bytes."""
    places = {each.name: position for position, each in enumerate(parameters)}
    roles = {each.name: each.role for each in parameters}
    for first in control.firsts if isinstance(control, InnerLoop) else ():
        if first.source and roles[first.source] is Role.INPUT:
            yield InPlace(places[first.source], places[first.target])


def _seen(steps: Sequence[Step], control: Control) -> Sequence[Step]:
    """The layers inside. They are read in each round if nothing decides at run time which calls are
    made, and if there are not too many."""
    places = [step.place for step in steps if isinstance(step.place, InRound)]
    calls = {one.call: math.prod(count for _, count in one.loops) for one in places}
    why = ""
    if not is_certain(control):
        why = "the data decide how many times it is computed"
    elif len(calls) < sum(1 for _ in leaves(control)):
        why = "an inner function leaves no result in memory"
    elif sum(calls.values()) > _MOST_READ:
        why = f"it is one of more than {_MOST_READ:,} results of the operator"
    if not why:
        return steps
    return [
        replace(s, place=replace(s.place, why=why)) if isinstance(s.place, InRound) else s
        for s in steps
    ]


def _results(node: Node, graph: Graph) -> Iterator[Step]:
    """A step for each output of the node."""
    reads = [name for name in node.inputs if name not in graph.constants]
    whole = step(node, graph, reads=reads, kernel=node.op, reason="it has graphs of its own")
    for index, name in enumerate(node.outputs):
        origin = replace(node.origin, layer=name) if index else node.origin
        kind, place = graph.types[name], Output(index)
        yield replace(whole, origin=origin, tensor=name, tensor_type=kind, place=place)


@dataclass(slots=True)
class _Making:
    """The function under construction: its parameters with what the node passes for them."""

    node: Node
    graph: Graph
    inputs: dict[Parameter, str] = field(default_factory=dict)
    constants: dict[Parameter, KernelConstant] = field(default_factory=dict)
    outputs: tuple[Parameter, ...] = ()
    steps: list[Step] = field(default_factory=list)
    nbytes: int = 0
    leaves: int = 0  # the number of calls so far that call nothing else

    def __post_init__(self) -> None:
        kinds = self.graph.type_of(self.node.outputs)
        self.outputs = tuple(
            Parameter(f"out{i}", ctype(kind.dtype), Role.OUTPUT) for i, kind in enumerate(kinds)
        )

    def loop(self, attrs: LoopAttrs, inside: Sequence[Inside]) -> InnerLoop:
        """The loop. ``inside`` has its condition, if there is one, and its body."""
        body = attrs.body
        count = len(body.variables)
        firsts = tuple(self._first(i) for i in range(count))
        known = {name: f"out{i}" for i, name in enumerate(body.variables)}
        known |= {name: self._passed(count + j) for j, name in enumerate(body.inputs)}
        # In each round the condition is computed first, so both are placed together.
        *condition, calls = made = self._computed([_Placed(one, known) for one in inside])
        if not condition:
            return InnerLoop(attrs.rounds, firsts, calls.calls)
        assert attrs.condition is not None, "it was compiled"
        test = made[0].place(attrs.condition.outputs[0], ctype(DType.BOOL))
        return InnerLoop(attrs.rounds, firsts, calls.calls, made[0].calls, test)

    def branch(self, inside: Sequence[Inside]) -> InnerBranch:
        """The branch. ``inside`` are the graph for true and the graph for false."""
        test = self._passed(0)
        every: list[_Placed] = []
        passed = [self._passed(1 + j) for j in range(len(self.node.inputs) - 1)]
        for one in inside:
            known = dict(zip(one.graph.inputs, passed, strict=True))
            roots = (one.updates.bytes_of[name] for name in one.graph.outputs)
            known |= {root: f"out{i}" for i, root in enumerate(roots)}
            # Only one of the graphs is computed, so each may use the whole scratch.
            every += self._computed([_Placed(one, known)])
        return InnerBranch(test, every[0].calls, every[1].calls)

    def _passed(self, position: int) -> str:
        """The parameter for an input of the node."""
        name, parameter = self.node.inputs[position], f"in{position}"
        kind = ctype(self.graph.types[name].dtype)
        if name in self.graph.constants:
            made = Parameter(parameter, kind, Role.CONSTANT)
            self.constants[made] = KernelConstant(parameter, kind, name)
        else:
            self.inputs[Parameter(parameter, kind, Role.INPUT)] = name
        return parameter

    def _first(self, position: int) -> First:
        """The first value of a variable."""
        name = self.node.inputs[position]
        nbytes, target = self.graph.types[name].nbytes, f"out{position}"
        array = self.graph.constants.get(name)
        if array is not None and len(found := set(array.tobytes())) == 1:
            # One repeated byte needs no constant in flash.
            return First(target, nbytes, fill=min(found))
        return First(target, nbytes, source=self._passed(position))

    def _computed(self, graphs: Sequence[_Placed]) -> Sequence[_Placed]:
        """The graphs, one after the other, with their calls."""
        spans, start = list[BufferSpan](), 0
        for number, one in enumerate(graphs):
            one.number, one.start = number, start
            spans += one.spans()
            start += len(one.inside.primitives)
            attrs = self.node.attrs
            own = (attrs.rounds,) if isinstance(attrs, LoopAttrs) else ()
            for made in one.called:
                self._add_steps(one, made[1], own)
        offsets, nbytes = placement.placed(spans)
        self.nbytes = max(self.nbytes, nbytes)
        for one in graphs:
            one.offsets = offsets
            one.calls = tuple(self._call(one, *pair) for pair in one.called)
        return graphs

    def _add_steps(self, one: _Placed, made: Primitive, rounds: tuple[int, ...]) -> None:
        """Add the layers of an inner call. Tensors of different graphs may have one name, so each
        gets the name of the node's first result before its own."""
        around = tuple((0, count) for count in rounds)
        for each in made.steps:
            place: Place = NotStored("it is inside of an inner function")
            match each.place:
                case Output(index) if made.control is None:
                    place = InRound(self.leaves, index, around)
                case InRound(call, index, loops, why):
                    # The loops inside this one are told apart by the call that contains them.
                    inner = ((1 + self.leaves + number, count) for number, count in loops)
                    place = InRound(self.leaves + call, index, (*around, *inner), why)
            if made.control is not None and isinstance(each.place, Output):
                continue  # its own layers say where its results are
            name = inner_name(self.node.outputs[0], one.number, each.tensor)
            self.steps.append(replace(each, tensor=name, place=place))
        self.leaves += len(list(leaves(made.control))) if made.control else 1

    def _call(self, one: _Placed, number: int, made: Primitive) -> InnerCall:
        inputs, outputs, constants = iter(made.inputs), iter(made.outputs), iter(made.constants)
        args: list[str | Inner] = []
        for parameter in made.parameters:
            if parameter.role is Role.CONSTANT:
                args.append(self._constant(one, parameter, next(constants)))
            elif parameter.role is Role.SCRATCH:
                args.append(Inner(one.offsets[one.own(number)], parameter.ctype))
            else:
                given = outputs if parameter.role is Role.OUTPUT else inputs
                args.append(one.place(next(given), parameter.ctype))
        last = made.steps[-1]
        function = InnerFunction(made.words, made.parameters, made.body, made.control)
        return InnerCall(function, tuple(args), last.origin.layer, f"{last.summary}, {last.kernel}")

    def _constant(self, one: _Placed, parameter: Parameter, constant: KernelConstant) -> str:
        """The parameter for a constant of a graph inside."""
        name = f"{parameter.name}_{len(self.constants)}"
        # Tensors of different graphs may have one name.
        scope = f"{self.node.outputs[0]}:{one.graph.name}:{one.number}:{constant.scope}"
        inside = constant.inside or one.graph
        own = replace(constant, name=name, scope=scope, inside=inside)
        self.constants[replace(parameter, name=name)] = own
        return name


@dataclass(slots=True)
class _Placed:
    """A graph inside, and the parameters in which it has tensors: ``known``. ``offsets`` are the
    places of all others in the scratch. It is graph number ``number`` of those that share the
    scratch, and its first call is number ``start`` of theirs."""

    inside: Inside
    known: Mapping[str, str]
    number: int = 0
    start: int = 0
    offsets: Mapping[str | int, int] = field(default_factory=dict)
    calls: tuple[InnerCall, ...] = ()

    @property
    def graph(self) -> Graph:
        """The graph."""
        return self.inside.graph

    @property
    def called(self) -> list[tuple[int, Primitive]]:
        """The primitive functions that are called, each with its number among all of the graph."""
        every = enumerate(self.inside.primitives)
        return [(i, one) for i, one in every if i not in self.inside.updates.dropped]

    def own(self, number: int) -> str:
        """The key of the scratch of a call."""
        return f"{self.number}#{number}"

    def root(self, tensor: str) -> str:
        """The tensor whose bytes a tensor has, or the variable in whose place it is computed."""
        root = self.inside.updates.bytes_of[tensor]
        return self.inside.updates.places.get(root, root)

    def place(self, tensor: str, kind: str) -> str | Inner:
        """Where a tensor is, of elements that C calls ``kind``."""
        root = self.root(tensor)
        return self.known.get(root) or Inner(self.offsets[self._key(root)], kind)

    def spans(self) -> list[BufferSpan]:
        """How long each tensor and the scratch of each call are live."""
        called, spans = self.called, list[BufferSpan]()
        last = {self.root(name): i for i, one in called for name in one.inputs}
        end = len(self.inside.primitives) - 1
        last |= {self.root(name): end for name in self.graph.outputs}
        for i, one in called:
            for name, nbytes in zip(one.outputs, one.output_bytes, strict=True):
                if (root := self.root(name)) not in self.known:
                    spans.append(self._span(self._key(root), nbytes, i, last.get(root, i)))
            if one.scratch:
                spans.append(self._span(self.own(i), one.scratch, i, i))
        return spans

    def _key(self, root: str) -> str:
        return f"{self.number}:{root}"

    def _span(self, key: str, nbytes: int, first: int, last: int) -> BufferSpan:
        return BufferSpan(key, nbytes, self.start + first, self.start + last)
