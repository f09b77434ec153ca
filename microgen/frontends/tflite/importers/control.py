"""Loops and branches that run: graphs inside the graph."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np

from microgen.base.errors import short
from microgen.frontends.tflite.importers.arguments import Importer
from microgen.frontends.tflite.layers import FileLayer
from microgen.frontends.tflite.loops import subgraphs
from microgen.graph.builder import BuiltTensor, Value
from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ops import registry
from microgen.graph.ops.control.branch import BranchAttrs
from microgen.graph.ops.control.loop import LoopAttrs
from microgen.graph.ops.moves.views import ReshapeAttrs


def looped(
    layer: FileLayer, start: Sequence[BuiltTensor], kept: Sequence[int], count: int | None
) -> Value:
    """The outputs of a loop of ``count`` rounds, or of one that ends when its condition is false.
    No round changes the tensors at the positions ``kept``, so they may be constants inside."""
    condition, body = (
        subgraphs.imported(layer.file, number, start, layer.where, known=kept, keeps=True)
        for number in layer.subgraphs()
    )
    changed, names = [i for i in range(len(start)) if i not in kept], body.inputs
    _check_order(layer, body, changed)
    captured = [i for i in kept if names[i] not in body.constants]
    inner = body.replace(
        inputs=tuple(names[i] for i in captured),
        outputs=(),
        variables=(*(names[i] for i in changed), *body.variables),
        updates={names[i]: body.outputs[i] for i in changed},
        initial={},
    )
    attrs = LoopAttrs(inner, *_rounds(layer, condition, body, count))
    outputs = {i: layer.settled_output(i, start[i].shape) for i in changed}
    # LiteRT resets the variables of a body whenever it runs the loop, except if it is told to keep
    # all tensors, as it is for comparisons.
    states = [_reset(layer, body, name) for name in body.variables]
    latest = [BuiltTensor(f"{one.name}/last", one.type) for one in states]
    operands = [*(start[i] for i in changed), *states, *(start[i] for i in captured)]
    if changed or states:
        _add(layer, "loop", attrs, operands, [*outputs.values(), *latest])
    return tuple(outputs.get(i) or _unchanged(layer, i, one) for i, one in enumerate(start))


def _check_order(layer: FileLayer, body: Graph, changed: Sequence[int]) -> None:
    """Raise UnsupportedError if LiteRT replaces a value before it gives it to another one."""
    # LiteRT copies the outputs of a body to its inputs one by one, in order. An output that is an
    # input which was replaced before is no longer the value of the round.
    for i in changed:
        source = body.outputs[i]
        if source in body.inputs and body.inputs.index(source) < i:
            raise layer.unsupported(
                f'gives "{short(source)}" to a later value of the next round, for which LiteRT '
                "takes the value that has replaced it",
                hint="copy it in the loop's body, for example by adding 0",
            )


def _unchanged(layer: FileLayer, position: int, tensor: BuiltTensor) -> BuiltTensor:
    output = layer.settled_output(position, tensor.shape)
    return layer.emit("reshape", ReshapeAttrs(tensor.shape), (tensor,), output)


def _reset(layer: FileLayer, body: Graph, name: str) -> BuiltTensor:
    """The first value of a variable of the body."""
    kind = body.types[name]
    zero = np.full(kind.shape, kind.zero, kind.dtype.numpy)
    first = np.broadcast_to(body.initial.get(name, zero), kind.shape)
    return layer.constant(first, f"{name}/first", kind.quant)


def _rounds(
    layer: FileLayer, condition: Graph, body: Graph, count: int | None
) -> tuple[int, Graph | None]:
    """The number of rounds; or the greatest that is given for the loop, and the condition, whose
    inputs have the names that they have in the body. UnsupportedError if none is given."""
    if condition.variables:
        raise layer.unsupported(
            "has layers with a state in its condition", supported="conditions without state"
        )
    if count is not None:
        return count, None
    most = layer.file.most.of(layer.name)
    if most is None:
        raise layer.unsupported(
            "has a number of rounds that depends on data",
            hint=f"give the most rounds: --max-rounds {short(layer.name)}=N",
        )
    read = {*condition.outputs, *(n for node in condition.nodes for n in node.inputs)}
    pairs = zip(condition.inputs, body.inputs, strict=True)
    inputs = {a: b for a, b in pairs if a in read and a not in condition.constants}
    # All others get names that no tensor of the body has.
    names = {name: f"{layer.name}?{name}" for name in condition.types} | inputs
    return most, _renamed(condition.replace(inputs=tuple(inputs)), names)


def _renamed(graph: Graph, names: Mapping[str, str]) -> Graph:
    """The graph with other names of its tensors."""
    nodes = [
        dataclasses.replace(
            node,
            inputs=tuple(names[name] for name in node.inputs),
            outputs=tuple(names[name] for name in node.outputs),
        )
        for node in graph.nodes
    ]
    return graph.replace(
        nodes=tuple(nodes),
        inputs=tuple(names[name] for name in graph.inputs),
        outputs=tuple(names[name] for name in graph.outputs),
        types={names[name]: kind for name, kind in graph.types.items()},
        constants={names[name]: array for name, array in graph.constants.items()},
        int4=frozenset(names[name] for name in graph.int4),
    )


def _add(
    layer: FileLayer,
    op: str,
    attrs: LoopAttrs | BranchAttrs,
    inputs: Sequence[BuiltTensor],
    outputs: Sequence[BuiltTensor],
) -> None:
    kinds = [tensor.type for tensor in inputs], [tensor.type for tensor in outputs]
    try:
        registry()[op].infer(attrs, kinds[0])
    except ValueError as error:
        raise layer.invalid(str(error)) from None
    if sentence := registry()[op].check(attrs, *kinds):
        raise layer.invalid(sentence)
    names = tuple(tensor.name for tensor in inputs), tuple(tensor.name for tensor in outputs)
    layer.add_node(Node(op, *names, attrs, layer.origin), [*inputs, *outputs])


def _if(layer: FileLayer) -> Value:
    condition, *given = layer.plain_operands() or (layer.plain(0),)
    layer.expect(condition, DType.BOOL)
    numbers, outputs = layer.subgraphs(), layer.plain_outputs()
    if condition.type.size != 1 or len(numbers) != 2:
        raise layer.invalid("lacks a condition of one bool, or the subgraphs of its branches")
    graphs = [subgraphs.imported(layer.file, n, given, layer.where) for n in numbers]
    then, otherwise = (graph.type_of(graph.outputs) for graph in graphs)
    if not len(then) == len(otherwise) == len(outputs):
        raise layer.invalid(
            f"has {len(outputs)} outputs; its subgraphs have {len(then)} and {len(otherwise)}"
        )
    for one, other in zip(then, otherwise, strict=True):
        if one.shape != other.shape:
            raise layer.unsupported(
                f"gives {one} or {other}", supported="branches with equal shapes"
            )
    made = [layer.settled_output(i, kind.shape) for i, kind in enumerate(then)]
    _add(layer, "branch", BranchAttrs(*graphs), [condition, *given], made)
    return tuple(made)


IMPORTERS = {"IF": Importer(_if)}
