"""Kernels for floor_divide, floor_mod and fmod."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from microgen.graph.ir.graph import DType, Graph, Node
from microgen.kernels import base
from microgen.kernels.elementwise import broadcast


def params(node: Node, graph: Graph) -> base.Fields:
    """The fields of ``mg_floor_division_params``."""
    return (*broadcast.shapes(node, graph), ("divisors", graph.types[node.inputs[1]].size))


def failing(symbol: str, dtype: DType) -> base.Implementation:
    """The kernel ``symbol``, which fails if a divisor is zero."""
    return replace(broadcast.kernel(symbol, dtype, params), can_fail=True)


def of_integers(op: str, but: Collection[DType] = ()) -> tuple[base.Implementation, ...]:
    """The kernels of plain integers of every dtype that is not in ``but``. They fail if a divisor
    is zero."""
    found = broadcast.of_integers(op, "integer_division", but=but, params=params)
    return tuple(replace(kernel, can_fail=True) for kernel in found)


BY_OP = {
    "floor_divide": (
        failing("mg_floor_divide_s32", DType.INT32),
        failing("mg_floor_divide_f32", DType.FLOAT32),
    ),
    "floor_mod": (
        failing("mg_floor_mod_s32", DType.INT32),
        broadcast.kernel("mg_floor_mod_f32", DType.FLOAT32, broadcast.shapes),
        *of_integers("floor_mod", but=(DType.INT32,)),
    ),
    "fmod": (
        broadcast.kernel("mg_fmod_f32", DType.FLOAT32, broadcast.shapes),
        *of_integers("fmod"),
    ),
}
