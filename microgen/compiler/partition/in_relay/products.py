"""nn.conv2d, nn.depthwise_conv2d, nn.dense, nn.batch_matmul."""

from __future__ import annotations

from microgen.compiler.partition.in_relay.said import NoFormError, Said, biased, call, reshaped
from microgen.graph.ops.base import Pair
from microgen.graph.ops.geometry import explicit
from microgen.graph.ops.window import spatial
from microgen.relay.expr import Expr

_RANK = 3  # of Relay's nn.batch_matmul


def _conv2d(said: Said) -> Expr:
    data, weight = said.types[:2]
    groups = data.shape[3] // weight.shape[3]
    return _convolution(said, said.operands[1], spatial(weight.shape), groups, "OHWI")


def _depthwise(said: Said) -> Expr:
    """In Relay, O counts the data's channels and I the outputs of each channel. If the data has
    one channel, there is one group, and O counts its outputs."""
    _, height, width, filters = said.types[1].shape
    channels = said.types[0].shape[3]
    shape, layout = (height, width, channels, filters // channels), "HWOI"
    if channels == 1:
        shape, layout = (height, width, 1, filters), "HWIO"
    weight = reshaped(said.operands[1], shape)
    return _convolution(said, weight, (height, width), channels, layout)


def _convolution(said: Said, weight: Expr, kernel: Pair, groups: int, layout: str) -> Expr:
    attrs = said.attrs
    sums = call(
        "nn.conv2d",
        said.operands[0],
        weight,
        strides=attrs.strides,
        padding=explicit(attrs.padding),
        dilation=attrs.dilation,
        groups=groups,
        channels=said.output.shape[3],
        kernel_size=kernel,
        data_layout="NHWC",
        kernel_layout=layout,
    )
    return biased(said, sums, 4)


def _dense(said: Said) -> Expr:
    data, weight = said.types[:2]
    units, features = weight.shape
    rows = (data.size // features, features)
    is_plain = said.attrs.keep_num_dims or data.shape == rows
    value = said.operands[0] if is_plain else reshaped(said.operands[0], rows)
    sums = call("nn.dense", value, said.operands[1], units=units)
    return biased(said, sums, len(said.output.shape))


def _batch_matmul(said: Said) -> Expr:
    ranks = [len(tensor.shape) for tensor in said.types]
    if ranks != [_RANK, _RANK]:
        raise NoFormError(f"its operands have {ranks[0]} and {ranks[1]} axes; in Relay both have 3")
    transposed = {name: getattr(said.attrs, name) for name in ("transpose_a", "transpose_b")}
    return call("nn.batch_matmul", *said.operands, **transposed)


FORMS = {
    "nn.conv2d": _conv2d,
    "nn.depthwise_conv2d": _depthwise,
    "nn.dense": _dense,
    "nn.batch_matmul": _batch_matmul,
}
