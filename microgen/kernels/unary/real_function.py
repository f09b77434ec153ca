"""Kernels for real_function: one for each function."""

from __future__ import annotations

from dataclasses import replace

from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ops.unary.real_function import FORMULAS, RealFunctionAttrs
from microgen.kernels import base
from microgen.kernels.unary import unary

OP_NAME = "real_function"


def _numbers(node: Node, graph: Graph) -> base.Fields:
    assert isinstance(node.attrs, RealFunctionAttrs)
    names = ("alpha", "beta", "gamma")
    numbers = zip(names, map(float, node.attrs.numbers), strict=True)
    return (*unary.size(node, graph), *numbers)


def _kernel(function: str) -> base.Implementation:
    formula = FORMULAS[function]
    kernel = unary.kernel(function, DType.FLOAT32, _numbers, ulps=formula.ulps + formula.units)

    def refusal(node: Node, _graph: Graph) -> str | None:
        assert isinstance(node.attrs, RealFunctionAttrs)
        if node.attrs.function == function:
            return None
        why = f"it is {node.attrs.function}, the kernel computes {function}"
        return base.Mismatch(base.Trait.ARITHMETIC, why)

    variant = (f"MG_FUNCTION_{function.upper()}",)
    return replace(kernel, refusal=refusal, family=OP_NAME, variant=variant)


IMPLEMENTATIONS = tuple(_kernel(function) for function in FORMULAS)
