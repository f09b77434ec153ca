"""Kernels for nn.conv2d by Winograd's F(2x2, 3x3), for the Arm DSP extension.

``crt/include/microgen/convolution/s8/conv2d_winograd_s8.h`` describes the transforms. Their source
is an int8 weight [output channels, 3, 3, input channels]; they have no arguments.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping, Sequence

import numpy as np

from microgen.graph.ir.graph import Array, Graph, Node
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs
from microgen.graph.ops.geometry import explicit
from microgen.kernels import base, blocks, lags
from microgen.kernels.constant import WeightLayout
from microgen.kernels.convolution import conv2d
from microgen.kernels.requantization import transforms, weighted
from microgen.kernels.requantization.recipe import RAW
from microgen.kernels.work import Work, common

OP_NAME = "nn.conv2d"
PRECEDENCE = 6

_GROUP = 4  # input channels
_CORES = tuple(f"mg_winograd_{part}" for part in ("columns", "rows", "products"))
_STEPS = 4  # mg_winograd_steps rounds up to a multiple of this
_WIDTH = 8  # outputs in a row of four tiles, whose input is an area
_ROWS = 2  # of an area
_MOST_CHANNELS = 404  # MG_WINOGRAD_CHANNELS
# Transformed weights take 32 bytes for 9, and transforming them costs less the more outputs there
# are. So kernels that transform weights when they run compute layers with large ones.
_MOST_BYTES = 32 * 1024
# Twice Winograd's filter transform, which has halves. So all numbers are integers, and results are
# four times as large.
_G = np.array([[2, 0, 0], [1, 1, 1], [1, -1, 1], [0, 0, 2]])


def _refusal(node: Node, graph: Graph) -> str | None:
    """Refusal unless the filters are 3x3, of one group, with stride 1 and without dilation, and no
    sum is too large."""
    attrs = base.attrs_of(node, Conv2DAttrs)
    weight = graph.types[node.inputs[1]]
    if base.spatial(weight) != (3, 3):
        return "the kernel must be 3x3"
    if attrs.strides != (1, 1) or attrs.dilation != (1, 1):
        return "strides and dilations must be 1"
    depth = weight.shape[3]
    if not _GROUP <= depth <= _MOST_CHANNELS:
        return f"there are {depth} input channels, the kernel takes {_GROUP} to {_MOST_CHANNELS}"
    return blocks.rows(node, graph)


def _refusal_transformed(node: Node, graph: Graph) -> str | None:
    """As ``_refusal``; also refusal of weights whose transforms are too large."""
    return _refusal(node, graph) or _grown(graph.types[node.inputs[1]].shape)


def _grown(shape: tuple[int, ...]) -> str | None:
    # int32 [pairs, steps, 16, 2]
    nbytes = -(-shape[0] // 2) * 2 * 16 * 4 * _steps(shape[3])
    if nbytes <= _MOST_BYTES:
        return None
    return f"transformed weights would take {nbytes} bytes, the kernel takes {_MOST_BYTES}"


def _scratch(node: Node, graph: Graph, *, areas: int, transforms_weights: bool) -> int:
    """Sums, weights, four tiles of all channels for each area, and zero points, in bytes."""
    depth = graph.types[node.inputs[0]].shape[3]
    steps = _steps(depth)
    return 512 + (128 * steps if transforms_weights else 0) + 256 * steps * areas + 10 * depth


def _in_place(node: Node, graph: Graph, *, areas: int) -> base.Lags:
    attrs = base.attrs_of(node, Conv2DAttrs)
    data, output = graph.types[node.inputs[0]], graph.types[node.outputs[0]]
    batches, height, width, channels = output.shape
    top, left, *_ = explicit(attrs.padding)
    n, y, x = (
        place.ravel()
        for place in np.mgrid[0:batches, 0:height:_ROWS, 0:width:_WIDTH].astype(np.int64)
    )
    row, column = np.maximum(y - top, 0), np.maximum(x - left, 0)
    read = ((n * data.shape[1] + row) * data.shape[2] + column) * data.shape[3]
    last = (np.minimum(y + _ROWS, height) - 1, np.minimum(x + _WIDTH, width))
    ends = ((n * height + last[0]) * width + last[1]) * channels
    before = np.maximum.accumulate(np.concatenate(([0], ends[:-1])))
    # The number of areas whose windows are copied before their results are stored.
    starts = np.arange(0, len(read), areas)
    return lags.of_steps(node, graph, before[starts], np.minimum.reduceat(read, starts))


def _parts(node: Node, graph: Graph, *, areas: int, transforms_weights: bool) -> Work:
    """The runs of each part of the loop; docs/explanation/costs.md describes the parts."""
    (data, *_), output = base.types(node, graph)
    batches, height, width, filters = output.shape
    rows, groups = batches * -(-height // 2), -(-data.shape[3] // _GROUP)
    count, pairs = rows * -(-width // _WIDTH), -(-filters // 2)
    passes = -(-count // areas) * transforms_weights
    return {
        **common(node, graph),
        "area": count,
        "area_group": count * groups,
        "area_pair": count * pairs,
        "area_product": count * pairs * _steps(data.shape[3]),
        "tile": rows * -(-width // 2) * filters,
        "pass": passes,
        "pass_pair": passes * pairs,
        "pass_product": passes * pairs * _steps(data.shape[3]),
    }


def _steps(depth: int) -> int:
    """Pairs of input channels, rounded up to a whole number of the loop's steps."""
    return -(-depth // (2 * _STEPS)) * _STEPS


def _padded(sources: Sequence[Array], arguments: transforms.Arguments) -> Array:
    """int8 [pairs, 2, 3, 3, groups, 4]: the weights, and zeros. The last group begins ``_GROUP``
    channels before the end; channels that it shares with the group before it belong to that group.
    """
    (weight,) = sources
    if arguments:
        raise TypeError("the transform takes no arguments")
    filters, height, width, depth = weight.shape
    if weight.dtype != np.int8 or (height, width) != (3, 3) or depth < _GROUP:
        raise ValueError("the weights are not int8 [filters, 3, 3, 4 or more]")
    whole = depth - depth % _GROUP
    # If two groups have a channel, its weights in the last group are zeros.
    places = [c if c < whole else c - depth + whole + _GROUP for c in range(depth)]
    padded = np.zeros((-(-filters // 2) * 2, 3, 3, 2 * _steps(depth)), np.int8)
    padded[:filters, ..., places] = weight
    return padded.reshape(-1, 2, 3, 3, _steps(depth) // 2, _GROUP)


# winograd: int32 [pairs, steps, 16, 2]: each word has the transformed weights of two input
# channels, for each of two output channels.
def _winograd(sources: Sequence[Array], arguments: transforms.Arguments) -> Array:
    padded = _padded(sources, arguments).astype(np.int64)
    halves = padded.reshape(*padded.shape[:-1], 2, 2)  # the channels of a group: half, step
    made = np.einsum("iy,jx,fpyxghs->fgsijph", _G, _G, halves)
    words = np.ascontiguousarray(made.astype("<i2")).view("<i4")
    return words.reshape(len(made), -1, 16, 2)


# winograd_filters: int32 [pairs, 2, groups, 9]: each word has the weights of four input channels.
def _filters(sources: Sequence[Array], arguments: transforms.Arguments) -> Array:
    padded = np.moveaxis(_padded(sources, arguments), 4, 2)
    words = np.ascontiguousarray(padded).view("<i4")
    return words.reshape(*padded.shape[:3], 9)


TRANSFORMS: Mapping[str, transforms.Function] = {
    "winograd": _winograd,
    "winograd_filters": _filters,
}

_TRANSFORMED = weighted.Loop(
    stem="conv2d_winograd_s8",
    variant=("MG_WINOGRAD_TRANSFORMED", "1"),
    needs=base.DSP,
    refusal=_refusal_transformed,
    scratch=functools.partial(_scratch, areas=1, transforms_weights=False),
    in_place=functools.partial(_in_place, areas=1),
    sums=RAW,
    layout=WeightLayout("winograd", "int32_t"),
    cores=_CORES,
    work=functools.partial(_parts, areas=1, transforms_weights=False),
)


def _transforming(areas: int) -> weighted.Loop:
    """The loop that transforms weights itself, for ``areas`` areas at a time."""
    return dataclasses.replace(
        _TRANSFORMED,
        suffix=f"areas_{areas}",
        family="conv2d_winograd_s8",
        variant=("MG_WINOGRAD_FILTERS", str(areas)),
        refusal=_refusal,
        scratch=functools.partial(_scratch, areas=areas, transforms_weights=True),
        in_place=functools.partial(_in_place, areas=areas),
        layout=WeightLayout("winograd_filters", "int32_t"),
        cores=(*_CORES, "mg_winograd_filter"),
        work=functools.partial(_parts, areas=areas, transforms_weights=True),
    )


IMPLEMENTATIONS = tuple(
    conv2d.LAYER.kernels(
        (_TRANSFORMED, _transforming(2), _transforming(4)),
        (weighted.LINEAR, weighted.TWICE_NARROW, weighted.UPWARD_NARROW, *weighted.FLOATS),
    )
)
