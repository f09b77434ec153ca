"""Kernels for bitwise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from microgen.graph.ir.graph import Graph, Node
from microgen.graph.ops.elementwise.bitwise import BitFunction, BitwiseAttrs
from microgen.kernels import base
from microgen.kernels.elementwise import broadcast

OP_NAME = "bitwise"


def _kernels(function: BitFunction) -> Iterator[base.Implementation]:
    for kernel in broadcast.of_integers(function.value, OP_NAME):
        yield replace(kernel, refusal=_only(function, kernel.refusal))


def _only(function: BitFunction, refusal: base.Refuse) -> base.Refuse:
    def refuses(node: Node, graph: Graph) -> str | None:
        assert isinstance(node.attrs, BitwiseAttrs)
        if node.attrs.function is not function:
            why = f"it is {node.attrs.function.value}, the kernel computes {function.value}"
            return base.Mismatch(base.Trait.ARITHMETIC, why)
        return refusal(node, graph)

    return refuses


IMPLEMENTATIONS = tuple(kernel for function in BitFunction for kernel in _kernels(function))
