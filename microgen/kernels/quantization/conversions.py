"""Kernels for numbers of another dtype, with or without a scale."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ops.quantization.conversions import QuantizeAttrs
from microgen.kernels import base
from microgen.kernels.moves import strided

_WIDE = (DType.UINT16, DType.UINT32, DType.UINT64)


def _cast_params(node: Node, graph: Graph) -> base.Fields:
    (data,), output = base.types(node, graph)
    return (
        ("size", output.size),
        ("input_bytes", data.dtype.nbytes),
        ("input_is_float", int(data.dtype is DType.FLOAT32)),
        ("output_bytes", output.dtype.nbytes),
        ("output_is_float", int(output.dtype is DType.FLOAT32)),
        ("output_is_bool", int(output.dtype is DType.BOOL)),
    )


def _cast_bytes_params(node: Node, graph: Graph) -> base.Fields:
    (data,), _ = base.types(node, graph)
    return (
        *((f"cast.{name}", value) for name, value in _cast_params(node, graph)),
        ("input_is_unsigned", int(data.dtype is DType.UINT8)),
    )


def _unsigned_params(node: Node, graph: Graph) -> base.Fields:
    (data,), _ = base.types(node, graph)
    is_unsigned = data.dtype is DType.BOOL or data.dtype.numpy.kind == "u"
    fields = [(f"cast.{name}", value) for name, value in _cast_params(node, graph)]
    return (*fields, ("input_is_unsigned", int(is_unsigned)))


def _has(dtypes: Sequence[DType], node: Node, graph: Graph) -> bool:
    (data,), output = base.types(node, graph)
    return data.dtype in dtypes or output.dtype in dtypes


def _cast_signed_only(node: Node, graph: Graph) -> str | None:
    if _has((DType.UINT8, *_WIDE), node, graph):
        return "the input or the output is an unsigned integer"
    return None


def _bytes_only(node: Node, graph: Graph) -> str | None:
    if _has(_WIDE, node, graph):
        return "the input or the output is a wider unsigned integer than uint8"
    return None if _has((DType.UINT8,), node, graph) else "neither input nor output is uint8"


def _wide_only(node: Node, graph: Graph) -> str | None:
    if _has(_WIDE, node, graph):
        return None
    return f"neither input nor output is {' or '.join(d.value for d in _WIDE)}"


def _dequantize_params(node: Node, graph: Graph) -> base.Fields:
    (data,), output = base.types(node, graph)
    return (
        ("size", output.size),
        ("input_bytes", data.dtype.nbytes),
        ("zero_point", data.zero_point),
        ("scale", data.scale),
    )


def _dequantize_bytes_params(node: Node, graph: Graph) -> base.Fields:
    size, _, *rest = _dequantize_params(node, graph)
    return (size, *rest)


def _dequantize_signed_only(node: Node, graph: Graph) -> str | None:
    data = graph.types[node.inputs[0]].dtype
    return "the input is uint8" if data is DType.UINT8 else None


def _quantize_params(node: Node, graph: Graph) -> base.Fields:
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


def _quantize_bytes_params(node: Node, graph: Graph) -> base.Fields:
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

    def other(node: Node, _graph: Graph) -> str | None:
        is_made_for = base.attrs_of(node, QuantizeAttrs).ties_even is ties_even
        return None if is_made_for else "its halves are rounded otherwise"

    return base.made_for(of, other)


_AWAY = (
    base.Implementation(
        symbol="mg_quantize_f32",
        refusal=_narrow_only,
        params=_quantize_params,
    ),
    base.Implementation(
        symbol="mg_quantize_f32_u8",
        refusal=base.only(DType.FLOAT32, DType.UINT8),
        params=_quantize_bytes_params,
    ),
    base.Implementation(
        symbol="mg_quantize_f32_s32",
        refusal=base.only(DType.FLOAT32, DType.INT32),
        params=_wide_params,
    ),
)
_EVEN = base.Implementation(
    symbol="mg_quantize_even_f32",
    refusal=base.any_node,
    params=_even_params,
)


BY_OP = {
    "cast": (
        base.Implementation(
            symbol="mg_cast",
            refusal=_cast_signed_only,
            params=_cast_params,
            in_place=strided.of_equal_size,
        ),
        base.Implementation(
            symbol="mg_cast_u8",
            refusal=_bytes_only,
            params=_cast_bytes_params,
            in_place=strided.of_equal_size,
        ),
        base.Implementation(
            symbol="mg_cast_unsigned",
            refusal=_wide_only,
            params=_unsigned_params,
            in_place=strided.of_equal_size,
        ),
    ),
    "qnn.dequantize": (
        base.Implementation(
            symbol="mg_dequantize_f32",
            refusal=_dequantize_signed_only,
            params=_dequantize_params,
        ),
        base.Implementation(
            symbol="mg_dequantize_f32_u8",
            refusal=base.only(DType.UINT8, DType.FLOAT32),
            params=_dequantize_bytes_params,
        ),
    ),
    "qnn.quantize": (
        *(_rounding(kernel, ties_even=False) for kernel in _AWAY),
        _rounding(_EVEN, ties_even=True),
    ),
}
