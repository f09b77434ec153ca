"""Sums of products as int32 numbers, for ConvInteger and MatMulInteger.

Their importers make floats of integers with the scale 1, a layer of floats, and a conversion to
int32. A layer of integers gives the same sums, without the limit of 2**24 that floats have.
"""

from __future__ import annotations

import dataclasses

from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import ArrayType, DType, Node
from microgen.graph.qdq.layers import LAYERS, sums
from microgen.graph.qdq.moves import VIEWS
from microgen.graph.qdq.rewriting import NotInteger, Rewriting


def of(rewriting: Rewriting, node: Node) -> bool:
    """Compute the result of a conversion to int32 by a layer of integers, if it is one."""
    if node.op != "cast" or rewriting.graph.types[node.outputs[0]].dtype is not DType.INT32:
        return False
    layer, moves = _before(rewriting, node.inputs[0])
    if layer is None or not _has_scale_1(rewriting, layer):
        return False
    nodes = len(rewriting.nodes)
    try:
        _sum(rewriting, layer, moves, node.outputs[0])
    except NotInteger as reason:
        rewriting.back_to(nodes)
        rewriting.reasons[layer.outputs[0]] = str(reason)
        return False
    return True


def _before(rewriting: Rewriting, tensor: str) -> tuple[Node | None, list[Node]]:
    """The layer of sums before a tensor, and the moves between, the last one first."""
    moves: list[Node] = []
    node = rewriting.producers.get(tensor)
    while node is not None and node.op in VIEWS:
        moves.append(node)
        node = rewriting.producers.get(node.inputs[0])
    is_layer = node is not None and LAYERS.get(node.op) is sums and len(node.inputs) == 2
    return (node if is_layer else None), moves


def _has_scale_1(rewriting: Rewriting, layer: Node) -> bool:
    data, weight = layer.inputs
    integers, stored = rewriting.meaning.get(data), rewriting.stored.get(weight)
    if integers is None or stored is None:
        return False
    quant = rewriting.types[integers].quant
    return quant is not None and {*quant.scale, *stored.quant.scale} == {1.0}


def _sum(rewriting: Rewriting, layer: Node, moves: list[Node], output: str) -> None:
    kind = ArrayType(rewriting.graph.types[layer.outputs[0]].shape, DType.INT32)
    name = rewriting.fresh(f"{output}#sums") if moves else output
    found = sums(rewriting, layer, kind, name, Activation.NONE)
    for each in reversed(moves):
        name = output if each is moves[0] else rewriting.fresh(f"{output}#{each.op}")
        kind = dataclasses.replace(kind, shape=rewriting.graph.types[each.outputs[0]].shape)
        found = rewriting.emit(each.op, each.attrs, (found,), kind, name, each.origin)
