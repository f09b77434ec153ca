"""Kernels for cast."""

from __future__ import annotations

from collections.abc import Sequence

from microgen.graph.ir.graph import DType, Graph, Node
from microgen.kernels import base
from microgen.kernels.moves import moves

OP_NAME = "cast"

_WIDE = (DType.UINT16, DType.UINT32, DType.UINT64)


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


def _unsigned_params(node: Node, graph: Graph) -> base.Fields:
    (data,), _ = base.types(node, graph)
    is_unsigned = data.dtype is DType.BOOL or data.dtype.numpy.kind == "u"
    fields = [(f"cast.{name}", value) for name, value in _params(node, graph)]
    return (*fields, ("input_is_unsigned", int(is_unsigned)))


def _has(dtypes: Sequence[DType], node: Node, graph: Graph) -> bool:
    (data,), output = base.types(node, graph)
    return data.dtype in dtypes or output.dtype in dtypes


def _signed_only(node: Node, graph: Graph) -> str | None:
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
        refusal=_bytes_only,
        params=_bytes_params,
        in_place=moves.of_equal_size,
    ),
    base.Implementation(
        symbol="mg_cast_unsigned",
        needs=base.REFERENCE,
        refusal=_wide_only,
        params=_unsigned_params,
        in_place=moves.of_equal_size,
    ),
)
