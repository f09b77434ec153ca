"""Kernels for nn.batch_matmul."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ops.dense.batch_matmul import MAX_RANK, BatchMatmulAttrs, matrices, scale
from microgen.kernels import base
from microgen.kernels.elementwise import broadcast, in_float32
from microgen.kernels.moves import strided

OP_NAME = "nn.batch_matmul"

_BATCH_AXES = MAX_RANK - 2


def _batches(shape: Sequence[int]) -> tuple[int, ...]:
    """The leading dimensions, right-aligned to the number of dimensions in the kernel."""
    leading = shape[:-2]
    return (*(1 for _ in range(_BATCH_AXES - len(leading))), *leading)


def _steps(prefix: str, shape: Sequence[int], is_transposed: bool) -> base.Fields:
    """Elements between batches (0 if the operand is broadcast), matrix rows and columns."""
    batches = _batches(shape)
    steps = strided.row_major((*batches, *shape[-2:]))
    # Operands are not transposed in memory: their rows and columns are exchanged.
    row, column = steps[:-3:-1] if is_transposed else steps[-2:]
    stride = tuple(0 if n == 1 else s for n, s in zip(batches, steps, strict=False))
    return (
        (f"{prefix}_stride", stride),
        (f"{prefix}_row", row),
        (f"{prefix}_column", column),
    )


def _shape(node: Node, graph: Graph) -> base.Fields:
    attrs = base.attrs_of(node, BatchMatmulAttrs)
    (lhs, rhs), output = base.types(node, graph)
    rows, depth, _, columns = matrices(attrs, lhs, rhs)
    return (
        ("batches", _batches(output.shape)),
        ("rows", rows),
        ("depth", depth),
        ("columns", columns),
        *_steps("lhs", lhs.shape, attrs.transpose_a),
        *_steps("rhs", rhs.shape, attrs.transpose_b),
    )


def _scaling(node: Node, graph: Graph) -> base.Fields:
    (lhs, rhs), output = base.types(node, graph)
    return base.scale_fields(scale(base.attrs_of(node, BatchMatmulAttrs), lhs, rhs, output))


def params(node: Node, graph: Graph) -> base.Fields:
    """The parameters of int8 kernels."""
    return (*_shape(node, graph), *broadcast.offsets(node, graph), *_scaling(node, graph))


def _float_params(node: Node, graph: Graph) -> base.Fields:
    return tuple((f"shape.{name}", value) for name, value in _shape(node, graph))


def _wide_params(node: Node, graph: Graph) -> base.Fields:
    # int16 values have the zero point 0, so the kernel has no fields for offsets.
    return (*_float_params(node, graph), *_scaling(node, graph))


def _int8(symbol: str, requantization: str) -> base.Implementation:
    """A kernel of ``batch_matmul.h``, whose body takes this constant."""
    return base.Implementation(
        symbol=symbol,
        refusal=base.only(DType.INT8),
        params=params,
        inputs=(0, 1),
        family="batch_matmul_s8",
        variant=(requantization,),
        loop="mg_batch_matmul_s8",
    )


def of_int8(refusal: base.Refuse) -> base.Refuse:
    """Refusal of other dtypes, and what ``refusal`` refuses."""
    is_int8 = base.only(DType.INT8)
    return lambda node, graph: is_int8(node, graph) or refusal(node, graph)


_TWICE = _int8("mg_batch_matmul_s8", "MG_ROUND_TWICE")
_NEAREST = _int8("mg_batch_matmul_s8_nearest", "MG_ROUND_NEAREST")
_FLOAT = _int8("mg_batch_matmul_s8_float", "MG_ROUND_FLOAT")


def rounding(of: base.Implementation, *, once: bool) -> base.Implementation:
    """The kernel, which refuses nodes whose sums are rounded another number of times, or computed
    in float32."""

    def refusal(node: Node, _graph: Graph) -> str | None:
        if base.attrs_of(node, BatchMatmulAttrs).rounds_once is once:
            return None
        return f"its sums are rounded {'twice' if once else 'once'}"

    return base.made_for(in_float32.without(of), refusal)


FLOAT = base.float_kernel("mg_batch_matmul_f32", params=_float_params, inputs=(0, 1), ulps=16)

IMPLEMENTATIONS = (
    rounding(_TWICE, once=False),
    rounding(dataclasses.replace(_NEAREST, measured_as=_TWICE), once=True),
    in_float32.only(
        dataclasses.replace(_FLOAT, measured_as=_TWICE, cores=base.FLOAT_CORES),
    ),
    base.Implementation(
        symbol="mg_batch_matmul_s16",
        refusal=base.only(DType.INT16),
        params=_wide_params,
        inputs=(0, 1),
    ),
    FLOAT,
)
