"""Kernels for elements at positions that a tensor contains."""

from __future__ import annotations

import math
from dataclasses import replace
from math import prod

from microgen.base.errors import short
from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ops.moves.indexed import (
    AxisPositionsAttrs,
    NdPositionsAttrs,
    TakeAttrs,
)
from microgen.graph.ops.moves.scatter import ScatterAttrs
from microgen.kernels import base
from microgen.kernels.moves import strided

_INDEXED_AXES = 8  # of mg_nd_positions_params and mg_gather_nd_params


def _nd_positions_shape(node: Node) -> tuple[int, ...]:
    return base.attrs_of(node, NdPositionsAttrs).shape


def _nd_positions_params(node: Node, graph: Graph) -> base.Fields:
    (indices,), output = base.types(node, graph)
    shape = _nd_positions_shape(node)
    return (
        ("count", output.size),
        ("depth", len(shape)),
        ("shape", (*shape, *(1,) * (_INDEXED_AXES - len(shape)))),
        ("index_bytes", indices.dtype.nbytes),
    )


def _nd_positions_refusal(node: Node, _graph: Graph) -> str | None:
    return _too_deep(len(_nd_positions_shape(node)))


def _too_deep(depth: int) -> str | None:
    """Refusal if more axes have indices than mg_nd_positions and mg_gather_nd take."""
    if depth <= _INDEXED_AXES:
        return None
    return f"{depth} axes have indices, the kernel takes {_INDEXED_AXES}"


_AXIS_POSITIONS_AXES = 6


def _axis_positions_attrs(node: Node) -> AxisPositionsAttrs:
    return base.attrs_of(node, AxisPositionsAttrs)


def _strides(node: Node) -> tuple[int, ...]:
    attrs = _axis_positions_attrs(node)
    steps = strided.row_major(attrs.shape)
    return tuple(0 if k == attrs.axis else step for k, step in enumerate(steps))


def _axis_positions_params(node: Node, graph: Graph) -> base.Fields:
    (indices,), output = base.types(node, graph)
    attrs = _axis_positions_attrs(node)
    axes = strided.merged(output.shape, _strides(node))
    axes = [(1, 0)] * (_AXIS_POSITIONS_AXES - len(axes)) + axes
    return (
        ("shape", tuple(size for size, _ in axes)),
        ("stride", tuple(stride for _, stride in axes)),
        ("axis_size", attrs.shape[attrs.axis]),
        ("axis_stride", strided.row_major(attrs.shape)[attrs.axis]),
        ("index_bytes", indices.dtype.nbytes),
    )


def _axis_positions_refusal(node: Node, graph: Graph) -> str | None:
    count = len(strided.merged(graph.types[node.outputs[0]].shape, _strides(node)))
    if count <= _AXIS_POSITIONS_AXES:
        return None
    return f"its indices lie along {count} axes, the kernel takes at most {_AXIS_POSITIONS_AXES}"


def _take_params(node: Node, graph: Graph) -> base.Fields:
    attrs = base.attrs_of(node, TakeAttrs)
    data, indices = graph.type_of(node.inputs)
    batch_dims, axis = attrs.batch_dims, attrs.axis
    return (
        ("batches", math.prod(data.shape[:batch_dims])),
        ("outer_size", math.prod(data.shape[batch_dims:axis])),
        ("axis_size", data.shape[axis]),
        ("inner_bytes", math.prod(data.shape[axis + 1 :]) * data.dtype.nbytes),
        ("count", math.prod(indices.shape[batch_dims:])),
        *strided.element_bytes(node, graph),
    )


def _reading(dtype: DType) -> base.Refuse:
    def refusal(node: Node, graph: Graph) -> str | None:
        found = graph.types[node.inputs[1]].dtype
        if found is dtype:
            return None
        return f"{short(node.inputs[1])!r} is {found.value}, the kernel reads {dtype.value}"

    return refusal


def _unknown(node: Node, graph: Graph) -> str | None:
    """Refusal unless all indices are int32, and known to be within the axis."""
    name = node.inputs[1]
    if why := _reading(DType.INT32)(node, graph) or base.computed(name, graph):
        return why
    indices, size = (
        graph.constants[name],
        graph.types[node.inputs[0]].shape[base.attrs_of(node, TakeAttrs).axis],
    )
    if indices.size and not (indices.min() >= 0 and indices.max() < size):
        return f"{short(name)!r} has indices outside of 0 to {size - 1}"
    return None


