"""Kernels for qnn.rescale."""

from __future__ import annotations

import math

from microgen.graph.ir.graph import Graph, Node
from microgen.graph.ops.quantization.rescale import RescaleAttrs, rescale_multiplier
from microgen.kernels import base
from microgen.kernels.moves import moves

OP_NAME = "qnn.rescale"


def _refusal(node: Node, graph: Graph) -> str | None:
    if len(node.inputs) > 1 and node.inputs[1] not in graph.constants:
        return f"{node.inputs[1]!r} is computed at run time, the kernel needs a constant"
    return None


def _params(node: Node, graph: Graph) -> base.Fields:
    attrs = node.attrs
    assert isinstance(attrs, RescaleAttrs)
    (data, *scales), output = base.types(node, graph)
    axis = attrs.axis if scales else 0
    factor, shift = rescale_multiplier(attrs)
    channels = data.shape[axis] if scales else 1
    return (
        ("outer", math.prod(data.shape[:axis])),
        ("channels", channels),
        ("inner", math.prod(data.shape[axis + 1 :]) if scales else data.size),
        ("input_bytes", data.dtype.nbytes),
        ("output_bytes", output.dtype.nbytes),
        ("input_offset", -attrs.input_zero_point),
        ("output_offset", attrs.output_zero_point),
        ("ties", base.TIES[attrs.rounding]),
        ("multiplier", factor),
        ("shift", shift),
    )


def _constants(node: Node, graph: Graph) -> tuple[base.KernelConstant, ...]:
    """The tables if there are several scales; NULL if there is one."""
    attrs = node.attrs
    assert isinstance(attrs, RescaleAttrs)
    scales = node.inputs[1] if len(node.inputs) > 1 else ""
    arguments: tuple[tuple[str, float | int | str], ...] = (
        ("input_scale", 1.0),
        ("output_scale", attrs.output_scale),
        ("rule", "sums"),
        ("channels", graph.types[scales].size if scales else 1),
    )
    return (
        base.KernelConstant(
            "multiplier", "int32_t", scales, "data", "requantize_multiplier", arguments
        ),
        base.KernelConstant("shift", "int8_t", scales, "data", "requantize_shift", arguments),
    )


IMPLEMENTATIONS = (
    base.Implementation(
        symbol="mg_rescale_int",
        needs=base.REFERENCE,
        refusal=_refusal,
        params=_params,
        constants=_constants,
        in_place=moves.of_equal_size,
    ),
)
