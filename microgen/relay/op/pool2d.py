"""Pools over height and width, with a window or over the whole image."""

from __future__ import annotations

from collections.abc import Sequence

from microgen.relay.expr import Attrs, TensorType
from microgen.relay.op import layout
from microgen.relay.op.base import Field, Kind, RelayOp

_LAYOUTS = (Field("layout", Kind.STR, "NCHW"), Field("out_layout", Kind.STR, ""))
_MAX = (
    Field("pool_size", Kind.PAIR, built=(1, 1)),
    Field("strides", Kind.PAIR, (1, 1)),
    Field("dilation", Kind.PAIR, (1, 1)),
    Field("padding", Kind.PADS, (0, 0)),
    *_LAYOUTS,
    Field("ceil_mode", Kind.BOOL, False),
)
AVG = (*_MAX, Field("count_include_pad", Kind.BOOL, False))


def _output(attrs: Attrs, data: TensorType, height: int, width: int) -> TensorType:
    n, c, *_ = layout.to_standard(data.shape, attrs["layout"], "NCHW", "layout")
    out_layout = attrs["out_layout"] or attrs["layout"]
    shape = layout.from_standard((n, c, height, width), out_layout, "NCHW", "out_layout")
    return TensorType(shape, data.dtype)


def relation(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    """The type of the pool of types[0]."""
    for name in ("pool_size", "strides", "dilation"):
        layout.positive(name, attrs[name])
    top, left, bottom, right = layout.pads(attrs["padding"])
    image = layout.to_standard(types[0].shape, attrs["layout"], "NCHW", "layout")[2:]
    padded = (top + bottom, left + right)
    height, width = (
        layout.windows(size, (window - 1) * dilation + 1, stride, pad, attrs["ceil_mode"])
        for size, window, dilation, stride, pad in zip(
            image, attrs["pool_size"], attrs["dilation"], attrs["strides"], padded, strict=True
        )
    )
    return _output(attrs, types[0], height, width)


def _global(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    return _output(attrs, types[0], 1, 1)


OPS = (
    RelayOp("nn.max_pool2d", ("data",), _MAX, relation),
    RelayOp("nn.avg_pool2d", ("data",), AVG, relation),
    RelayOp("nn.global_max_pool2d", ("data",), _LAYOUTS, _global),
    RelayOp("nn.global_avg_pool2d", ("data",), _LAYOUTS, _global),
)
