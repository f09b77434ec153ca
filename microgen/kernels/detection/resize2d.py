"""Kernels for image.resize2d."""

from __future__ import annotations

from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ops.detection.resize2d import Resize2DAttrs, axes, float_axes
from microgen.kernels import base

OP_NAME = "image.resize2d"


def _sizes(node: Node, graph: Graph) -> base.Fields:
    (data,), output = base.types(node, graph)
    return (
        ("batches", data.shape[0]),
        ("input_height", data.shape[1]),
        ("input_width", data.shape[2]),
        ("channels", data.shape[3]),
        ("output_height", output.shape[1]),
        ("output_width", output.shape[2]),
    )


def _params(node: Node, graph: Graph) -> base.Fields:
    assert isinstance(node.attrs, Resize2DAttrs)
    height, width = axes(node.attrs, graph.types[node.inputs[0]])
    return (
        *_sizes(node, graph),
        ("step_y", height.step),
        ("start_y", height.start),
        ("step_x", width.step),
        ("start_x", width.start),
    )


def _float_params(node: Node, graph: Graph) -> base.Fields:
    assert isinstance(node.attrs, Resize2DAttrs)
    height, width = float_axes(node.attrs, graph.types[node.inputs[0]])
    return (
        *_sizes(node, graph),
        ("step_y", height.step),
        ("step_x", width.step),
        ("offset", height.offset),
    )


def _as_integers(node: Node, graph: Graph) -> str | None:
    assert isinstance(node.attrs, Resize2DAttrs)
    if node.attrs.in_floats:
        return base.Mismatch(base.Trait.ARITHMETIC, "its stored values are interpolated in float32")
    return base.only(DType.INT8)(node, graph)


def _in_floats(node: Node, _graph: Graph) -> str | None:
    assert isinstance(node.attrs, Resize2DAttrs)
    if node.attrs.in_floats:
        return None
    return base.Mismatch(base.Trait.ARITHMETIC, "its stored values are not interpolated in float32")


IMPLEMENTATIONS = (
    base.Implementation(
        symbol="mg_resize_bilinear_s8",
        needs=base.REFERENCE,
        refusal=_as_integers,
        params=_params,
    ),
    base.Implementation(
        symbol="mg_resize_bilinear_s8_f32",
        needs=base.REFERENCE,
        refusal=_in_floats,
        params=_float_params,
    ),
    base.Implementation(
        symbol="mg_resize_bilinear_s16",
        needs=base.REFERENCE,
        refusal=base.only(DType.INT16),
        params=_params,
    ),
    base.Implementation(
        symbol="mg_resize_bilinear_f32",
        needs=base.REFERENCE,
        refusal=base.only(DType.FLOAT32),
        params=_float_params,
        ulps=3,  # along each axis, the roundings of 1 - weight, of two products and of a sum
    ),
)
