"""What the kernels of mean, sum, max and min have in common."""

from __future__ import annotations

from itertools import groupby
from math import prod

from microgen.ir.graph import DType, Graph, Node
from microgen.kernels import base
from microgen.ops.reduction import ReductionAttrs, SumParameters, count

_SIZES = 6  # (kept, reduced) three times: any axes of up to five dimensions, most of eight


def refusal(node: Node, graph: Graph) -> str | None:
    """Refusal unless int8, with axes that three reduced groups hold."""
    shape = _alternating(node, graph)
    if len(shape) > _SIZES:
        return f"the axes reduced make {len(shape) // 2} groups, the kernel takes 3"
    return base.only(DType.INT8)(node, graph)


def shape_field(node: Node, graph: Graph) -> base.Fields:
    """``shape`` as ``crt/include/microgen/reduction.h`` has it."""
    shape = _alternating(node, graph)
    return (("shape", (*(1 for _ in range(_SIZES - len(shape))), *shape)),)


def _alternating(node: Node, graph: Graph) -> tuple[int, ...]:
    """Sizes of neighbouring axes of one kind multiplied: kept, reduced, kept, reduced, ..."""
    attrs = node.attrs
    assert isinstance(attrs, ReductionAttrs)
    (data,), _ = base.types(node, graph)
    axes = [(axis in attrs.axes, n) for axis, n in enumerate(data.shape) if n != 1]
    groups = [(k, prod(n for _, n in group)) for k, group in groupby(axes, lambda a: a[0])]
    first = () if groups and not groups[0][0] else (1,)
    last = () if groups and groups[-1][0] else (1,)
    return (*first, *(size for _, size in groups), *last)


def sum_fields(
    node: Node, graph: Graph, scale: SumParameters, *, is_unsigned: bool = False
) -> base.Fields:
    """The fields of ``mg_reduce_sum_s8``."""
    attrs = node.attrs
    assert isinstance(attrs, ReductionAttrs)
    (data,), output = base.types(node, graph)
    return (
        *shape_field(node, graph),
        ("bias", -data.zero_point * count(attrs, data)),
        ("multiplier", scale.multiplier),
        ("shift", scale.shift),
        ("output_offset", output.zero_point),
        ("is_unsigned", int(is_unsigned)),
    )


def extreme_kernel(*, is_minimum: bool) -> base.Kernel:
    """``mg_reduce_max_s8``, for one of the two directions."""

    def params(node: Node, graph: Graph) -> base.Fields:
        return (*shape_field(node, graph), ("is_minimum", int(is_minimum)))

    return base.Kernel("mg_reduce_max_s8", base.REFERENCE, refusal, params)
