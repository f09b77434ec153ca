"""Kernels for comparisons and the logic of bool tensors."""

from __future__ import annotations

from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ops.comparisons.comparison import is_scaled, parameters
from microgen.kernels import base
from microgen.kernels.elementwise import broadcast
from microgen.kernels.unary import unary

_DTYPES = (DType.INT8, DType.INT16, DType.INT32, DType.INT64, DType.FLOAT32)
# Their kernels take values with a scale only: plain int8 and int16 numbers have kernels of
# ``broadcast.of_integers``. Kernels of int32 and int64 take both.
_SCALED = (DType.INT8, DType.INT16)


def _scaled_params(node: Node, graph: Graph) -> base.Fields:
    """The fields of ``mg_scaled_comparison_params``."""
    (lhs, rhs), _ = base.types(node, graph)
    fields = list(broadcast.shapes(node, graph))
    for side, operand in (("lhs", lhs), ("rhs", rhs)):
        fields.append((f"{side}_offset", -operand.zero_point))
        fields += base.scale_fields(parameters(operand), side)
    return tuple(fields)


def kernels(op: str, *, is_equality: bool = False) -> tuple[base.Implementation, ...]:
    """``mg_<op>_<dtype>`` for every dtype."""
    suffixes = {dtype: base.suffix(dtype) for dtype in _DTYPES}
    if is_equality:
        suffixes[DType.BOOL] = "bool"  # less and greater are not defined for bool
    return (
        *(
            broadcast.kernel(
                f"mg_{op}_{suffix}",
                dtype,
                _scaled_params if is_scaled(dtype, is_equality=is_equality) else broadcast.shapes,
                is_scaled=True if dtype in _SCALED else None,
            )
            for dtype, suffix in suffixes.items()
        ),
        *broadcast.of_integers(op, "integer_comparison", but=(DType.INT32, DType.INT64)),
    )


BY_OP = {
    "equal": kernels("equal", is_equality=True),
    "not_equal": kernels("not_equal", is_equality=True),
    "less": kernels("less"),
    "less_equal": kernels("less_equal"),
    "greater": kernels("greater"),
    "greater_equal": kernels("greater_equal"),
    "logical_and": (broadcast.kernel("mg_logical_and_bool", DType.BOOL, broadcast.shapes),),
    "logical_or": (broadcast.kernel("mg_logical_or_bool", DType.BOOL, broadcast.shapes),),
    "logical_not": (
        base.Implementation(
            symbol="mg_logical_not_bool",
            refusal=base.only(DType.BOOL),
            params=unary.size,
            in_place=base.as_is,
        ),
    ),
}
