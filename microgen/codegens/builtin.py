"""The built-in kernels: each node becomes a primitive function around the best kernel that fits."""

from __future__ import annotations

from collections.abc import Sequence

from microgen.arithmetic.terms import Activation
from microgen.codegens import fusion, reasons
from microgen.codegens.base import Primitive, Region
from microgen.ir.graph import DType, Graph, Node
from microgen.ir.refusal import Refusal, of_node
from microgen.kernels import registry as kernels
from microgen.kernels.base import Kernel, KernelConstant, Mismatch, Trait
from microgen.ops import registry as ops
from microgen.program.element_types import ctype
from microgen.program.types import InPlace, KernelCall, Parameter, Role
from microgen.target.board import Board


class Builtin:
    """The codegen that compiles with the kernels of ``crt``."""

    name = "builtin"

    def claims(self, graph: Graph, board: Board) -> Sequence[Region | Refusal[Node]]:
        """A region for each node that some kernel fits, with its changes of layout, and one for
        each external function all of whose nodes have a kernel."""
        taken: list[Node] = []
        refused: list[Refusal[Node]] = []
        for node in graph.nodes:
            kernel, refusals = _choice(node, graph, board)
            if kernel:
                taken.append(node)
            else:
                why = reasons.missing(node, graph, refusals)
                refused.append(of_node(self.name, node, why, reasons.by_loop(node, refusals)))
        whole = _whole_functions(taken, refused)
        groups = fusion.groups([node for node in taken if not node.function], graph)
        return [*(Region(self.name, group) for group in (*groups, *whole)), *refused]

    def lower(self, regions: Sequence[Region], graph: Graph, board: Board) -> Sequence[Primitive]:
        """The primitive functions of the regions' nodes."""
        return [self._lowered(region, graph, board) for region in regions]

    def _lowered(self, region: Region, graph: Graph, board: Board) -> Primitive:
        primitives = {node.outputs[0]: _primitive(node, graph, board) for node in region.nodes}
        main = primitives[region.main.outputs[0]]
        if len(primitives) == 1:
            return main
        return fusion.fused([*primitives.values()], main, fusion.Surroundings.of(region, graph))


def _whole_functions(taken: list[Node], refused: list[Refusal[Node]]) -> list[tuple[Node, ...]]:
    """The nodes of each external function whose nodes all have kernels."""
    found: dict[str, list[Node]] = {}
    for node in taken:
        if node.function:
            found.setdefault(node.function, []).append(node)
    views = {op for op, defined in ops().items() if defined.is_view}
    partial = {r.of.function for r in refused if r.what not in views}
    return [tuple(nodes) for function, nodes in found.items() if function not in partial]


def _primitive(node: Node, graph: Graph, board: Board) -> Primitive:
    kernel, refusals = _choice(node, graph, board)
    assert kernel is not None, "claims has checked it"
    inputs, constants = _arguments(kernel, node, graph)
    parameters = _parameters(kernel, inputs, constants, node, graph)
    return Primitive(
        words=_words(node, graph),
        target=node.target or board.cpu.name,
        parameters=parameters,
        body=_kernel_calls(kernel, node, graph, parameters, constants),
        inputs=tuple(inputs),
        constants=tuple(c for c in constants if not c.is_absent),
        outputs=node.outputs,
        output_bytes=tuple(t.nbytes for t in graph.type_of(node.outputs)),
        scratch=kernel.scratch(node, graph),
        in_place=_in_place(kernel, node, graph, inputs, parameters),
        kernel=kernel.symbol,
        reason=_reason(kernel, node, graph, board),
        refusals=reasons.by_loop(node, refusals, kernel),
    )


def _words(node: Node, graph: Graph) -> tuple[str, ...]:
    """The words of the function's name. TVM calls a clamp of floats from 0 up ``nn.relu``."""
    words = ops()[node.op].parts(node.attrs, len(node.inputs))
    is_relu = getattr(node.attrs, "activation", None) is Activation.RELU
    if is_relu and words[-1] == "clip" and graph.types[node.outputs[0]].dtype is DType.FLOAT32:
        return (*words[:-1], "nn_relu")
    return words


def _entries(node: Node, graph: Graph) -> tuple[Kernel, ...]:
    """The kernels for the node's op and for the form in which the model stores its weight."""
    is_int4 = not graph.int4.isdisjoint(node.inputs[1:2])
    return tuple(k for k in kernels().get(node.op, ()) if is_int4 or not k.takes_int4)


def _choice(node: Node, graph: Graph, board: Board) -> tuple[Kernel | None, list[Refusal[Node]]]:
    """The first kernel that fits, and the refusals of those before it."""
    refusals: list[Refusal[Node]] = []
    for kernel in _entries(node, graph):
        why = _refusal(kernel, node, graph, board)
        if why is None:
            return kernel, refusals
        refusals.append(of_node(kernel.symbol, node, why))
    return None, refusals


def _reason(kernel: Kernel, node: Node, graph: Graph, board: Board) -> str:
    entries = _entries(node, graph)
    worse = entries[entries.index(kernel) + 1 :]
    if all(_refusal(other, node, graph, board) for other in worse):
        return "the reference kernel"
    return "the best kernel" if kernel is entries[0] else "the best kernel that fits"


def _refusal(kernel: Kernel, node: Node, graph: Graph, board: Board) -> str | None:
    missing = sorted(feature.value for feature in kernel.needs - board.cpu.features)
    why = kernel.refusal(node, graph)
    if missing and not (isinstance(why, Mismatch) and why.trait < Trait.CPU):
        return Mismatch(Trait.CPU, f"{board.cpu.title} has no {', '.join(missing)}")
    return why


def _arguments(kernel: Kernel, node: Node, graph: Graph) -> tuple[list[str], list[KernelConstant]]:
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
    kernel: Kernel, inputs: list[str], constants: list[KernelConstant], node: Node, graph: Graph
) -> tuple[Parameter, ...]:
    """The C parameters: inputs, constants, outputs, scratch."""
    computed = set(inputs)
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
    kernel: Kernel,
    node: Node,
    graph: Graph,
    parameters: tuple[Parameter, ...],
    constants: list[KernelConstant],
) -> tuple[KernelCall, ...]:
    tensors = {f"in{position}" for position in kernel.passed(node)}
    own = [c for c in constants if c.name not in tensors]
    last = [p.name for p in parameters if p.role in (Role.OUTPUT, Role.SCRATCH)]
    rest = (*("NULL" if c.is_absent else c.name for c in own), *last)
    return tuple(
        KernelCall(
            code=kernel.code,
            params=params,
            args=(*(f"in{i}" if i < len(node.inputs) else "NULL" for i in positions), *rest),
            can_fail=kernel.can_fail,
        )
        for positions, params in kernel.calls(node, graph)
    )


def _in_place(
    kernel: Kernel,
    node: Node,
    graph: Graph,
    inputs: list[str],
    parameters: tuple[Parameter, ...],
) -> tuple[InPlace, ...]:
    """Parameter positions that may share a buffer."""
    names = [p.name for p in parameters]
    return tuple(
        InPlace(names.index(f"in{position}"), names.index("out0"))
        for position in kernel.in_place(node, graph)
        if node.inputs[position] in inputs
    )


CODEGEN = Builtin()
