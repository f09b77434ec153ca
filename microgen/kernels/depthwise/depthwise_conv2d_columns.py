"""Kernels for nn.depthwise_conv2d of few rows on cores with the DSP extension, which copy columns
of three values of four channels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from microgen.graph.ir.graph import Array, Graph, Node
from microgen.graph.ops.depthwise.depthwise_conv2d import DepthwiseConv2DAttrs
from microgen.graph.ops.geometry import explicit
from microgen.kernels import base, lags
from microgen.kernels.constant import WeightLayout
from microgen.kernels.depthwise.depthwise_conv2d import LAYER
from microgen.kernels.requantization import transforms, weighted
from microgen.kernels.requantization.recipe import RAW
from microgen.kernels.requantization.weighted import LINEAR, Loop
from microgen.kernels.work import Work, common

OP_NAME = "nn.depthwise_conv2d"
PRECEDENCE = 1
_FOUR = 4  # channels of a block
_SIDE = 3
_PARTS = ("even", "odd", "2_even", "2_odd", "one")
_CORES = tuple(f"mg_columns_{part}" for part in _PARTS)
_COLUMN = 4 * 8  # bytes: MG_COLUMN words
_PART = 24  # MG_COLUMNS_PART
_MOST_CHANNELS = 2**16 - 1  # the assembly adds the half of a register


def _refusal(node: Node, graph: Graph) -> str | None:
    attrs = base.attrs_of(node, DepthwiseConv2DAttrs)
    data, weight = graph.type_of(node.inputs[:2])
    if weight.shape[1:3] != (_SIDE, _SIDE) or attrs.dilation != (1, 1):
        return "the filters are not 3x3 without dilation"
    if attrs.strides[1] > 2:
        return f"the stride along the width is {attrs.strides[1]}, the kernel takes 1 or 2"
    if data.shape[3] != graph.types[node.outputs[0]].shape[3]:
        return "the depth multiplier is not 1"
    if not _FOUR <= data.shape[3] <= _MOST_CHANNELS:
        return f"there are {data.shape[3]} channels, the kernel takes {_FOUR} or more"
    return None


def _stride(node: Node) -> int:
    """The stride along the width."""
    return base.attrs_of(node, DepthwiseConv2DAttrs).strides[1]


def _parts(node: Node, graph: Graph) -> list[int]:
    """The number of outputs in each part of a row. These numbers are about equal."""
    width, most = graph.types[node.outputs[0]].shape[2], _PART // _stride(node)
    size = -(-width // max(1, -(-width // most))) or 1
    whole, last = divmod(width, size)
    return [size] * whole + [last] * (last > 0)


def _columns(node: Node, outputs: int) -> int:
    return (outputs - 1) * _stride(node) + _SIDE


def _scratch(node: Node, graph: Graph) -> int:
    """The columns of a part, and a row of padding if there is some above or below."""
    columns = _COLUMN * _columns(node, max(_parts(node, graph), default=1))
    return columns + _padding(node, graph)


def _padding(node: Node, graph: Graph) -> int:
    """The bytes of a row of padding, if windows reach above or below the input."""
    attrs = base.attrs_of(node, DepthwiseConv2DAttrs)
    _, height, width, depth = graph.types[node.inputs[0]].shape
    above = explicit(attrs.padding)[0]
    last = (graph.types[node.outputs[0]].shape[1] - 1) * attrs.strides[0] - above
    return width * depth if above or last + _SIDE > height else 0


def _in_place(node: Node, graph: Graph) -> base.Lags:
    attrs, output = base.attrs_of(node, DepthwiseConv2DAttrs), graph.types[node.outputs[0]].shape
    _, height, width, depth = graph.types[node.inputs[0]].shape
    above, left, *_ = explicit(attrs.padding)
    ends = np.cumsum(_parts(node, graph))
    lines = np.arange(output[0] * output[1])[:, None]
    row = np.clip(lines % output[1] * attrs.strides[0] - above, 0, height)
    row += lines // output[1] * height
    first = np.clip((ends - _parts(node, graph)) * attrs.strides[1] - left, 0, width)
    # All results of a part of a row may be stored before the last value is read for it.
    read, written = row * width + first, lines * output[2] + ends
    return lags.of_steps(node, graph, written.ravel() * depth, read.ravel() * depth)


def _work(node: Node, graph: Graph) -> Work:
    """Parts of the loops; docs/explanation/costs.md describes them."""
    output = graph.types[node.outputs[0]].shape
    parts, lines = _parts(node, graph), output[0] * output[1]
    blocks = lines * -(-output[3] // _FOUR)
    columns = sum(_columns(node, count) for count in parts)
    filters = blocks * _FOUR
    return {
        **common(node, graph),
        "column_part": lines * len(parts),
        "column_block": blocks * len(parts),
        "column": blocks * columns,
        "column_padding": _padding(node, graph),
        "column_pair": filters * sum(count // 2 for count in parts),
        "column_single": filters * sum(count % 2 for count in parts),
    }


# columns_3x3: the weight int8 [1, 3, 3, channels]. int32 [4 * blocks * 6]: for each block of four
# channels, of which the last one has the last four, for each of its channels, words of two int16.
# There is one for each column, with the taps of rows 0 and 1, and then another one for each column,
# with the tap of row 2 in the low half for the first two channels of a block and in the high half
# for the others, and 0 in the other half.
def _columns_3x3(sources: Sequence[Array], _arguments: transforms.Arguments) -> Array:
    (weight,) = sources
    if weight.shape[:3] != (1, _SIDE, _SIDE) or weight.dtype.name != "int8":
        raise ValueError(f"the weight is {weight.dtype.name}{list(weight.shape)}")
    channels = weight.shape[3]
    # The last block overlaps the one before it, so that every block has four channels.
    first = np.minimum(np.arange(0, channels, _FOUR), channels - _FOUR)
    taps = weight[0].transpose(2, 1, 0)[first[:, None] + np.arange(_FOUR)]
    words = np.zeros((len(first), _FOUR, 2, _SIDE, 2), np.int16)
    words[:, :, 0] = taps[..., :2]
    words[:, :2, 1, :, 0], words[:, 2:, 1, :, 1] = taps[:, :2, :, 2], taps[:, 2:, :, 2]
    return np.ascontiguousarray(words).view("<i4").reshape(-1).astype(np.int32)


_LOOP = weighted.dsp(
    Loop(
        stem="depthwise_conv2d_s8",
        suffix="columns",
        refusal=_refusal,
        scratch=_scratch,
        in_place=_in_place,
        cores=_CORES,
        work=_work,
        sums=RAW,
        layout=WeightLayout("columns_3x3", "int32_t"),
    )
)

TRANSFORMS: Mapping[str, transforms.Function] = {"columns_3x3": _columns_3x3}
IMPLEMENTATIONS = tuple(LAYER.kernels((_LOOP,), (LINEAR,)))
