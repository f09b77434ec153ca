"""Replaces floats between stored integers by integers, node by node, in the order of the graph."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from microgen.graph import unsigned
from microgen.graph.builder import BuiltTensor, GraphBuilder
from microgen.graph.ir.graph import DType, Graph, Node, Origin, Quant, Stored
from microgen.graph.qdq import functions, layers, moves, quantizing
from microgen.graph.qdq.rewriting import Rewriting, signed

_WAYS = (quantizing.clamped, moves.of_floats, moves.of_stored, layers.plain_sums)
_INTEGERS = (DType.INT8, DType.UINT8, DType.INT16)


def recognised(graph: Graph, stored: Mapping[str, Stored]) -> Graph:
    """The graph with integers wherever the model's conversions allow it. ``stored`` has the stored
    forms of the model's float constants. Every tensor of stored integers has the same values, or,
    if a layer is computed in another way, values that differ by its roundings. uint8 tensors become
    int8, except inputs and outputs.

    Raises UnsupportedError if tables of functions need more work than the budget allows.
    """
    if not any(node.op in ("qnn.quantize", "qnn.dequantize") for node in graph.nodes):
        return graph
    rewriting = Rewriting(graph, stored)
    ports = _inputs(rewriting)
    for node in graph.nodes:
        _step(rewriting, node)
    return _finished(rewriting, ports)


def _step(rewriting: Rewriting, node: Node) -> None:
    if node.op == "qnn.quantize" and _is_stored(rewriting, node.outputs[0]):
        _quantize(rewriting, node)
    elif node.op == "qnn.dequantize" and node.inputs[0] in rewriting.inner:
        integers = rewriting.inner[node.inputs[0]]
        rewriting.mean(node.outputs[0], integers, node.origin)
    elif node.op == "qnn.reinterpret" and _is_stored(rewriting, node.outputs[0]):
        _reinterpret(rewriting, node)
    elif not any(of(rewriting, node) for of in _WAYS):
        functions.follow(rewriting, node)
        rewriting.keep(node)


def _is_stored(rewriting: Rewriting, tensor: str) -> bool:
    return rewriting.graph.types[tensor].dtype in _INTEGERS


def _quantize(rewriting: Rewriting, node: Node) -> None:
    (tensor,), (output,) = node.inputs, node.outputs
    kind = signed(rewriting.graph.types[output])
    name = rewriting.name_for(output)
    rewriting.inner[output] = quantizing.quantized(rewriting, tensor, kind, name, node.origin)


def _reinterpret(rewriting: Rewriting, node: Node) -> None:
    """Give integers another scale. An output without a scale keeps their scale."""
    (tensor,), (output,) = node.inputs, node.outputs
    kind = signed(rewriting.graph.types[output])
    integers = rewriting.inner.get(tensor)
    if integers is None:
        rewriting.keep(node)
        integers = output
        if rewriting.graph.types[output].dtype is DType.UINT8 and kind.quant is not None:
            integers = rewriting.made_signed(output, kind, node.origin)
        elif kind.quant is None:
            return
    elif kind.quant is not None:
        integers = rewriting.retyped(
            integers, kind.quant, rewriting.fresh(f"{output}#stored"), node.origin
        )
    rewriting.inner[output] = integers


def _inputs(rewriting: Rewriting) -> list[unsigned.UnsignedPort]:
    """The inputs of the model. Stored integers have the scale with which nodes read them."""
    ports = []
    for name in rewriting.graph.inputs:
        kind = rewriting.graph.types[name]
        quant = _quant_of(rewriting, name) if kind.dtype in _INTEGERS else None
        tensor = inner = BuiltTensor(name, dataclasses.replace(kind, quant=quant))
        if quant is not None:
            inner = BuiltTensor(rewriting.name_for(name), signed(tensor.type))
            rewriting.types[name], rewriting.types[inner.name] = tensor.type, inner.type
            rewriting.inner[name] = inner.name
        ports.append(unsigned.UnsignedPort(tensor, inner, _origin(rewriting, name)))
    return ports


def _quant_of(rewriting: Rewriting, tensor: str) -> Quant | None:
    """The only scale with which nodes read integers, directly or after moves. None if there are
    several scales, or if a reader has none.
    """
    quants: dict[Quant | None, None] = {}
    pending = [tensor]
    while pending:
        for node in rewriting.readers.get(pending.pop(), []):
            if node.op == "qnn.reinterpret":
                quants[rewriting.graph.types[node.outputs[0]].quant] = None
            elif node.op in moves.VIEWS:
                pending.append(node.outputs[0])
            else:
                return None
    return next(iter(quants)) if len(quants) == 1 else None


def _origin(rewriting: Rewriting, tensor: str) -> Origin:
    return Origin(rewriting.graph.nodes[0].origin.file, tensor)


def _finished(rewriting: Rewriting, inputs: list[unsigned.UnsignedPort]) -> Graph:
    """The new graph, with conversions of uint8 inputs and outputs."""
    outputs = [_output(rewriting, name) for name in rewriting.graph.outputs]
    builder = GraphBuilder(
        nodes=rewriting.nodes,
        types=rewriting.types,
        constants=rewriting.constants,
        variables=dict.fromkeys(rewriting.graph.variables),
        initial=dict(rewriting.graph.initial),
        int4=rewriting.int4,
    )
    builder.rename(rewriting.names, 0)
    unsigned.connect(builder, inputs, outputs)
    ends = [port.tensor for port in outputs]
    builder.drop_dead(ends)
    graph = builder.graph(rewriting.graph.name, [port.tensor for port in inputs], ends)
    return graph.replace(in_floats=_in_floats(rewriting, graph))


def _in_floats(rewriting: Rewriting, graph: Graph) -> dict[str, str]:
    """Float tensor that is computed from floats -> the reason."""
    reasons: dict[str, str] = {}
    for node in graph.nodes:
        (output, *_) = node.outputs
        is_floats = graph.types[output].dtype is DType.FLOAT32
        if is_floats and node.op not in ("qnn.dequantize", *moves.VIEWS):
            reasons[output] = rewriting.reasons.get(output) or _why(rewriting, node)
    return reasons


def _why(rewriting: Rewriting, node: Node) -> str:
    if node.op == "nn.recurrent":
        return f"{node.op} has no form for integers"
    known = (*rewriting.meaning, *rewriting.graph.constants)
    floats = [name for name in node.inputs if name not in known]
    if floats:
        return f'reads "{floats[0]}", which is in floats'
    return "no QuantizeLinear follows it"


def _output(rewriting: Rewriting, name: str) -> unsigned.UnsignedPort:
    """An output of the model. Its node computes it under the model's name."""
    kind, origin = rewriting.graph.types[name], _origin(rewriting, name)
    integers = rewriting.inner.get(name)
    if integers is None:
        tensor = BuiltTensor(name, rewriting.types[name])
        return unsigned.UnsignedPort(tensor, tensor, origin)
    typed = rewriting.types[integers]
    if kind.dtype is DType.UINT8:
        inner = BuiltTensor(rewriting.names.get(integers, integers), typed)
        tensor = unsigned.stored(inner, name)
        # The result of a move of stored integers has no scale in the model.
        rewriting.types[name] = tensor.type
        return unsigned.UnsignedPort(tensor, inner, origin)
    if name not in (integers, rewriting.names.get(integers)):
        rewriting.copied(integers, name, origin)
    tensor = BuiltTensor(name, typed)
    return unsigned.UnsignedPort(tensor, tensor, origin)
