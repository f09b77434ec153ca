"""Kernels for nn.conv2d of several groups, or with dilated columns, for MVE."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np

from microgen.graph.ir.graph import Array, Graph, Node
from microgen.kernels import taps
from microgen.kernels.constant import WeightLayout
from microgen.kernels.convolution import conv2d
from microgen.kernels.convolution.s8.conv2d_mve import FILTERS, ROUNDINGS, in_tiles
from microgen.kernels.requantization import transforms, weighted
from microgen.kernels.requantization.recipe import RAW
from microgen.kernels.requantization.weighted import FLOAT_MVE, Loop
from microgen.kernels.work import Work

OP_NAME = conv2d.OP_NAME
PRECEDENCE = 8
_VECTOR = 16  # bytes
# A tap is copied as a vector, however few channels it has, and four filters are computed at a time.
# Half a vector is enough: more would multiply products that are 0.
MERGED = taps.Merged(depth=8, outputs=FILTERS)


def _refusal(node: Node, graph: Graph) -> str | None:
    """Refusal of windows with rows, of images of few pixels, and of few filters."""
    outputs = MERGED.channels(node, graph)
    if outputs < FILTERS:
        return f"groups have {outputs} output channels, the kernel computes {FILTERS} at a time"
    return taps.refusal(node, graph)


def _scratch(node: Node, graph: Graph) -> int:
    """The places of taps, and the values of four windows, in bytes."""
    _, height, width, _ = graph.types[node.inputs[1]].shape
    window = height * width * MERGED.run(node, graph)
    return taps.PLACES * height * width + taps.PIXELS * window + 2 * _VECTOR


def _work(node: Node, graph: Graph) -> Work:
    """Also tiles of four filters, and their vectors."""
    _, height, width, _ = graph.types[node.inputs[1]].shape
    found = taps.work(node, graph, MERGED)
    tiles = found["block_group"] * -(-MERGED.channels(node, graph) // FILTERS)
    vectors = -(-height * width * MERGED.run(node, graph) // _VECTOR)
    return {**found, "vector_tile": tiles, "vector_tile_step": tiles * vectors}


# tiles_of_groups: as ``tiles``, for each merged group; the arguments of ``taps.whole``. The weights
# of a filter are in the order [height, width, channels].
def _tiled(sources: Sequence[Array], arguments: transforms.Arguments) -> Array:
    (weight,) = sources
    outputs = int(arguments["outputs"])
    filters = taps.whole(weight, int(arguments["merged"]), outputs).reshape(len(weight), -1)
    groups = [in_tiles(filters[n : n + outputs]) for n in range(0, len(filters), outputs)]
    return np.concatenate(groups)


TRANSFORMS: Mapping[str, transforms.Function] = {"tiles_of_groups": _tiled}

_LOOP = Loop(
    stem="conv2d_s8_taps",
    refusal=_refusal,
    scratch=_scratch,
    sums=RAW,
    layout=WeightLayout("tiles_of_groups", arguments=MERGED.arguments),
    in_place=taps.in_place,
    cores=("mg_mve_tile_compute",),
    work=_work,
)
_LAYER = dataclasses.replace(conv2d.LAYER, params=MERGED.params(conv2d.LAYER.params))

IMPLEMENTATIONS = (
    *_LAYER.kernels((weighted.vectors(_LOOP),), ROUNDINGS),
    *_LAYER.kernels((weighted.vectors(weighted.in_floats(_LOOP)),), (FLOAT_MVE,)),
)
