"""Shared by kernels with state."""

from __future__ import annotations

from microgen.base.errors import short
from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ops import registry as ops
from microgen.kernels import base


def constants_but_variables(dtype: DType) -> base.Refuse:
    """Refusal unless the data is of that dtype, and every other input that is not a variable is a
    constant."""

    def refusal(node: Node, graph: Graph) -> str | None:
        variables = ops()[node.op].writes(node.attrs, len(node.inputs))
        for position, name in enumerate(node.inputs):
            if position and position not in variables and name not in graph.constants:
                return f"{short(name)!r} is computed at run time, the kernel needs a constant"
        return base.only(dtype)(node, graph)

    return refusal


def scale_fields(name: str, scale: tuple[int, int]) -> base.Fields:
    """A pair (multiplier, shift) as two fields."""
    multiplier, shift = scale
    return ((f"{name}_multiplier", multiplier), (f"{name}_shift", shift))
