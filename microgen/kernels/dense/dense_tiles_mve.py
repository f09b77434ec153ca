"""Kernels for nn.dense of several rows that compute tiles of rows and features with MVE."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence

from microgen.graph.ir.graph import Array, Graph, Node
from microgen.kernels.constant import KernelConstant, Tables, WeightLayout
from microgen.kernels.convolution.s8.conv2d_mve import (
    FILTERS,
    PIXELS,
    ROUNDINGS,
    TILES,
    in_tiles,
    unread,
)
from microgen.kernels.dense.dense import LAYER
from microgen.kernels.requantization import transforms, weighted
from microgen.kernels.requantization.recipe import RAW, OutputScales, Recipe
from microgen.kernels.requantization.weighted import FLOAT_MVE, Loop, Requantization
from microgen.kernels.work import Work, common

OP_NAME = "nn.dense"
PRECEDENCE = 6
_VECTOR = 16  # bytes


def _rows(node: Node, graph: Graph) -> int:
    return math.prod(graph.types[node.outputs[0]].shape[:-1])


def _refusal(node: Node, graph: Graph) -> str | None:
    """Refusal of one row, which a tile would compute four times, and of few and short ones."""
    rows = _rows(node, graph)
    if rows == 1:
        return f"there is one row, the kernel computes {PIXELS} at a time"
    return unread(rows, graph.types[node.inputs[1]].shape[1])


def _work(node: Node, graph: Graph) -> Work:
    """Passes of four rows over all features, tiles of four features, and their vectors."""
    features, depth = graph.types[node.inputs[1]].shape
    passes = -(-_rows(node, graph) // PIXELS)
    tiles = passes * -(-features // FILTERS)
    return {
        **common(node, graph),
        "vector_pass": passes,
        "vector_tile": tiles,
        "vector_tile_step": tiles * -(-depth // _VECTOR),
    }


# rows_in_tiles: a weight of int8 [features, depth]; no arguments. ``conv2d_mve.in_tiles`` of it.
def _tiled(sources: Sequence[Array], _arguments: transforms.Arguments) -> Array:
    return in_tiles(sources[0])


TRANSFORMS: Mapping[str, transforms.Function] = {"rows_in_tiles": _tiled}


def _each(one: Requantization) -> Requantization:
    """The requantization with an entry for each feature, even if all have one scale."""

    def tables(recipe: Recipe, node: Node, graph: Graph) -> Tables:
        found = one.scales.tables(recipe, node, graph)
        features = graph.types[node.inputs[1]].shape[0]

        def spread(table: KernelConstant) -> KernelConstant:
            return table if table.is_absent else table.updated(channels=features)

        return found._replace(multiplier=spread(found.multiplier), shift=spread(found.shift))

    # The bounds of a proof for one scale hold for each feature, because no feature's sums are
    # larger than the largest.
    like = None if one.like is None else _each(one.like)
    scales = OutputScales(tables, one.scales.refusal)
    return dataclasses.replace(one, scales=scales, like=like)


_LOOP = weighted.vectors(
    Loop(
        stem="dense_s8_tiles",
        refusal=_refusal,
        cores=TILES,
        sums=RAW,
        layout=WeightLayout("rows_in_tiles"),
        work=_work,
    )
)

IMPLEMENTATIONS = (
    *LAYER.kernels((_LOOP,), tuple(map(_each, ROUNDINGS))),
    *LAYER.kernels((weighted.in_floats(_LOOP),), (_each(FLOAT_MVE),)),
)
