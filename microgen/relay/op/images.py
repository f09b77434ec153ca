"""Windows over images, and their sizes."""

from __future__ import annotations

import math
from collections.abc import Sequence

from microgen.relay.expr import Attrs, TensorType
from microgen.relay.op import relations
from microgen.relay.op.base import AttributeKind, Field, RelayOp
from microgen.relay.op.relations import DILATION, OUT_LAYOUT, PADDING, STRIDES, fits

_LAYOUT = Field("layout", AttributeKind.STR, "NCHW")
_LAYOUTS = (_LAYOUT, OUT_LAYOUT)
_MAX = (
    *(Field("pool_size", AttributeKind.PAIR, built=(1, 1)), STRIDES, DILATION, PADDING),
    *(*_LAYOUTS, Field("ceil_mode", AttributeKind.BOOL, False)),
)
AVG = (*_MAX, Field("count_include_pad", AttributeKind.BOOL, False))


# TVM v0.14: Pool2DRel (src/relay/op/nn/pooling.cc).
def relation(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    """The type of types[0] after pooling."""
    relations.positive("pool_size", attrs["pool_size"])
    spans = relations.spans(attrs, attrs["pool_size"])
    n, c, *sizes = relations.to_standard(types[0].shape, attrs, "layout")
    height, width = (
        relations.windows(size, *span, attrs["ceil_mode"])
        for size, span in zip(sizes, spans, strict=True)
    )
    return relations.image((n, c, height, width), attrs, "layout", types[0].dtype)


def _global(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    n, c, *_ = relations.to_standard(types[0].shape, attrs, "layout")
    return relations.image((n, c, 1, 1), attrs, "layout", types[0].dtype)


_UPSAMPLING = (
    Field("scale_h", AttributeKind.FLOAT, built=1.0),
    Field("scale_w", AttributeKind.FLOAT, built=1.0),
    _LAYOUT,
    Field("method", AttributeKind.STR, "nearest_neighbor"),
    Field("align_corners", AttributeKind.BOOL, False),
)

_RESIZE = (
    Field("size", AttributeKind.PAIR, None),
    Field("roi", AttributeKind.FLOATS, None, built=(0.0, 0.0, 0.0, 0.0)),
    _LAYOUT,
    Field("method", AttributeKind.STR, "linear"),
    Field("coordinate_transformation_mode", AttributeKind.STR, "half_pixel"),
    Field("rounding_method", AttributeKind.STR, "round", built=""),
    Field("cubic_alpha", AttributeKind.FLOAT, -0.5),
    Field("cubic_exclude", AttributeKind.INT, 0),
    Field("extrapolation_value", AttributeKind.FLOAT, 0.0),
    Field("out_dtype", AttributeKind.DTYPE, ""),
)


def _sized(attrs: Attrs, data: TensorType, size: Sequence[int], dtype: str) -> TensorType:
    relations.positive("the size of the output", size)
    n, c, *_ = relations.to_standard(data.shape, attrs, "layout")
    return relations.image((n, c, *size), attrs, "layout", dtype)


# UpSamplingRel (src/relay/op/nn/upsampling.cc).
def _upsampling(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    fits("method", attrs["method"], ("nearest_neighbor", "bilinear", "bicubic"))
    scales = (attrs["scale_h"], attrs["scale_w"])
    # The comparison also refuses NaN and infinity, which cannot become integers.
    if not all(0 < s < 2**31 for s in scales):
        raise ValueError(f"scale_h and scale_w are {scales}, expected positive numbers")
    image = relations.to_standard(types[0].shape, attrs, "layout")[2:]
    # As C's round(). Python's round() would choose the even neighbour of a half.
    size = [math.floor(d * s + 0.5) for d, s in zip(image, scales, strict=True)]
    return _sized(attrs, types[0], size, types[0].dtype)


# Resize2DRel (src/relay/op/image/resize.cc).
def _resize2d(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    fits("method", attrs["method"], ("nearest_neighbor", "linear", "cubic"))
    if attrs["size"] is None:
        raise ValueError("lacks size")
    return _sized(attrs, types[0], attrs["size"], attrs["out_dtype"] or types[0].dtype)


OPS = (
    RelayOp("nn.max_pool2d", ("data",), _MAX, relation),
    RelayOp("nn.avg_pool2d", ("data",), AVG, relation),
    RelayOp("nn.global_max_pool2d", ("data",), _LAYOUTS, _global),
    RelayOp("nn.global_avg_pool2d", ("data",), _LAYOUTS, _global),
    RelayOp("nn.upsampling", ("data",), _UPSAMPLING, _upsampling),
    RelayOp("image.resize2d", ("data",), _RESIZE, _resize2d),
)
