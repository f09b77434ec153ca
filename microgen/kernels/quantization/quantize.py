"""Kernels for qnn.quantize."""

from __future__ import annotations

import dataclasses

import numpy as np

from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ops.quantization.conversions import QuantizeAttrs
from microgen.kernels import base

OP_NAME = "qnn.quantize"


def _params(node: Node, graph: Graph) -> base.Fields:
    _, output = base.types(node, graph)
    return (
        ("size", output.size),
        ("output_bytes", output.dtype.nbytes),
        ("zero_point", output.zero_point),
        ("scale", output.scale),
    )


def _wide_params(node: Node, graph: Graph) -> base.Fields:
    _, output = base.types(node, graph)
    return (("size", output.size), ("scale", output.scale))


def _bytes_params(node: Node, graph: Graph) -> base.Fields:
    _, output = base.types(node, graph)
    return (("size", output.size), ("zero_point", output.zero_point), ("scale", output.scale))


def _narrow_only(node: Node, graph: Graph) -> str | None:
    output = graph.types[node.outputs[0]].dtype
    return None if output in (DType.INT8, DType.INT16) else f"the output is {output.value}"


def _even_params(node: Node, graph: Graph) -> base.Fields:
    _, output = base.types(node, graph)
    limits = np.iinfo(output.dtype.numpy)
    return (
        ("size", output.size),
        ("output_bytes", output.dtype.nbytes),
        ("least", int(limits.min)),
        ("greatest", int(limits.max)),
        ("zero_point", output.zero_point),
        ("scale", output.scale),
    )


def _rounding(of: base.Implementation, *, ties_even: bool) -> base.Implementation:
    """The kernel, which refuses nodes that round halves otherwise."""

    def refusal(node: Node, graph: Graph) -> str | None:
        assert isinstance(node.attrs, QuantizeAttrs)
        why = of.refusal(node, graph)
        if why is None and node.attrs.ties_even is not ties_even:
            return base.Mismatch(base.Trait.ARITHMETIC, "its halves are rounded otherwise")
        return why

    return dataclasses.replace(of, refusal=refusal)


_AWAY = (
    base.Implementation(
        symbol="mg_quantize_f32",
        needs=base.REFERENCE,
        refusal=_narrow_only,
        params=_params,
    ),
    base.Implementation(
        symbol="mg_quantize_f32_u8",
        needs=base.REFERENCE,
        refusal=base.only(DType.FLOAT32, DType.UINT8),
        params=_bytes_params,
    ),
    base.Implementation(
        symbol="mg_quantize_f32_s32",
        needs=base.REFERENCE,
        refusal=base.only(DType.FLOAT32, DType.INT32),
        params=_wide_params,
    ),
)
_EVEN = base.Implementation(
    symbol="mg_quantize_even_f32",
    needs=base.REFERENCE,
    refusal=base.any_node,
    params=_even_params,
)
IMPLEMENTATIONS = (
    *(_rounding(kernel, ties_even=False) for kernel in _AWAY),
    _rounding(_EVEN, ties_even=True),
)
