"""Kernels for bitwise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from microgen.ir.graph import DType, Graph, Node
from microgen.kernels import base, broadcast
from microgen.ops.bitwise import SHIFTS, BitFunction, BitwiseAttrs

OP_NAME = "bitwise"

_SIGNED = (DType.INT8, DType.INT16, DType.INT32, DType.INT64)


def _kernels(function: BitFunction) -> Iterator[base.Implementation]:
    but = _SIGNED if function in SHIFTS else ()
    for kernel in broadcast.of_integers(function.value, OP_NAME, but=but):
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
