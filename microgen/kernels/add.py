"""Kernels for add."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from microgen.ir.graph import Graph, Node
from microgen.kernels import base
from microgen.ops.add import AddAttrs
from microgen.quantize import add_parameters

OP_NAME = "add"


def _strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Elements to step per axis of the output, 0 where this operand is broadcast."""
    padded = base.padded_to_4(shape, 1)
    sizes = itertools.accumulate(reversed(padded[1:]), lambda a, b: a * b, initial=1)
    return tuple(0 if n == 1 else s for n, s in zip(padded, reversed(tuple(sizes)), strict=True))


def _params(node: Node, graph: Graph) -> base.Fields:
    attrs = node.attrs
    assert isinstance(attrs, AddAttrs)
    (lhs, rhs), output = base.types(node, graph)
    scaling = add_parameters(lhs, rhs, output)
    return (
        ("shape", base.padded_to_4(output.shape, 1)),
        ("lhs_stride", _strides(lhs.shape)),
        ("rhs_stride", _strides(rhs.shape)),
        ("lhs_offset", -lhs.zero_point),
        ("rhs_offset", -rhs.zero_point),
        ("output_offset", output.zero_point),
        ("left_shift", scaling.left_shift),
        ("lhs_multiplier", scaling.lhs_multiplier),
        ("lhs_shift", scaling.lhs_shift),
        ("rhs_multiplier", scaling.rhs_multiplier),
        ("rhs_shift", scaling.rhs_shift),
        ("output_multiplier", scaling.output_multiplier),
        ("output_shift", scaling.output_shift),
        *base.activation_fields(attrs.activation, output),
    )


def _in_place(node: Node, graph: Graph) -> tuple[int, ...]:
    inputs, output = base.types(node, graph)
    return tuple(i for i, operand in enumerate(inputs) if operand.shape == output.shape)


KERNELS = (
    base.Kernel(
        symbol="mg_add_s8",
        needs=base.REFERENCE,
        refusal=base.at_most_4_dimensions,
        params=_params,
        inputs=(0, 1),
        in_place=_in_place,
    ),
)
