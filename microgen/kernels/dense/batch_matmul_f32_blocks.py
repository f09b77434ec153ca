"""Kernels for nn.batch_matmul in float32, for cores with an FPU or with vectors of floats."""

from __future__ import annotations

import dataclasses
import math

from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ops.dense.batch_matmul import BatchMatmulAttrs, matrices
from microgen.kernels import base, floats, window
from microgen.kernels.dense import batch_matmul
from microgen.kernels.float_work import TILE
from microgen.kernels.work import Work, common

OP_NAME = batch_matmul.OP_NAME
PRECEDENCE = 2


def _refusal(node: Node, graph: Graph) -> str | None:
    """Refusal unless there are four rows, whose values follow one another, and four columns."""
    refusal = base.only(DType.FLOAT32)(node, graph)
    if refusal is not None:
        return refusal
    attrs = base.attrs_of(node, BatchMatmulAttrs)
    if attrs.transpose_a:
        return "the left matrix is transposed, the kernel takes its rows"
    rows, _, _, columns = matrices(attrs, *graph.type_of(node.inputs))
    if min(rows, columns) < TILE:
        return f"the output has {rows} rows and {columns} columns, the kernel takes {TILE}"
    return None


def _work(node: Node, graph: Graph, pixels: int = TILE) -> Work:
    """Tiles, and the values of these, by the order of the right matrix."""
    attrs = base.attrs_of(node, BatchMatmulAttrs)
    rows, depth, _, columns = matrices(attrs, *graph.type_of(node.inputs))
    batches = math.prod(graph.types[node.outputs[0]].shape[:-2])
    tiles = batches * -(-rows // pixels) * -(-columns // TILE)
    return {
        **common(node, graph),
        "tile": tiles,
        "tile_value": tiles * depth * (not attrs.transpose_b),
        "matmul_gathered": tiles * depth * attrs.transpose_b,
    }


_MVE = dataclasses.replace(
    batch_matmul.FLOAT,
    symbol="mg_batch_matmul_f32_mve",
    needs=base.MVE_FLOAT,
    refusal=_refusal,
    work=_work,
    ulps=window.FLOAT_ULPS,
)
IMPLEMENTATIONS = (
    _MVE,
    *(
        dataclasses.replace(kernel, inputs=(0, 1))
        for kernel in floats.kernels(
            *("batch_matmul_f32", _refusal, batch_matmul.FLOAT.params, _work),
            floats.separately(_work),
        )
    ),
)
