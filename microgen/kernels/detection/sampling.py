"""Kernels for values between the pixels of an image."""

from __future__ import annotations

from math import prod

from microgen.base.errors import short
from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ops.detection.resize2d import Resize2DAttrs, axes, float_axes
from microgen.graph.ops.detection.roi_align import RoiAlignAttrs
from microgen.graph.ops.detection.sampling import MODES, PADDINGS, GridSampleAttrs, ResampleAttrs
from microgen.kernels import base


def _axis(node: Node) -> int:
    return base.attrs_of(node, ResampleAttrs).axis


def _resample_params(node: Node, graph: Graph) -> base.Fields:
    (data, _, weights), _ = base.types(node, graph)
    return (
        *base.axis_fields(data.shape, _axis(node)),
        ("places", weights.shape[0]),
        ("terms", weights.shape[1]),
    )


def _resample_refusal(node: Node, graph: Graph) -> str | None:
    """Refusal unless all values are known to be inside the axis."""
    data, first, weights = node.inputs
    if why := base.computed(first, graph):
        return why
    last = graph.types[data].shape[_axis(node)] - graph.types[weights].shape[1]
    found = graph.constants[first]
    if not 0 <= found.min() <= found.max() <= last:
        return f"{short(first)!r} has values outside of 0 to {last}"
    return base.only(DType.FLOAT32)(node, graph)


def _resize2d_params(node: Node, graph: Graph) -> base.Fields:
    height, width = axes(base.attrs_of(node, Resize2DAttrs), graph.types[node.inputs[0]])
    return (
        *base.image_fields(node, graph),
        ("step_y", height.step),
        ("start_y", height.start),
        ("step_x", width.step),
        ("start_x", width.start),
    )


def _float_params(node: Node, graph: Graph) -> base.Fields:
    height, width = float_axes(base.attrs_of(node, Resize2DAttrs), graph.types[node.inputs[0]])
    return (
        *base.image_fields(node, graph),
        ("step_y", height.step),
        ("step_x", width.step),
        ("offset", height.offset),
    )


def _as_integers(node: Node, graph: Graph) -> str | None:
    if base.attrs_of(node, Resize2DAttrs).in_floats:
        return base.Mismatch(base.Trait.ARITHMETIC, "its stored values are interpolated in float32")
    return base.only(DType.INT8)(node, graph)


def _in_floats(node: Node, _graph: Graph) -> str | None:
    if base.attrs_of(node, Resize2DAttrs).in_floats:
        return None
    return base.Mismatch(base.Trait.ARITHMETIC, "its stored values are not interpolated in float32")


_AXES = 3  # of mg_grid_sample_f32_params, without batches and channels
_FUSED_ULPS = 4  # products and sums may be fused


def _grid_sample_params(node: Node, graph: Graph) -> base.Fields:
    attrs = base.attrs_of(node, GridSampleAttrs)
    (data, grid), _ = base.types(node, graph)
    sizes = data.shape[1:-1]
    return (
        ("batches", data.shape[0]),
        ("axes", len(sizes)),
        ("shape", (*(1,) * (_AXES - len(sizes)), *sizes)),
        ("channels", data.shape[-1]),
        ("points", prod(grid.shape[1:-1])),
        ("mode", MODES.index(attrs.mode)),
        ("padding", PADDINGS.index(attrs.padding)),
        ("aligns_corners", int(attrs.aligns_corners)),
    )


def _roi_align_params(node: Node, graph: Graph) -> base.Fields:
    attrs = base.attrs_of(node, RoiAlignAttrs)
    (images, regions, _), _ = base.types(node, graph)
    return (
        ("images", images.shape[0]),
        ("height", images.shape[1]),
        ("width", images.shape[2]),
        ("channels", images.shape[3]),
        ("regions", regions.shape[0]),
        ("rows", attrs.size[0]),
        ("columns", attrs.size[1]),
        ("samples", attrs.samples),
        ("is_max", int(attrs.is_max)),
        ("is_half", int(attrs.is_half)),
        ("scale", attrs.scale),
    )


BY_OP = {
    "resample": (
        base.Implementation(
            symbol="mg_resample_f32",
            refusal=_resample_refusal,
            params=_resample_params,
            inputs=(0, 1, 2),
            ulps=2,  # products and sums may be fused
        ),
    ),
    "image.resize2d": (
        base.Implementation(
            symbol="mg_resize_bilinear_s8",
            refusal=_as_integers,
            params=_resize2d_params,
        ),
        base.Implementation(
            symbol="mg_resize_bilinear_s8_f32",
            refusal=_in_floats,
            params=_float_params,
        ),
        base.Implementation(
            symbol="mg_resize_bilinear_s16",
            refusal=base.only(DType.INT16),
            params=_resize2d_params,
        ),
        base.float_kernel(
            "mg_resize_bilinear_f32",
            params=_float_params,
            ulps=3,  # along each axis, the roundings of 1 - weight, of two products and of a sum
        ),
    ),
    "grid_sample": (
        base.float_kernel(
            "mg_grid_sample_f32",
            params=_grid_sample_params,
            inputs=(0, 1),
            ulps=_FUSED_ULPS,
        ),
    ),
    "roi_align": (
        base.float_kernel(
            "mg_roi_align_f32",
            params=_roi_align_params,
            inputs=(0, 1, 2),
            can_fail=True,  # a region may state an image that does not exist
            ulps=_FUSED_ULPS,
        ),
    ),
}
