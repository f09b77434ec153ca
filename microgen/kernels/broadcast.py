"""What kernels of two operands share: ``crt/include/microgen/broadcast.h``."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from microgen.ir.graph import Graph, Node
from microgen.kernels import base
from microgen.ops.base import Activation
from microgen.quantize import AddParameters


def _strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Elements to step per axis of the output, 0 where this operand is broadcast."""
    padded = base.padded_to_4(shape, 1)
    sizes = itertools.accumulate(reversed(padded[1:]), lambda a, b: a * b, initial=1)
    return tuple(0 if n == 1 else s for n, s in zip(padded, reversed(tuple(sizes)), strict=True))


def shapes(node: Node, graph: Graph) -> base.Fields:
    """The output's shape and both operands' strides: the first fields of every such kernel."""
    (lhs, rhs), output = base.types(node, graph)
    return (
        ("shape", base.padded_to_4(output.shape, 1)),
        ("lhs_stride", _strides(lhs.shape)),
        ("rhs_stride", _strides(rhs.shape)),
    )


def offsets(node: Node, graph: Graph) -> base.Fields:
    """The zero points as kernels take them: added to each operand, added to the output."""
    (lhs, rhs), output = base.types(node, graph)
    return (
        ("lhs_offset", -lhs.zero_point),
        ("rhs_offset", -rhs.zero_point),
        ("output_offset", output.zero_point),
    )


def float_params(node: Node, graph: Graph) -> base.Fields:
    """The fields of ``mg_add_f32_params``, and of every float kernel with an activation."""
    activation = getattr(node.attrs, "activation", Activation.NONE)
    output = graph.types[node.outputs[0]]
    return (*shapes(node, graph), *base.activation_fields(activation, output))


def sum_params(p: AddParameters, activation: Activation, node: Node, graph: Graph) -> base.Fields:
    """The fields of ``mg_add_s8_params``."""
    output = graph.types[node.outputs[0]]
    return (
        *shapes(node, graph),
        *offsets(node, graph),
        ("left_shift", p.left_shift),
        ("lhs_multiplier", p.lhs_multiplier),
        ("lhs_shift", p.lhs_shift),
        ("rhs_multiplier", p.rhs_multiplier),
        ("rhs_shift", p.rhs_shift),
        ("output_multiplier", p.output_multiplier),
        ("output_shift", p.output_shift),
        *base.activation_fields(activation, output),
    )


def in_place(node: Node, graph: Graph) -> tuple[int, ...]:
    """The operands of the output's shape: each element is read before it is written."""
    inputs, output = base.types(node, graph)
    return tuple(i for i, operand in enumerate(inputs) if operand.shape == output.shape)
