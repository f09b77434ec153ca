"""Ops that only move, copy or choose values. They apply to stored integers in the same way as to
floats."""

from __future__ import annotations

import dataclasses

import numpy as np

from microgen.graph.arithmetic import in_float32
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import ArrayType, Attrs, DType, Node
from microgen.graph.ops.moves.pads import PadAttrs
from microgen.graph.ops.pooling.pooling import PoolAttrs
from microgen.graph.qdq.rewriting import NotInteger, Rewriting
from microgen.graph.unsigned import HALF

VIEWS = ("layout_transform", "reshape", "transpose")
"""Ops of one tensor that keep every value."""
_OF_FIRST = (
    *(*VIEWS, "broadcast_to", "copy", "gather_nd", "nn.mirror_pad", "nn.pad"),
    *("strided_slice", "take"),
    # Their results depend on the order of values, which is the same for uint8 and its int8 form.
    *("max", "min", "nn.max_pool2d"),
)
_OF_ALL = ("concatenate", "maximum", "minimum")
HOISTED = (*VIEWS, "nn.max_pool2d")
"""Ops of one tensor for which it is the same whether their input is quantized or their result."""


def of_floats(rewriting: Rewriting, node: Node) -> bool:
    """Move the integers that represent the node's floats, if the node only moves values."""
    positions = _data(node)
    if not positions or not any(node.inputs[i] in rewriting.meaning for i in positions):
        return False
    nodes = len(rewriting.nodes)
    try:
        integers = [rewriting.integers(node.inputs[i]) for i in positions]
        moved = _moved(rewriting, node, integers, f"{node.outputs[0]}#stored")
    except NotInteger as reason:
        rewriting.back_to(nodes)
        rewriting.reasons[node.outputs[0]] = str(reason)
        return False
    rewriting.mean(node.outputs[0], moved, node.origin)
    return True


def of_stored(rewriting: Rewriting, node: Node) -> bool:
    """Move stored integers, if the node only moves values."""
    positions = _data(node)
    if not positions or not all(node.inputs[i] in rewriting.inner for i in positions):
        return False
    output = node.outputs[0]
    nodes = len(rewriting.nodes)
    try:
        integers = _alike(rewriting, node, [rewriting.inner[node.inputs[i]] for i in positions])
        moved = _moved(rewriting, node, integers, rewriting.name_for(output))
    except NotInteger:
        rewriting.back_to(nodes)
        return False
    rewriting.inner[output] = moved
    return True


def _alike(rewriting: Rewriting, node: Node, integers: list[str]) -> list[str]:
    """The tensors' stored values, with the scale of the first tensor."""
    quant = rewriting.types[integers[0]].quant
    assert quant is not None
    name = f"{node.outputs[0]}#operand"
    return [rewriting.retyped(each, quant, rewriting.fresh(name), node.origin) for each in integers]


def _data(node: Node) -> tuple[int, ...]:
    """The positions of the inputs whose values the node moves; empty if the node moves none."""
    if node.op == "where":
        return (1, 2)  # after the condition
    count = len(node.inputs) if node.op in _OF_ALL else int(node.op in _OF_FIRST)
    return tuple(range(count))


def _moved(rewriting: Rewriting, node: Node, integers: list[str], name: str) -> str:
    """The node's output as integers. ``integers`` are its values."""
    kinds = [rewriting.types[each] for each in integers]
    if len({(kind.dtype, kind.quant) for kind in kinds}) > 1:
        raise NotInteger("joins tensors of different scales, and its result is not quantized")
    places = dict(zip(_data(node), integers, strict=True))
    inputs = [places.get(i, each) for i, each in enumerate(node.inputs)]
    attrs = integer_attrs(rewriting, node, kinds[0])
    return rewriting.emit(node.op, attrs, inputs, kinds[0], name, node.origin)


def integer_attrs(rewriting: Rewriting, node: Node, kind: ArrayType) -> Attrs:
    """The node's attributes for integers of the type ``kind``."""
    if isinstance(node.attrs, PoolAttrs) and not node.attrs.activation.clamps:
        return dataclasses.replace(node.attrs, activation=Activation.NONE)
    if not isinstance(node.attrs, PadAttrs):
        return node.attrs
    data = rewriting.graph.types[node.inputs[0]]
    return dataclasses.replace(node.attrs, value=_padding(node.attrs.value, data, kind))


def _padding(value: float, data: ArrayType, kind: ArrayType) -> int:
    if data.dtype is not DType.FLOAT32:
        # uint8 values are less by 128 inside the graph.
        return int(value) - (HALF if data.dtype is DType.UINT8 else 0)
    limits = np.iinfo(kind.dtype.numpy)
    stored = in_float32.stored(np.array(value, np.float32), kind)
    integer = int(np.clip(stored, limits.min, limits.max))
    if float(in_float32.real(np.array(integer), kind)) != value:
        raise NotInteger(f"pads with {value:g}, which no stored value means")
    return integer
