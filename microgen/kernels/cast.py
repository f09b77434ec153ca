"""Kernels for cast."""

from __future__ import annotations

from microgen.ir.graph import DType, Graph, Node, TensorType
from microgen.kernels import base, moves

OP_NAME = "cast"

_BOOL, _FLOAT32 = 0, 32  # MG_CAST_BOOL, MG_CAST_FLOAT32


def _code(tensor: TensorType) -> int:
    """The type as ``mg_cast`` has it: an integer is its number of bytes."""
    return {DType.BOOL: _BOOL, DType.FLOAT32: _FLOAT32}.get(tensor.dtype, tensor.dtype.nbytes)


def _params(node: Node, graph: Graph) -> base.Fields:
    (data,), output = base.types(node, graph)
    return (("size", output.size), ("input_type", _code(data)), ("output_type", _code(output)))


KERNELS = (
    base.Kernel(
        symbol="mg_cast",
        needs=base.REFERENCE,
        refusal=moves.any_tensor,
        params=_params,
        in_place=moves.of_equal_size,
    ),
)
