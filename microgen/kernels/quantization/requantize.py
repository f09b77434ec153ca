"""Kernels for qnn.requantize."""

from __future__ import annotations

from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ops.quantization.rescale import requantize_multiplier
from microgen.kernels import base
from microgen.kernels.moves import moves

OP_NAME = "qnn.requantize"


def _params(node: Node, graph: Graph) -> base.Fields:
    (data,), output = base.types(node, graph)
    multiplier, shift = requantize_multiplier(data, output)
    return (
        ("size", output.size),
        *base.offsets(data, output),
        ("multiplier", multiplier),
        ("shift", shift),
    )


def _any_params(node: Node, graph: Graph) -> base.Fields:
    size, *rest = _params(node, graph)
    (data,), output = base.types(node, graph)
    return (
        size,
        ("input_bytes", data.dtype.nbytes),
        ("output_bytes", output.dtype.nbytes),
        *rest,
    )


def _bytes_params(node: Node, graph: Graph) -> base.Fields:
    size, *rest = _params(node, graph)
    (data,), output = base.types(node, graph)
    return (
        size,
        ("input_is_unsigned", int(data.dtype is DType.UINT8)),
        ("output_is_unsigned", int(output.dtype is DType.UINT8)),
        *rest,
    )


def _flip_params(node: Node, graph: Graph) -> base.Fields:
    return (("size", graph.types[node.outputs[0]].size),)


def _has_uint8(node: Node, graph: Graph) -> bool:
    (data,), output = base.types(node, graph)
    return DType.UINT8 in (data.dtype, output.dtype)


def _signed_only(node: Node, graph: Graph) -> str | None:
    if not _has_uint8(node, graph):
        return None
    return base.Mismatch(
        base.Trait.DTYPE, "the input or the output is uint8, the kernel computes signed integers"
    )


def _unsigned_only(node: Node, graph: Graph) -> str | None:
    if _has_uint8(node, graph):
        return None
    return base.Mismatch(base.Trait.DTYPE, "neither input nor output is uint8")


def _not_flipped(node: Node, graph: Graph) -> str | None:
    """Refusal unless the values before and after differ by 128 and mean the same numbers."""
    (data,), output = base.types(node, graph)
    zeros = {kind.dtype: kind.zero_point for kind in (data, output)}
    if set(zeros) != {DType.INT8, DType.UINT8}:
        return base.Mismatch(
            base.Trait.DTYPE, "the kernel converts uint8 to int8, and int8 to uint8"
        )
    if data.scale != output.scale or zeros[DType.UINT8] - zeros[DType.INT8] != 128:
        return "the scales differ, or the zero points are not 128 apart"
    return None


IMPLEMENTATIONS = (
    base.Implementation(
        symbol="mg_requantize_s8",
        needs=base.REFERENCE,
        refusal=base.only(DType.INT8),
        params=_params,
        in_place=base.as_is,
    ),
    base.Implementation(
        symbol="mg_requantize_int",
        needs=base.REFERENCE,
        refusal=_signed_only,
        params=_any_params,
        in_place=moves.of_equal_size,
    ),
    base.Implementation(
        symbol="mg_flip_sign",
        needs=base.REFERENCE,
        refusal=_not_flipped,
        params=_flip_params,
        in_place=base.as_is,
    ),
    base.Implementation(
        symbol="mg_requantize_u8",
        needs=base.REFERENCE,
        refusal=_unsigned_only,
        params=_bytes_params,
        in_place=base.as_is,
    ),
)
