"""Convolutions and products of matrices."""

from __future__ import annotations

from collections.abc import Sequence

from microgen.relay.expr import Attrs, TensorType
from microgen.relay.op import relations
from microgen.relay.op.base import AttributeKind, Field, RelayOp
from microgen.relay.op.relations import DILATION, OUT_LAYOUT, PADDING, STRIDES

# nn.conv2d: TVM's relation Conv2DRel (src/relay/op/nn/convolution.cc).
#
# As in TVM, a convolution is depthwise if ``groups``, the input channels and the kernel's O are
# equal; then the kernel's I is the channel multiplier.

_GROUPS = Field("groups", AttributeKind.INT, 1)
_SIZES = (
    Field("channels", AttributeKind.INT, None),
    Field("kernel_size", AttributeKind.PAIR, None),
)
_DATA_LAYOUT = Field("data_layout", AttributeKind.STR, "NCHW")
_OUT_DTYPE = Field("out_dtype", AttributeKind.DTYPE, "")

# Conv2DAttrs.
CONV2D_FIELDS = (
    *(STRIDES, PADDING, DILATION, _GROUPS, *_SIZES, _DATA_LAYOUT),
    *(Field("kernel_layout", AttributeKind.STR, "OIHW"), OUT_LAYOUT, _OUT_DTYPE),
)


def same(name: str, value: object, expected: object) -> None:
    """Raise ValueError unless both are equal."""
    if value != expected:
        raise ValueError(f"{name} is {value}, expected {expected}")


def output_channels(attrs: Attrs, channels: int, kernel: Sequence[int]) -> int:
    """The output channels of a convolution of ``channels`` with a kernel of shape (O, I, H, W).

    Raises ValueError if these do not fit together."""
    groups = attrs["groups"]
    relations.positive("groups", [groups])
    out, inner = kernel[:2]
    if groups > 1 and groups == channels == out:
        count = out * inner
    else:
        if channels % groups or out % groups:
            raise ValueError(f"groups is {groups}, which does not divide {channels} and {out}")
        same("weight's number of input channels", inner, channels // groups)
        count = out
    # None or 0 stands for the weight's number.
    same("channels", attrs["channels"] or count, count)
    return count


def conv2d_relation(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    """The type of the convolution of types[0] with types[1]."""
    data, weight = types[0], types[1]
    n, c, *sizes = relations.to_standard(data.shape, attrs, "data_layout")
    kernel = relations.to_standard(weight.shape, attrs, "kernel_layout", "OIHW")
    channels = output_channels(attrs, c, kernel)
    spans = relations.spans(attrs, kernel[2:])
    same("kernel_size", attrs["kernel_size"] or kernel[2:], kernel[2:])
    relations.positive("weight's height and width", kernel[2:])
    height, width = (relations.windows(d, *span) for d, span in zip(sizes, spans, strict=True))
    dtype = attrs["out_dtype"] or data.dtype
    return relations.image((n, channels, height, width), attrs, "data_layout", dtype)


# Conv2DTransposeAttrs.
CONV2D_TRANSPOSE_FIELDS = (
    *(*_SIZES, STRIDES, Field("output_padding", AttributeKind.PAIR, (0, 0))),
    *(PADDING, DILATION, _GROUPS, _DATA_LAYOUT),
    *(Field("kernel_layout", AttributeKind.STR, "IOHW"), OUT_LAYOUT, _OUT_DTYPE),
)
PYTHON_ORDER = (
    *("strides", "padding", "dilation", "groups", "channels", "kernel_size", "data_layout"),
    *("kernel_layout", "out_layout", "output_padding", "out_dtype"),
)


def _lengths(attrs: Attrs, sizes: Sequence[int], kernel: Sequence[int]) -> list[int]:
    """The height and width of the output of a transposed convolution."""
    lengths = [
        stride * (size - 1) + window - padded + extra
        for size, extra, (window, stride, padded) in zip(
            sizes, attrs["output_padding"], relations.spans(attrs, kernel), strict=True
        )
    ]
    for length in lengths:
        if length < 1:
            raise ValueError(f"the output would have an axis of {length}")
    return lengths


# Conv2DTransposeRel (src/relay/op/nn/convolution.cc).
def conv2d_transpose_relation(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    """The type of the transposed convolution of types[0] with types[1]."""
    data, weight = types[0], types[1]
    n, c, *size = relations.to_standard(data.shape, attrs, "data_layout")
    i, o, *kernel = relations.to_standard(weight.shape, attrs, "kernel_layout", "IOHW")
    relations.positive("groups", [attrs["groups"]])
    same("weight's number of input channels", i, c)
    same("kernel_size", attrs["kernel_size"] or tuple(kernel), tuple(kernel))
    channels = o * attrs["groups"]
    same("channels", attrs["channels"] or channels, channels)
    out = (n, channels, *_lengths(attrs, size, kernel))
    return relations.image(out, attrs, "data_layout", attrs["out_dtype"] or data.dtype)


_ARGS = ("data", "weight")


# DenseAttrs. ``units`` may be None, but is always printed, as in TVM.
DENSE_FIELDS = (Field("units", AttributeKind.INT, built=None, nullable=True), _OUT_DTYPE)


# MatmulRelation (src/relay/op/nn/nn.h).
def dense_relation(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    """The type of data @ weight.T for a weight of shape (units, inputs)."""
    data, weight = types[0], types[1]
    if not data.shape:
        raise ValueError("data is a scalar, expected at least one axis")
    units = attrs["units"] if attrs["units"] is not None else (weight.shape or (0,))[0]
    if weight.shape != (units, data.shape[-1]):
        raise ValueError(
            f"weight has shape {list(weight.shape)}, expected {[units, data.shape[-1]]}"
        )
    return TensorType((*data.shape[:-1], units), attrs["out_dtype"] or data.dtype)


def _swapped(shape: tuple[int, ...], swap: bool) -> tuple[int, ...]:
    return (*shape[:-2], shape[-1], shape[-2]) if swap else shape


def batch_matmul(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    """The type of types[0] @ types[1] for each batch, transposed according to the attributes."""
    for name, type_ in zip(("tensor_a", "tensor_b"), types, strict=True):
        if len(type_.shape) != 3:
            raise ValueError(f"{name} is {type_}, expected three axes")
    # [batch, rows, depth] by [batch, depth, columns], with batches that broadcast.
    a = _swapped(types[0].shape, attrs["transpose_a"])
    b = _swapped(types[1].shape, attrs["transpose_b"])
    if a[2] != b[1] or (1 not in (a[0], b[0]) and a[0] != b[0]):
        raise ValueError(f"cannot multiply {list(a)} by {list(b)} (after transposition)")
    return TensorType(
        (a[0] if b[0] == 1 else b[0], a[1], b[2]), attrs["out_dtype"] or types[0].dtype
    )


# BatchMatmulAttrs.
BATCH_MATMUL = (
    _OUT_DTYPE,
    Field("transpose_a", AttributeKind.BOOL, False),
    Field("transpose_b", AttributeKind.BOOL, False, built=True),
)


OPS = (
    RelayOp("nn.conv2d", ("data", "weight"), CONV2D_FIELDS, conv2d_relation),
    RelayOp(
        "nn.conv2d_transpose",
        _ARGS,
        CONV2D_TRANSPOSE_FIELDS,
        conv2d_transpose_relation,
        positional=(*_ARGS, *PYTHON_ORDER),
    ),
    RelayOp("nn.dense", ("data", "weight"), DENSE_FIELDS, dense_relation),
    RelayOp("nn.batch_matmul", ("tensor_a", "tensor_b"), BATCH_MATMUL, batch_matmul),
)
