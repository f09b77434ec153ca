"""nn.pad and nn.mirror_pad: values around a tensor."""

from __future__ import annotations

from collections.abc import Sequence

from microgen.relay.expr import Attrs, TensorType
from microgen.relay.op.base import Field, Kind, RelayOp
from microgen.relay.op.relations import fits


def _padded(attrs: Attrs, data: TensorType) -> TensorType:
    widths = attrs["pad_width"]
    if len(widths) != len(data.shape):
        raise ValueError(f"pad_width has {len(widths)} pairs, but data is {data}")
    if any(min(pair) < 0 for pair in widths):
        raise ValueError("pad_width has a negative number")
    shape = (d + before + after for d, (before, after) in zip(data.shape, widths, strict=True))
    return TensorType(tuple(shape), data.dtype)


def _pad(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    fits("pad_mode", attrs["pad_mode"], ("constant", "edge", "reflect"))
    if types[1].shape:
        raise ValueError(f"pad_value is {types[1]}, expected a scalar")
    return _padded(attrs, types[0])


def _mirror_pad(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    fits("mode", attrs["mode"], ("SYMMETRIC", "REFLECT"))
    return _padded(attrs, types[0])


_WIDTH = Field("pad_width", Kind.PAIRS)

OPS = (
    RelayOp(
        "nn.pad",
        ("data", "pad_value"),
        (_WIDTH, Field("pad_mode", Kind.STR, "constant")),
        _pad,
        positional=("data", "pad_width", "pad_value", "pad_mode"),
        defaults={"pad_value": 0},
    ),
    RelayOp(
        "nn.mirror_pad",
        ("data",),
        (Field("mode", Kind.STR, "SYMMETRIC"), _WIDTH),
        _mirror_pad,
        positional=("data", "pad_width", "mode"),
    ),
)
