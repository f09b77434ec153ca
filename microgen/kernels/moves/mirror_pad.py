"""Kernels for nn.mirror_pad."""

from __future__ import annotations

from microgen.graph.ir.graph import Graph, Node
from microgen.graph.ops.base import Pair
from microgen.graph.ops.moves.pads import MirrorPadAttrs
from microgen.kernels import base
from microgen.kernels.moves import moves

OP_NAME = "nn.mirror_pad"

_AXES = 6  # of mg_mirror_pad

Axis = tuple[int, Pair]  # elements of the input, (before, after)


def _merged(node: Node, graph: Graph) -> tuple[list[Axis], int]:
    """The fewest axes, with adjacent unpadded ones merged, and the size of a block that is copied
    whole: the product of the axes after the last padded one."""
    attrs = node.attrs
    assert isinstance(attrs, MirrorPadAttrs)
    found: list[Axis] = []
    block = 1  # product of the unpadded axes since the last padded one
    for size, pads in zip(graph.types[node.inputs[0]].shape, attrs.pads, strict=True):
        if any(pads):
            found += [(block, (0, 0)), (size, pads)] if block > 1 else [(size, pads)]
            block = 1
        else:
            block *= size
    return found, block


def _params(node: Node, graph: Graph) -> base.Fields:
    attrs = node.attrs
    assert isinstance(attrs, MirrorPadAttrs)
    axes, block = _merged(node, graph)
    axes = [(1, (0, 0))] * (_AXES - len(axes)) + axes
    return (
        ("input_shape", tuple(size for size, _ in axes)),
        ("before", tuple(before for _, (before, _) in axes)),
        ("output_shape", tuple(size + sum(pads) for size, pads in axes)),
        ("block", block),
        ("edge", int(attrs.repeats_edge)),
        *moves.element_bytes(node, graph),
    )


def _refusal(node: Node, graph: Graph) -> str | None:
    count = len(_merged(node, graph)[0])
    return f"{count} axes, the kernel takes at most {_AXES}" if count > _AXES else None


IMPLEMENTATIONS = (
    base.Implementation(
        symbol="mg_mirror_pad",
        needs=base.REFERENCE,
        refusal=_refusal,
        params=_params,
    ),
)
