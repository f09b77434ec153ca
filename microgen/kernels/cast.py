"""Kernels for cast."""

from __future__ import annotations

from microgen.ir.graph import DType, Graph, Node
from microgen.kernels import base, moves

OP_NAME = "cast"


def _params(node: Node, graph: Graph) -> base.Fields:
    (data,), output = base.types(node, graph)
    return (
        ("size", output.size),
        ("input_bytes", data.dtype.nbytes),
        ("input_is_float", int(data.dtype is DType.FLOAT32)),
        ("output_bytes", output.dtype.nbytes),
        ("output_is_float", int(output.dtype is DType.FLOAT32)),
        ("output_is_bool", int(output.dtype is DType.BOOL)),
    )


def _bytes_params(node: Node, graph: Graph) -> base.Fields:
    (data,), _ = base.types(node, graph)
    return (
        *((f"cast.{name}", value) for name, value in _params(node, graph)),
        ("input_is_unsigned", int(data.dtype is DType.UINT8)),
    )


def _has_uint8(node: Node, graph: Graph) -> bool:
    (data,), output = base.types(node, graph)
    return DType.UINT8 in (data.dtype, output.dtype)


def _signed_only(node: Node, graph: Graph) -> str | None:
    return "the input or the output is uint8" if _has_uint8(node, graph) else None


def _unsigned_only(node: Node, graph: Graph) -> str | None:
    return None if _has_uint8(node, graph) else "neither input nor output is uint8"


IMPLEMENTATIONS = (
    base.Implementation(
        symbol="mg_cast",
        needs=base.REFERENCE,
        refusal=_signed_only,
        params=_params,
        in_place=moves.of_equal_size,
    ),
    base.Implementation(
        symbol="mg_cast_u8",
        needs=base.REFERENCE,
        refusal=_unsigned_only,
        params=_bytes_params,
        in_place=moves.of_equal_size,
    ),
)
