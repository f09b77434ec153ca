"""Kernels for divide, floor_divide, floor_mod and fmod."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ops.division.divide import DivideAttrs, divides_by_zero, parameters
from microgen.kernels import base
from microgen.kernels.elementwise import broadcast


def params(node: Node, graph: Graph) -> base.Fields:
    """The fields of ``mg_floor_division_params``."""
    # Kernels look for zeros in all divisors before they write, so that a failure leaves the output
    # unchanged. So they need their number, not only the output's shape.
    return (*broadcast.shapes(node, graph), ("divisors", graph.types[node.inputs[1]].size))


def failing(symbol: str, dtype: DType) -> base.Implementation:
    """The kernel ``symbol``, which fails if a divisor is zero."""
    return replace(broadcast.kernel(symbol, dtype, params), can_fail=True)


def of_integers(op: str, but: Collection[DType] = ()) -> tuple[base.Implementation, ...]:
    """The kernels of plain integers of every dtype that is not in ``but``. They fail if a divisor
    is zero."""
    found = broadcast.of_integers(op, but=but, params=params)
    return tuple(replace(kernel, can_fail=True) for kernel in found)


def _scaled_params(node: Node, graph: Graph) -> base.Fields:
    (lhs, rhs), output = base.types(node, graph)
    return (
        *broadcast.shapes(node, graph),
        *broadcast.offsets(node, graph),
        *base.scale_fields(parameters(lhs, rhs, output)),
        *base.activation_fields(base.attrs_of(node, DivideAttrs).activation, output),
        ("divisors", rhs.size),
    )


def _int32_params(node: Node, graph: Graph) -> base.Fields:
    fields = broadcast.plain_params(node, graph)
    return (*fields, ("divisors", graph.types[node.inputs[1]].size))


def _of_integers(kernel: base.Implementation) -> base.Implementation:
    """The kernel. It fails if a divisor is zero, and refuses constant divisors with zeros."""

    def refusal(node: Node, graph: Graph) -> str | None:
        divisor = node.inputs[1]
        value = graph.constants.get(divisor)
        if value is not None and divides_by_zero(value, graph.types[divisor]):
            return f"{divisor!r} is a constant with zeros, by which nothing can be divided"
        return kernel.refusal(node, graph)

    return replace(kernel, refusal=refusal, can_fail=True)


def _scaled(symbol: str, dtype: DType) -> base.Implementation:
    return _of_integers(broadcast.kernel(symbol, dtype, _scaled_params, is_scaled=True))


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
    "divide": (
        _scaled("mg_divide_s8", DType.INT8),
        _scaled("mg_divide_s16", DType.INT16),
        _of_integers(broadcast.kernel("mg_divide_s32", DType.INT32, _int32_params)),
        broadcast.kernel("mg_divide_f32", DType.FLOAT32, broadcast.plain_params),
        *(
            _of_integers(kernel)
            for kernel in broadcast.of_integers("divide", but=(DType.INT32,), params=params)
        ),
    ),
}
