"""Shared by kernels that move elements: refusals and strided copies."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

from microgen.graph.ir.graph import Graph, Node
from microgen.kernels import base

_AXES = 6  # of mg_strided_copy


def any_tensor(_node: Node, _graph: Graph) -> str | None:
    """None: the kernel refuses nothing."""
    return None


def element_bytes(node: Node, graph: Graph) -> base.Fields:
    """The only field that differs between dtypes."""
    return (("element_bytes", graph.types[node.outputs[0]].dtype.nbytes),)


def of_equal_size(node: Node, graph: Graph) -> base.Lags:
    """The input's buffer may be the output's if elements have the same number of bytes: each is
    read before it is written."""
    (data, *_), output = base.types(node, graph)
    return {0: 0} if data.dtype.nbytes == output.dtype.nbytes else {}


def row_major(shape: Sequence[int]) -> tuple[int, ...]:
    """The row-major strides: for each axis, the number of elements from one index to the next."""
    sizes = itertools.accumulate(reversed(shape[1:]), lambda a, b: a * b, initial=1)
    return tuple(reversed(tuple(sizes)))[: len(shape)]


def merged(shape: Sequence[int], strides: Sequence[int]) -> list[tuple[int, int]]:
    """(size, stride) of the fewest axes that visit the same elements in the same order."""
    found: list[tuple[int, int]] = []
    for size, stride in zip(shape, strides, strict=True):
        # An axis with one index takes no step, so its stride is arbitrary and would only prevent a
        # merge.
        if size == 1:
            continue
        if found and found[-1][1] == size * stride:
            found[-1] = (found[-1][0] * size, stride)
        else:
            found.append((size, stride))
    return found


def copying(strides: Callable[[Node, Graph], Sequence[int]]) -> base.Implementation:
    """The kernel ``mg_strided_copy`` for an op whose output has all elements of its input, which
    are ``strides(node, graph)`` elements apart."""

    def params(node: Node, graph: Graph) -> base.Fields:
        return fields(node, graph, strides(node, graph), 0)

    def refusal(node: Node, graph: Graph) -> str | None:
        return too_many_axes(graph.types[node.outputs[0]].shape, strides(node, graph))

    return base.Implementation(symbol="mg_strided_copy", refusal=refusal, params=params)


def fields(node: Node, graph: Graph, strides: Sequence[int], offset: int) -> base.Fields:
    """The parameters of ``mg_strided_copy`` for an output whose element [i, j, ...] is the input's
    at ``offset + i * strides[0] + j * strides[1] + ...``."""
    axes = merged(graph.types[node.outputs[0]].shape, strides)
    axes = [(1, 0)] * (_AXES - len(axes)) + axes
    return (
        ("shape", tuple(size for size, _ in axes)),
        ("stride", tuple(stride for _, stride in axes)),
        ("offset", offset),
        *element_bytes(node, graph),
    )


def too_many_axes(shape: Sequence[int], strides: Sequence[int]) -> str | None:
    """Refusal unless the kernel has enough axes."""
    count = len(merged(shape, strides))
    if count <= _AXES:
        return None
    return f"its elements lie along {count} axes, the kernel takes at most {_AXES}"
