"""Kernels for lookup."""

from __future__ import annotations

from microgen.ir.graph import DType, Graph, Node
from microgen.kernels import base

OP_NAME = "lookup"


def _refusal(node: Node, graph: Graph) -> str | None:
    if node.inputs[1] not in graph.constants:
        return f"{node.inputs[1]!r} is computed at run time, the kernel needs a constant"
    return base.only(DType.INT8)(node, graph)


def _params(node: Node, graph: Graph) -> base.Fields:
    return (("size", graph.types[node.outputs[0]].size),)


def _table(node: Node, _graph: Graph) -> tuple[base.KernelConstant, ...]:
    return (base.KernelConstant("table", "int8_t", node.inputs[1]),)


KERNELS = (
    base.Kernel(
        symbol="mg_lookup_s8",
        needs=base.REFERENCE,
        refusal=_refusal,
        params=_params,
        constants=_table,
        in_place=base.as_is,
    ),
)
