"""nn.conv2d_transpose: TVM's Conv2DTransposeRel (src/relay/op/nn/convolution.cc)."""

from __future__ import annotations

from collections.abc import Sequence

from microgen.relay.expr import Attrs, TensorType
from microgen.relay.op import layout
from microgen.relay.op.base import Field, Kind, RelayOp
from microgen.relay.op.conv2d import same

# Conv2DTransposeAttrs.
FIELDS = (
    Field("channels", Kind.INT, None),
    Field("kernel_size", Kind.PAIR, None),
    Field("strides", Kind.PAIR, (1, 1)),
    Field("output_padding", Kind.PAIR, (0, 0)),
    Field("padding", Kind.PADS, (0, 0)),
    Field("dilation", Kind.PAIR, (1, 1)),
    Field("groups", Kind.INT, 1),
    Field("data_layout", Kind.STR, "NCHW"),
    Field("kernel_layout", Kind.STR, "IOHW"),
    Field("out_layout", Kind.STR, ""),
    Field("out_dtype", Kind.DTYPE, ""),
)
PYTHON_ORDER = (
    *("strides", "padding", "dilation", "groups", "channels", "kernel_size", "data_layout"),
    *("kernel_layout", "out_layout", "output_padding", "out_dtype"),
)


def _length(size: int, window: int, stride: int, padded: int, extra: int) -> int:
    length = stride * (size - 1) + window - padded + extra
    if length < 1:
        raise ValueError(f"the output would have an axis of {length}")
    return length


def _spatial(attrs: Attrs, data: Sequence[int], kernel: Sequence[int]) -> tuple[int, int]:
    for name in ("strides", "dilation"):
        layout.positive(name, attrs[name])
    top, left, bottom, right = layout.pads(attrs["padding"])
    (sh, sw), (dh, dw), (eh, ew) = attrs["strides"], attrs["dilation"], attrs["output_padding"]
    return (
        _length(data[0], (kernel[0] - 1) * dh + 1, sh, top + bottom, eh),
        _length(data[1], (kernel[1] - 1) * dw + 1, sw, left + right, ew),
    )


def relation(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    """The type of the transposed convolution of types[0] with types[1]."""
    data, weight = types[0], types[1]
    n, c, *image = layout.to_standard(data.shape, attrs["data_layout"], "NCHW", "data_layout")
    i, o, *kernel = layout.to_standard(
        weight.shape, attrs["kernel_layout"], "IOHW", "kernel_layout"
    )
    layout.positive("groups", [attrs["groups"]])
    same("weight's number of input channels", i, c)
    same("kernel_size", attrs["kernel_size"] or tuple(kernel), tuple(kernel))
    channels = o * attrs["groups"]
    same("channels", attrs["channels"] or channels, channels)
    out = (n, channels, *_spatial(attrs, image, kernel))
    out_layout = attrs["out_layout"] or attrs["data_layout"]
    shape = layout.from_standard(out, out_layout, "NCHW", "out_layout")
    return TensorType(shape, attrs["out_dtype"] or data.dtype)


_ARGS = ("data", "weight")
OPS = (RelayOp("nn.conv2d_transpose", _ARGS, FIELDS, relation, positional=(*_ARGS, *PYTHON_ORDER)),)