def _gather_nd_params(node: Node, graph: Graph) -> base.Fields:
    data, indices = graph.type_of(node.inputs)
    depth = indices.shape[-1]
    return (
        ("count", prod(indices.shape[:-1])),
        ("depth", depth),
        ("shape", (*data.shape[:depth], *(1,) * (_INDEXED_AXES - depth))),
        ("inner_bytes", prod(data.shape[depth:]) * data.dtype.nbytes),
        *strided.element_bytes(node, graph),
    )


def _gather_nd_refusal(node: Node, graph: Graph) -> str | None:
    return _too_deep(graph.types[node.inputs[1]].shape[-1])


_REDUCTIONS = ("add", "mul", "max", "min")  # scatter.h: MG_SCATTER_*


def _scatter_attrs(node: Node) -> ScatterAttrs:
    return base.attrs_of(node, ScatterAttrs)


def _scatter_params(node: Node, graph: Graph) -> base.Fields:
    attrs = _scatter_attrs(node)
    data, positions, _ = graph.type_of(node.inputs)
    is_combined = attrs.reduction in _REDUCTIONS
    return (
        ("rows", attrs.shape[0]),
        ("row_size", prod(attrs.shape[1:])),
        ("count", positions.size),
        # Data of another shape is one element, which fills the output.
        ("is_filled", int(data.shape != attrs.shape)),
        *strided.element_bytes(node, graph),
        # mg_scatter, which only moves rows, does not read it.
        ("reduction", _REDUCTIONS.index(attrs.reduction) if is_combined else 0),
    )


def _scatter_in_place(node: Node, graph: Graph) -> base.Lags:
    # One element that fills the output has no room for it.
    return {0: 0} if graph.types[node.inputs[0]].shape == _scatter_attrs(node).shape else {}


def _moving(node: Node, _graph: Graph) -> str | None:
    if _scatter_attrs(node).reduction == "none":
        return None
    return base.Mismatch(base.Trait.ARITHMETIC, "its rows are combined, the kernel copies them")


def _combining(dtype: DType) -> base.Refuse:
    def refusal(node: Node, graph: Graph) -> str | None:
        if _scatter_attrs(node).reduction == "none":
            return base.Mismatch(base.Trait.ARITHMETIC, "its rows are copied, not combined")
        return base.only(dtype)(node, graph)

    return refusal


def _scatter_kernel(symbol: str, refusal: base.Refuse) -> base.Implementation:
    return base.Implementation(
        symbol=symbol,
        refusal=refusal,
        params=_scatter_params,
        inputs=(0, 1, 2),
        in_place=_scatter_in_place,
        can_fail=True,
    )


def _positions(symbol: str, refusal: base.Refuse, params: base.Params) -> base.Implementation:
    """The kernel that makes positions of indices, and fails if one is outside."""
    return base.Implementation(symbol, refusal, params, in_place=base.as_is, can_fail=True)


def _taking(symbol: str, refusal: base.Refuse, params: base.Params) -> base.Implementation:
    """The kernel of data and indices, which fails if an index is outside."""
    return base.Implementation(symbol, refusal, params, inputs=(0, 1), can_fail=True)


BY_OP = {
    "nd_positions": (_positions("mg_nd_positions", _nd_positions_refusal, _nd_positions_params),),
    "axis_positions": (
        _positions("mg_axis_positions", _axis_positions_refusal, _axis_positions_params),
    ),
    "take": (
        # Its indices are proven, so it does not check them.
        replace(_taking("mg_take", _unknown, _take_params), can_fail=False),
        _taking("mg_take_computed", _reading(DType.INT32), _take_params),
        _taking("mg_take_computed_wide", _reading(DType.INT64), _take_params),
    ),
    "gather_nd": (_taking("mg_gather_nd", _gather_nd_refusal, _gather_nd_params),),
    "scatter": (
        _scatter_kernel("mg_scatter", _moving),
        _scatter_kernel("mg_scatter_f32", _combining(DType.FLOAT32)),
        _scatter_kernel("mg_scatter_s32", _combining(DType.INT32)),
        _scatter_kernel("mg_scatter_s64", _combining(DType.INT64)),
    ),
}
