"""Kernels for lookup."""

from __future__ import annotations

import dataclasses

from microgen.graph.ir.graph import DType, Graph, Node
from microgen.kernels import base
from microgen.kernels.unary import unary

OP_NAME = "lookup"


def _kernel(dtype: DType) -> base.Implementation:
    plain = unary.kernel("lookup", dtype)

    def refusal(node: Node, graph: Graph) -> str | None:
        if node.inputs[1] not in graph.constants:
            return f"{node.inputs[1]!r} is computed at run time, the kernel needs a constant"
        return plain.refusal(node, graph)

    def table(node: Node, _graph: Graph) -> tuple[base.KernelConstant, ...]:
        return (base.KernelConstant("table", f"{dtype.value}_t", node.inputs[1]),)

    return dataclasses.replace(plain, refusal=refusal, constants=table)


IMPLEMENTATIONS = (_kernel(DType.INT8), _kernel(DType.INT16))
