"""The built-in kernels: each node becomes a primitive function around one that fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from microgen import kernels
from microgen.compiler.codegens import fusion, reasons, row_function
from microgen.compiler.codegens.base import Choice, Primitive, Region, step
from microgen.graph.arithmetic.terms import RELUS
from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ir.refusal import Refusal, of_node
from microgen.graph.ops import registry as ops
from microgen.graph.rows import tiles
from microgen.kernels import patterns
from microgen.kernels.base import Implementation, KernelConstant
from microgen.kernels.fitting import Fitting, fitting
from microgen.planner.program.kernel_call import ctype
from microgen.planner.program.steps import NotStored, Step
from microgen.planner.program.types import InPlace, KernelCall, Parameter, Role
from microgen.target.board import Board


class Builtin:
    """The codegen that compiles with the kernels of ``crt``."""

    name = "builtin"

    def claims(self, graph: Graph, board: Board) -> Sequence[Region | Refusal[Node]]:
        """A region for each node that has a kernel, together with its changes of layout. An
        external function is one region if all of its nodes have kernels. Each node's choice is the
        first kernel that fits."""
        taken: dict[str, Choice] = {}
        refused: list[Refusal[Node]] = []
        for node in graph.nodes:
            found = fitting(node, graph, board.cpu)
            if found.kernels:
                taken[node.outputs[0]] = _first(node, found)
            else:
                why = reasons.missing(node, graph, found.refusals)
                refused.append(of_node(self.name, node, why, reasons.by_loop(node, found.refusals)))
        nodes = [choice.nodes[0] for choice in taken.values()]
        whole = _whole_functions(nodes, refused)
        groups = fusion.groups([node for node in nodes if not node.function], graph)
        regions = [
            Region(self.name, group, tuple(taken[node.outputs[0]] for node in group))
            # Functions that the model names are never fused with nodes outside of them.
            for group in (*groups, *whole)
        ]
        return [*regions, *refused]

    def lower(self, regions: Sequence[Region], graph: Graph, board: Board) -> Sequence[Primitive]:
        """The primitive functions of the regions' choices."""
        return [self._lowered(region, graph, board) for region in regions]

    def _lowered(self, region: Region, graph: Graph, board: Board) -> Primitive:
        if region.is_rolled:
            return _rolled(region, graph, board)
        primitives = [_primitive(choice, graph, board) for choice in region.choices]
        if len(primitives) == 1:
            return primitives[0]
        result = region.main.outputs[0]
        # The function is named after the layer, not after a change of layout around it.
        main = next(p for p in primitives if result in p.outputs)
        return fusion.fused(primitives, main, fusion.Surroundings.of(region, graph))


def _rolled(region: Region, graph: Graph, board: Board) -> Primitive:
    """The primitive function that computes the region row by row."""
    rows = [choice.rows for choice in region.choices]
    columns = [choice.columns for choice in region.choices]
    group = tiles.of(region.nodes, graph, rows, region.fed, columns)
    primitives = []
    for choice in region.choices:
        tile = group.tiles[choice.nodes[0].outputs[0]]
        primitives.append(_primitive(replace(choice, nodes=(tile.node,)), tile.graph, board))
    made = row_function.primitive(group, primitives, graph)
    return made if region.choices[-1].in_place else replace(made, in_place=())


def _first(node: Node, found: Fitting) -> Choice:
    kernel = found.kernels[0]
    only = "the only kernel that fits" if len(found.kernels) == 1 else "the first kernel that fits"
    refusals = found.before(kernel, node.op)
    return Choice((node,), kernel.symbol, reason=only, refusals=refusals)


def _whole_functions(taken: list[Node], refused: list[Refusal[Node]]) -> list[tuple[Node, ...]]:
    """The nodes of each external function whose nodes all have kernels."""
    functions: dict[str, list[Node]] = {}
    for node in taken:
        if node.function:
            functions.setdefault(node.function, []).append(node)
    # A view needs no kernel, so its refusal does not divide the function.
    views = {op for op, defined in ops().items() if defined.is_view}
    partial = {r.of.function for r in refused if r.what not in views}
    return [tuple(nodes) for function, nodes in functions.items() if function not in partial]


def interface(choice: Choice, graph: Graph, board: Board) -> Primitive:
    """The primitive function of a choice, without its body and its layers: all that decides its
    memory."""
    return _primitive(choice, graph, board, has_body=False)


