"""Reads attributes and operands that several operators have."""

from __future__ import annotations

from collections.abc import Sequence

from microgen.frontends.onnx.nodes import OnnxNode
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import DType


def axis(node: OnnxNode, rank: int, default: int) -> int:
    """The attribute ``axis`` for a tensor of that rank, counted from the front."""
    return checked_axis(node, int(node.attr("axis", default)), rank)


def declared_sizes(
    node: OnnxNode, position: int, axes: Sequence[int], rank: int
) -> tuple[int, ...] | None:
    """The sizes along some axes that the model declares for the output, if the operand that
    determines them is computed; None if it declares no shape of that rank."""
    shape = node.declared_for(position)
    if shape is None or len(shape) != rank:
        return None
    return tuple(shape[a] for a in axes)


def checked_axis(node: OnnxNode, number: int, rank: int, name: str = "axis") -> int:
    """An axis counted from the front. ModelError if there is no such axis."""
    if not -rank <= number < max(rank, 1):
        raise node.invalid(f"has the {name} {number}, but the tensor has {rank} axes")
    return number % rank if rank else 0


def axes(node: OnnxNode, stated: Sequence[int], rank: int) -> tuple[int, ...]:
    """Axes counted from the front, in their order. ModelError if one is listed twice."""
    counted = tuple(checked_axis(node, int(a), rank, "axes entry") for a in stated)
    if len(set(counted)) != len(counted):
        raise node.invalid(f"has the axes {list(stated)}: one is listed twice")
    return counted


def spatial_rank(node: OnnxNode, data: BuiltTensor) -> int:
    """The number of axes after batch and channels."""
    rank = len(data.shape) - 2
    if rank < 1:
        raise node.invalid(f"has the input {data.type}; [N, C, spatial axes...] is expected")
    return rank


def groups(node: OnnxNode, data: BuiltTensor, weight: BuiltTensor, bias: BuiltTensor | None) -> int:
    """The number of groups. ModelError if it does not divide the channels, or the weight does not
    have the data's axes."""
    for operand in filter(None, (data, weight, bias)):
        node.expect(operand, DType.FLOAT32)
    if len(weight.shape) != len(data.shape):
        raise node.invalid(f"has the weight {weight.type} for the input {data.type}")
    count = int(node.attr("group", 1))
    if count < 1 or data.shape[1] % count:
        raise node.invalid(f"has {count} groups for {data.shape[1]} channels")
    return count
