"""Lags: the number of bytes by which an output must begin before the input whose bytes it takes.

Loops go through output pixels in the order of memory, in steps. Before step k they have written the
output's values below ``written[k]``. From then on they read no value of the input below the least
of ``read[k:]``. So nothing is read after it was overwritten if the output begins by the largest
difference, or any more, before the input.

Depthwise loops that compute a channel of several pixels before the next channel can be in place
only if the lag is a number of whole pixels, so that a channel's outputs take the places of the same
channel's inputs. A lag that is rounded up to a power of two is still a number of whole pixels if
the number of channels is a power of two, too.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from microgen.graph.ir.graph import Array, Graph, Node
from microgen.graph.ops.base import Padding, Pair
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs
from microgen.graph.ops.depthwise.depthwise_conv2d import DepthwiseConv2DAttrs
from microgen.graph.ops.geometry import explicit
from microgen.graph.ops.pooling.pooling import PoolAttrs
from microgen.kernels import base


def furthest(written: Array, read: Array) -> int:
    """The most by which the end of a write exceeds the start of a later read; at least 0."""
    lowest = np.minimum.accumulate(read[::-1])[::-1]
    return int((written - lowest).max(initial=0))


def of_steps(node: Node, graph: Graph, written: Array, read: Array) -> base.Lags:
    """The lag of the first input. int64 [steps]: ``written`` and ``read`` in values."""
    data, output = graph.types[node.inputs[0]], graph.types[node.outputs[0]]
    size, own = data.dtype.nbytes, output.dtype.nbytes
    apart = furthest(written * own, read * size)
    least = int(output.nbytes > data.nbytes)  # without a lag, an output must not be larger
    # A lag of whole elements keeps both tensors aligned.
    unit = max(size, own)
    return {0: -(-max(least, apart) // unit) * unit}


def of_pixels(node: Node, graph: Graph, written: Array, read: Array) -> base.Lags:
    """The lag of a depthwise loop over int8 values that copies a channel's values of some pixels
    before it stores their results. int64 [steps]: ``written`` and ``read`` in pixels."""
    data, output = graph.types[node.inputs[0]], graph.types[node.outputs[0]]
    pixels, channels = furthest(written, read), data.shape[3]
    # A lag may be rounded up to a power of two, and must still be a number of whole pixels then.
    is_power = channels & (channels - 1) == 0
    fits = is_power if pixels else output.size <= data.size
    return {0: pixels * channels} if fits else {}


def first_read(node: Node, graph: Graph) -> Array:
    """int64 [batches, height, width]: the index of the first value of the input that the window of
    each output pixel covers; the number of values if it covers none."""
    data, output = graph.types[node.inputs[0]], graph.types[node.outputs[0]]
    batches, height, width, depth = data.shape
    taps, dilation, strides, padding = _windows(node, graph)
    pads = explicit(padding)[:2]
    rows, columns = (
        _first(
            np.arange(output.shape[axis + 1]) * strides[axis] - pads[axis],
            taps[axis],
            dilation[axis],
            data.shape[axis + 1],
        )
        for axis in range(2)
    )
    inside = (rows[:, None] * width + columns) * depth
    inside[rows == height, :] = inside[:, columns == width] = height * width * depth
    starts = np.arange(batches) * height * width * depth
    return np.where(
        inside == height * width * depth, data.size, inside + starts[:, None, None]
    ).astype(np.int64)


def _windows(node: Node, graph: Graph) -> tuple[Pair, Pair, Pair, Padding]:
    """Size, dilation, strides and padding of a convolution's or a pool's windows."""
    attrs = node.attrs
    if isinstance(attrs, PoolAttrs):
        return attrs.pool_size, (1, 1), attrs.strides, attrs.padding
    assert isinstance(attrs, Conv2DAttrs | DepthwiseConv2DAttrs)
    _, height, width, _ = graph.types[node.inputs[1]].shape
    return (height, width), attrs.dilation, attrs.strides, attrs.padding


def _first(start: Array, taps: int, dilation: int, size: int) -> Array:
    """The first place in 0 to ``size`` - 1 of windows that begin at ``start``; ``size`` if there is
    none.
    """
    # The first tap that is not before the input: the quotient is rounded up.
    tap = -(np.minimum(start, 0) // dilation)
    place = start + tap * dilation
    return np.where((tap < taps) & (place < size), place, size)


def blocks(node: Node, graph: Graph, starts: Iterable[int]) -> base.Lags:
    """The lag if pixels are computed in blocks, which begin at the pixels ``starts``: a block's
    windows are copied before its first result is stored."""
    places = np.fromiter(starts, np.int64)
    channels = graph.types[node.outputs[0]].shape[3]
    read = np.minimum.reduceat(first_read(node, graph).ravel(), places)
    return of_steps(node, graph, places * channels, read)


def one_by_one(node: Node, graph: Graph, last: int) -> base.Lags:
    """The lag if pixels are computed one after the other. All channels except the ``last`` ones are
    stored before the last read of the window.
    """
    output = graph.types[node.outputs[0]]
    channels = output.shape[3]
    read = first_read(node, graph).ravel()
    written = np.arange(len(read), dtype=np.int64) * channels + channels - last
    return of_steps(node, graph, written, read)


def each_channel(node: Node, graph: Graph, last: int) -> base.Lags:
    """The same for depthwise convolutions and pools, whose results need only the values of a
    channel."""
    depth = graph.types[node.inputs[0]].shape[3]
    channels = graph.types[node.outputs[0]].shape[3]
    read = first_read(node, graph).ravel()
    written = np.arange(len(read), dtype=np.int64) * channels
    # Each pixel has two steps: before its first channel, and before its last channels, which still
    # read their own values.
    late = read + max(0, depth - last)
    return of_steps(
        node,
        graph,
        np.stack((written, written + channels - last), 1).ravel(),
        np.stack((read, late), 1).ravel(),
    )


def last_of_four(channels: int) -> int:
    """The channels that loops over four channels, and then over one, compute last."""
    return 1 if channels % 4 else 4


def by_4(node: Node, graph: Graph) -> base.Lags:
    """The lag of convolutions that compute four channels of a pixel at a time."""
    return one_by_one(node, graph, last_of_four(graph.types[node.outputs[0]].shape[3]))


def grouped_by_4(node: Node, graph: Graph) -> base.Lags:
    """The lag of convolutions that compute four channels of one group at a time."""
    data, weight = graph.type_of(node.inputs[:2])
    return one_by_one(node, graph, last_of_four(weight.shape[0] * weight.shape[3] // data.shape[3]))


def by_1(node: Node, graph: Graph) -> base.Lags:
    """The lag of convolutions that compute one channel of a pixel at a time."""
    return one_by_one(node, graph, 1)


def depthwise_by_4(node: Node, graph: Graph) -> base.Lags:
    """The lag of depthwise convolutions that compute four channels of a pixel at a time."""
    return each_channel(node, graph, last_of_four(graph.types[node.outputs[0]].shape[3]))


def depthwise_by_8(node: Node, graph: Graph) -> base.Lags:
    """The lag of pools that compute eight or sixteen channels of a pixel at a time, and then the
    remaining ones.
    """
    return each_channel(node, graph, graph.types[node.outputs[0]].shape[3] % 8 or 8)


def depthwise_by_16(node: Node, graph: Graph) -> base.Lags:
    """The lag of pools that compute sixteen channels of a pixel at a time, and then the remaining
    ones.
    """
    return each_channel(node, graph, graph.types[node.outputs[0]].shape[3] % 16 or 16)


def depthwise_by_1(node: Node, graph: Graph) -> base.Lags:
    """The lag of depthwise convolutions that compute one channel of a pixel at a time."""
    return each_channel(node, graph, 1)