def _primitive(choice: Choice, graph: Graph, board: Board, *, has_body: bool = True) -> Primitive:
    node = patterns.joined(choice.nodes)
    kernel = kernels.named(node.op, choice.symbol)
    assert kernel is not None, "the schedule has checked it"
    inputs, constants = _arguments(kernel, node, graph)
    parameters = _parameters(kernel, inputs, constants, node, graph)
    return Primitive(
        words=tuple(w for one in choice.nodes for w in _words(one, graph)) if has_body else (),
        target=node.target or board.cpu.name,
        parameters=parameters,
        body=_kernel_calls(kernel, node, graph, parameters, constants, choice.is_shared)
        if has_body
        else (),
        inputs=tuple(inputs),
        constants=tuple(c for c in constants if not c.is_absent),
        outputs=node.outputs,
        output_bytes=tuple(t.nbytes for t in graph.type_of(node.outputs)),
        scratch=kernel.scratch(node, graph),
        in_place=_in_place(kernel, node, graph, inputs, parameters) if choice.in_place else (),
        steps=_steps(choice, kernel, graph) if has_body else (),
    )


def _steps(choice: Choice, kernel: Implementation, graph: Graph) -> tuple[Step, ...]:
    """A choice's layers. A kernel of several layers does not store the tensors between them."""
    refusals = reasons.by_loop(patterns.joined(choice.nodes), choice.refusals, kernel)
    made = [
        step(
            node,
            graph,
            reads=[name for name in node.inputs if name not in graph.constants],
            kernel=choice.symbol,
            reason=choice.reason,
            refusals=refusals,
        )
        for node in choice.nodes
    ]
    # Only the last layer's result leaves the kernel.
    inner = NotStored(f"{choice.symbol} uses it at once and does not store it")
    return (*(replace(one, place=inner) for one in made[:-1]), made[-1])


def _words(node: Node, graph: Graph) -> tuple[str, ...]:
    words = ops()[node.op].parts(node.attrs, len(node.inputs))
    is_relu = getattr(node.attrs, "activation", None) in RELUS
    # TVM calls a clamp of floats from 0 up ``nn.relu``.
    if is_relu and words[-1] == "clip" and graph.types[node.outputs[0]].dtype is DType.FLOAT32:
        return (*words[:-1], "nn_relu")
    return words


def _arguments(
    kernel: Implementation, node: Node, graph: Graph
) -> tuple[list[str], list[KernelConstant]]:
    """The kernel's arguments: tensors computed at run time, and constants."""
    inputs: list[str] = []
    constants: list[KernelConstant] = []
    for position in kernel.passed(node):
        name = node.inputs[position]
        if name in graph.constants:
            element = ctype(graph.types[name].dtype)
            constants.append(KernelConstant(f"in{position}", element, name))
        else:
            inputs.append(name)
    return inputs, [*constants, *kernel.constants(node, graph)]


def _parameters(
    kernel: Implementation,
    inputs: list[str],
    constants: list[KernelConstant],
    node: Node,
    graph: Graph,
) -> tuple[Parameter, ...]:
    """The C parameters: inputs, constants, outputs, scratch."""
    computed = set(inputs)
    # A tensor that is read at two positions is passed twice.
    slots = [i for i, name in enumerate(node.inputs) if name in computed]
    found = [
        Parameter(
            f"in{i}",
            ctype(graph.types[node.inputs[i]].dtype),
            Role.STATE if i in kernel.writes else Role.INPUT,
        )
        for i in slots
    ]
    found += [Parameter(c.name, c.ctype, Role.CONSTANT) for c in constants if not c.is_absent]
    found += [
        Parameter(f"out{i}", ctype(graph.types[name].dtype), Role.OUTPUT)
        for i, name in enumerate(node.outputs)
    ]
    if kernel.scratch(node, graph):
        found.append(Parameter("scratch", "uint8_t", Role.SCRATCH))
    return tuple(found)


def _kernel_calls(
    kernel: Implementation,
    node: Node,
    graph: Graph,
    parameters: tuple[Parameter, ...],
    constants: list[KernelConstant],
    is_shared: bool,
) -> tuple[KernelCall, ...]:
    tensors = {f"in{position}" for position in kernel.passed(node)}
    own = [c for c in constants if c.name not in tensors]
    # The order of a kernel's arguments: inputs, constants, outputs, scratch.
    last = [p.name for p in parameters if p.role in (Role.OUTPUT, Role.SCRATCH)]
    rest = (*("NULL" if c.is_absent else c.name for c in own), *last)
    return tuple(
        KernelCall(
            code=kernel.code,
            params=params,
            args=(*(f"in{i}" if i < len(node.inputs) else "NULL" for i in positions), *rest),
            can_fail=kernel.can_fail,
            is_shared=is_shared,
        )
        for positions, params in kernel.calls(node, graph)
    )


def _in_place(
    kernel: Implementation,
    node: Node,
    graph: Graph,
    inputs: list[str],
    parameters: tuple[Parameter, ...],
) -> tuple[InPlace, ...]:
    """Parameter positions whose buffers may overlap, with their lags."""
    names = [p.name for p in parameters]
    return tuple(
        InPlace(names.index(f"in{position}"), names.index("out0"), lag)
        for position, lag in kernel.in_place(node, graph).items()
        # A constant is in read-only memory, so nothing can take its place.
        if node.inputs[position] in inputs
    )


CODEGEN = Builtin()
