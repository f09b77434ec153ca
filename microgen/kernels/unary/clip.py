"""Kernels for clip."""

from __future__ import annotations

from microgen.graph.arithmetic.int8 import clip_multiplier
from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ops.unary.activations import ClipAttrs
from microgen.kernels import base
from microgen.kernels.unary import unary

OP_NAME = "clip"


def _int8(node: Node, graph: Graph) -> base.Fields:
    attrs = node.attrs
    assert isinstance(attrs, ClipAttrs)
    (data,), output = base.types(node, graph)
    multiplier, shift = clip_multiplier(data, output)  # 0: the kernel then only clamps
    return (
        ("size", output.size),
        *base.offsets(data, output),
        ("multiplier", multiplier),
        ("shift", shift),
        *base.activation_fields(attrs.activation, output),
    )


def _int16(node: Node, graph: Graph) -> base.Fields:
    """The fields of int8 kernels, but without zero points."""
    return tuple(field for field in _int8(node, graph) if not field[0].endswith("_offset"))


def _float(node: Node, graph: Graph) -> base.Fields:
    assert isinstance(node.attrs, ClipAttrs)
    output = graph.types[node.outputs[0]]
    limits = base.activation_fields(node.attrs.activation, output)
    return (*unary.size(node, graph), *limits)


IMPLEMENTATIONS = (
    unary.kernel("clip", DType.INT8, _int8),
    unary.kernel("clip", DType.INT16, _int16),
    unary.kernel("clip", DType.FLOAT32, _float),
)
