"""Convolutions whose windows are copied tap by tap: those of several groups, and with dilated
columns.

Groups of few channels are computed as one, because a tap is copied as a whole. Their filters get
weights of 0 for the channels of each other's groups.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, Graph, Node
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs
from microgen.kernels import base, lags
from microgen.kernels.constant import Arguments
from microgen.kernels.work import Work, common

PIXELS = 4  # of a block
PLACES = 4 * PIXELS  # bytes: where a tap is in the input, for the pixels of a block
# Groups that are computed as one: the weights are as many times as large, and so are the products,
# which still costs less than taps that are copied value by value.
_MOST = 8


def are_copied(node: Node, graph: Graph) -> bool:
    """Whether rows of the node's windows have gaps in the input, so that taps are copied."""
    attrs, (data, weight) = node.attrs, graph.type_of(node.inputs[:2])
    if not isinstance(attrs, Conv2DAttrs):
        return False
    return attrs.dilation[1] != 1 or data.shape[3] != weight.shape[3]


@dataclass(frozen=True, slots=True)
class Merged:
    """Groups of a convolution, some of which are computed as one. ``depth`` and ``outputs`` are the
    input and output channels that these have at least, if there are enough groups."""

    depth: int
    outputs: int

    def count(self, node: Node, graph: Graph) -> int:
        """The number of groups that are one: the least that has enough channels, else 1."""
        data, weight = graph.type_of(node.inputs[:2])
        depth, groups = weight.shape[3], data.shape[3] // weight.shape[3]
        outputs = weight.shape[0] // groups
        enough = (
            n
            for n in range(1, _MOST + 1)
            if groups % n == 0 and n * depth >= self.depth and n * outputs >= self.outputs
        )
        return next(enough, 1)

    def run(self, node: Node, graph: Graph) -> int:
        """Values of a tap."""
        return self.count(node, graph) * graph.types[node.inputs[1]].shape[3]

    def groups(self, node: Node, graph: Graph) -> int:
        """Groups that are left."""
        return graph.types[node.inputs[0]].shape[3] // self.run(node, graph)

    def channels(self, node: Node, graph: Graph) -> int:
        """Output channels of each of them."""
        return graph.types[node.outputs[0]].shape[3] // self.groups(node, graph)

    def params(self, of: base.Params) -> base.Params:
        """The parameters ``of`` convolutions, with the channels of a tap as those of a filter."""

        def params(node: Node, graph: Graph) -> base.Fields:
            run = self.run(node, graph)
            return tuple(
                (name, run if name == "filter_channels" else value)
                for name, value in of(node, graph)
            )

        return params

    def arguments(self, node: Node, graph: Graph) -> Arguments:
        """The arguments of ``whole``."""
        return (("merged", self.count(node, graph)), ("outputs", self.channels(node, graph)))


def whole(weight: Array, merged: int, outputs: int) -> Array:
    """The filters of an int8 weight [channels, height, width, depth] with the channels of
    ``merged`` groups, which have ``outputs`` output channels. int8 [channels, height, width,
    merged * depth]."""
    if merged == 1:
        return weight
    channels, height, width, depth = weight.shape
    groups = weight.reshape(-1, merged, outputs // merged, height, width, depth)
    filters = np.zeros((*groups.shape[:-1], merged * depth), weight.dtype)
    for n in range(merged):
        filters[:, n, ..., n * depth : (n + 1) * depth] = groups[:, n]
    return filters.reshape(channels, height, width, merged * depth)


def refusal(node: Node, graph: Graph) -> str | None:
    """Refusal of windows with rows without gaps, and of images of few pixels."""
    if not are_copied(node, graph):
        return "there is one group, and columns are not dilated"
    _, height, width, _ = graph.types[node.outputs[0]].shape
    if height * width < PIXELS:
        return f"an image has {height * width} pixels, the kernel computes {PIXELS} at a time"
    return None


def in_place(node: Node, graph: Graph) -> base.Lags:
    """The lag of kernels that compute blocks group by group. The last block of an image has its
    last pixels, so it may begin before the end of the block before it."""
    batches, height, width, channels = graph.types[node.outputs[0]].shape
    pixels = height * width
    firsts = np.minimum(np.arange(0, pixels, PIXELS), pixels - PIXELS)
    starts = (np.arange(batches)[:, None] * pixels + firsts).ravel()
    # After the first group is stored, the others of the block are still read, so all of the block
    # has to be outside of what its windows cover.
    reads = lags.first_read(node, graph).ravel()
    read = reads[starts[:, None] + np.arange(PIXELS)].min(axis=1)
    return lags.of_steps(node, graph, (starts + PIXELS) * channels, read)


def work(node: Node, graph: Graph, merged: Merged) -> Work:
    """Parts of all of these loops: blocks of four pixels, and their taps; the same for each group;
    values of the taps, in words and in vectors."""
    output = graph.types[node.outputs[0]]
    _, rows, columns, _ = graph.types[node.inputs[1]].shape
    blocks = output.shape[0] * -(-output.shape[1] * output.shape[2] // PIXELS)
    groups, run = blocks * merged.groups(node, graph), merged.run(node, graph)
    taps = rows * columns
    return {
        **common(node, graph),
        "block": blocks,
        "block_place": blocks * taps,
        "block_group": groups,
        "block_tap": groups * taps,
        "block_word": groups * taps * -(-run // 4),
        "block_vector": groups * taps * -(-run // 16),
    }
