"""Shared by kernels that compute int8 or int16 elements in float32: their parameters, and the
assignment of nodes to kernels.

The kernels compute with float, so cores without an FPU call the compiler's functions for it. If a
proof finds an exact form in integers, kernels with this form are cheaper.
"""

from __future__ import annotations

from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ops.elementwise.addition import AdditionAttrs
from microgen.graph.ops.elementwise.product import MultiplyAttrs
from microgen.kernels import base
from microgen.kernels.elementwise import broadcast


def without(of: base.Implementation) -> base.Implementation:
    """The kernel, which refuses nodes that are computed in float32."""
    return base.made_for(of, lambda n, _: "it is computed in float32" if _is_chosen(n) else None)


def only(of: base.Implementation) -> base.Implementation:
    """The kernel, which refuses nodes that are not computed in float32."""
    why = "it is computed elsewhere than float32"
    return base.made_for(of, lambda node, _: None if _is_chosen(node) else why)


def _is_chosen(node: Node) -> bool:
    # Ops without the attribute have no float32 arithmetic to choose.
    return bool(getattr(node.attrs, "in_float32", False))


def _params(node: Node, graph: Graph) -> base.Fields:
    """Fields of ``mg_in_float_params``."""
    assert isinstance(node.attrs, AdditionAttrs | MultiplyAttrs)
    (lhs, rhs), output = base.types(node, graph)
    return (
        *broadcast.shapes(node, graph),
        *broadcast.offsets(node, graph),
        ("lhs_scale", lhs.scale),
        ("rhs_scale", rhs.scale),
        ("output_scale", output.scale),
        *base.activation_fields(node.attrs.activation, output),
    )


def elementwise(op: str) -> tuple[base.Implementation, ...]:
    """``mg_<op>_in_float_s8`` and ``mg_<op>_in_float_s16``."""
    return tuple(
        only(broadcast.kernel(f"mg_{op}_in_float_{suffix}", dtype, _params, is_scaled=True))
        for suffix, dtype in (("s8", DType.INT8), ("s16", DType.INT16))
    )
