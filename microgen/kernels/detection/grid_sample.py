"""Kernels for grid_sample."""

from __future__ import annotations

from math import prod

from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ops.detection.sampling import MODES, PADDINGS, GridSampleAttrs
from microgen.kernels import base

OP_NAME = "grid_sample"

_AXES = 3


def _params(node: Node, graph: Graph) -> base.Fields:
    attrs = node.attrs
    assert isinstance(attrs, GridSampleAttrs)
    (data, grid), _ = base.types(node, graph)
    sizes = data.shape[1:-1]
    return (
        ("batches", data.shape[0]),
        ("axes", len(sizes)),
        ("shape", (*(1,) * (_AXES - len(sizes)), *sizes)),
        ("channels", data.shape[-1]),
        ("points", prod(grid.shape[1:-1])),
        ("mode", MODES.index(attrs.mode)),
        ("padding", PADDINGS.index(attrs.padding)),
        ("aligns_corners", int(attrs.aligns_corners)),
    )


IMPLEMENTATIONS = (
    base.Implementation(
        symbol="mg_grid_sample_f32",
        needs=base.REFERENCE,
        refusal=base.only(DType.FLOAT32),
        params=_params,
        inputs=(0, 1),
        ulps=4,  # products and sums may be fused
    ),
)
