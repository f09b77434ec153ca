"""Shared by kernels of int8 or int16 elements, of nodes that are computed in float32: their
parameters, and the assignment of nodes to kernels.

The kernels compute with float, so cores without an FPU call the compiler's functions for it. If a
proof finds an exact form in integers, kernels with this form are cheaper.
"""

from __future__ import annotations

import dataclasses

from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ops.elementwise.addition import AdditionAttrs
from microgen.graph.ops.elementwise.product import MultiplyAttrs
from microgen.kernels import base
from microgen.kernels.elementwise import broadcast


def without(of: base.Implementation) -> base.Implementation:
    """The kernel, which refuses nodes that are computed in float32."""
    return _choosing(of, in_float32=False)


def only(of: base.Implementation) -> base.Implementation:
    """The kernel, which refuses nodes that are not computed in float32."""
    return _choosing(of, in_float32=True)


def _choosing(of: base.Implementation, *, in_float32: bool) -> base.Implementation:
    def refusal(node: Node, graph: Graph) -> str | None:
        why = of.refusal(node, graph)
        if why is None and getattr(node.attrs, "in_float32", False) is not in_float32:
            where = "elsewhere than" if in_float32 else "in"
            return base.Mismatch(base.Trait.ARITHMETIC, f"it is computed {where} float32")
        return why

    return dataclasses.replace(of, refusal=refusal)


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
        only(
            broadcast.kernel(
                f"mg_{op}_in_float_{suffix}",
                dtype,
                _params,
                is_scaled=True,
            )
        )
        for suffix, dtype in (("s8", DType.INT8), ("s16", DType.INT16))
    )
