"""nn.conv2d: TVM's relation Conv2DRel (src/relay/op/nn/convolution.cc).

As in TVM, a convolution is depthwise if ``groups``, the input channels and the kernel's O are
equal; then the kernel's I is the channel multiplier.
"""

from __future__ import annotations

from collections.abc import Sequence

from microgen.relay.expr import Attrs, TensorType
from microgen.relay.op import layout
from microgen.relay.op.base import Field, Kind, RelayOp

# Conv2DAttrs.
FIELDS = (
    Field("strides", Kind.PAIR, (1, 1)),
    Field("padding", Kind.PADS, (0, 0)),
    Field("dilation", Kind.PAIR, (1, 1)),
    Field("groups", Kind.INT, 1),
    Field("channels", Kind.INT, None),
    Field("kernel_size", Kind.PAIR, None),
    Field("data_layout", Kind.STR, "NCHW"),
    Field("kernel_layout", Kind.STR, "OIHW"),
    Field("out_layout", Kind.STR, ""),
    Field("out_dtype", Kind.DTYPE, ""),
)


def same(name: str, found: object, expected: object) -> None:
    """Raise ValueError unless both are equal."""
    if found != expected:
        raise ValueError(f"{name} is {found}, expected {expected}")


def output_channels(attrs: Attrs, channels: int, kernel: Sequence[int]) -> int:
    """The output channels of a convolution of ``channels`` with a kernel of shape (O, I, H, W).

    Raises ValueError if these do not fit together."""
    groups = attrs["groups"]
    layout.positive("groups", [groups])
    out, inner = kernel[:2]
    if groups > 1 and groups == channels == out:
        count = out * inner
    else:
        if channels % groups or out % groups:
            raise ValueError(f"groups is {groups}, which does not divide {channels} and {out}")
        same("weight's number of input channels", inner, channels // groups)
        count = out
    same("channels", attrs["channels"] or count, count)
    return count


def spatial(attrs: Attrs, data: Sequence[int], kernel: Sequence[int]) -> tuple[int, int]:
    """The height and width of the output, computed from the data's and the kernel's."""
    layout.positive("strides", attrs["strides"])
    layout.positive("dilation", attrs["dilation"])
    top, left, bottom, right = layout.pads(attrs["padding"])
    if attrs["kernel_size"]:
        same("kernel_size", attrs["kernel_size"], tuple(kernel))
    layout.positive("weight's height and width", kernel)
    (sh, sw), (dh, dw) = attrs["strides"], attrs["dilation"]
    return (
        layout.windows(data[0], (kernel[0] - 1) * dh + 1, sh, top + bottom),
        layout.windows(data[1], (kernel[1] - 1) * dw + 1, sw, left + right),
    )


def relation(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    """The type of the convolution of types[0] with types[1]."""
    data, weight = types[0], types[1]
    n, c, *image = layout.to_standard(data.shape, attrs["data_layout"], "NCHW", "data_layout")
    kernel = layout.to_standard(weight.shape, attrs["kernel_layout"], "OIHW", "kernel_layout")
    out = (n, output_channels(attrs, c, kernel), *spatial(attrs, image, kernel[2:]))
    out_layout = attrs["out_layout"] or attrs["data_layout"]
    shape = layout.from_standard(out, out_layout, "NCHW", "out_layout")
    return TensorType(shape, attrs["out_dtype"] or data.dtype)


OPS = (RelayOp("nn.conv2d", ("data", "weight"), FIELDS, relation),)
