"""Ops that resize images: nn.upsampling and image.resize2d."""

from __future__ import annotations

import math
from collections.abc import Sequence

from microgen.relay.expr import Attrs, TensorType
from microgen.relay.op import layout
from microgen.relay.op.base import Field, Kind, RelayOp
from microgen.relay.op.relations import fits

_LAYOUT = Field("layout", Kind.STR, "NCHW")

_UPSAMPLING = (
    Field("scale_h", Kind.FLOAT, built=1.0),
    Field("scale_w", Kind.FLOAT, built=1.0),
    _LAYOUT,
    Field("method", Kind.STR, "nearest_neighbor"),
    Field("align_corners", Kind.BOOL, False),
)

_RESIZE = (
    Field("size", Kind.PAIR, None),
    Field("roi", Kind.FLOATS, None, built=(0.0, 0.0, 0.0, 0.0)),
    _LAYOUT,
    Field("method", Kind.STR, "linear"),
    Field("coordinate_transformation_mode", Kind.STR, "half_pixel"),
    Field("rounding_method", Kind.STR, "round", built=""),
    Field("cubic_alpha", Kind.FLOAT, -0.5),
    Field("cubic_exclude", Kind.INT, 0),
    Field("extrapolation_value", Kind.FLOAT, 0.0),
    Field("out_dtype", Kind.DTYPE, ""),
)


def _sized(attrs: Attrs, data: TensorType, size: Sequence[int], dtype: str) -> TensorType:
    layout.positive("the size of the output", size)
    n, c, *_ = layout.to_standard(data.shape, attrs["layout"], "NCHW", "layout")
    return TensorType(layout.from_standard((n, c, *size), attrs["layout"], "NCHW", "layout"), dtype)


def _upsampling(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    fits("method", attrs["method"], ("nearest_neighbor", "bilinear", "bicubic"))
    scales = (attrs["scale_h"], attrs["scale_w"])
    if not all(0 < s < 2**31 for s in scales):
        raise ValueError(f"scale_h and scale_w are {scales}, expected positive numbers")
    image = layout.to_standard(types[0].shape, attrs["layout"], "NCHW", "layout")[2:]
    size = [math.floor(d * s + 0.5) for d, s in zip(image, scales, strict=True)]
    return _sized(attrs, types[0], size, types[0].dtype)


def _resize2d(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    fits("method", attrs["method"], ("nearest_neighbor", "linear", "cubic"))
    if attrs["size"] is None:
        raise ValueError("lacks size")
    return _sized(attrs, types[0], attrs["size"], attrs["out_dtype"] or types[0].dtype)


OPS = (
    RelayOp("nn.upsampling", ("data",), _UPSAMPLING, _upsampling),
    RelayOp("image.resize2d", ("data",), _RESIZE, _resize2d),
)
