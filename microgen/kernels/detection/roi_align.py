"""Kernels for roi_align."""

from __future__ import annotations

from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ops.detection.roi_align import RoiAlignAttrs
from microgen.kernels import base

OP_NAME = "roi_align"


def _params(node: Node, graph: Graph) -> base.Fields:
    attrs = node.attrs
    assert isinstance(attrs, RoiAlignAttrs)
    (images, regions, _), _ = base.types(node, graph)
    return (
        ("images", images.shape[0]),
        ("height", images.shape[1]),
        ("width", images.shape[2]),
        ("channels", images.shape[3]),
        ("regions", regions.shape[0]),
        ("rows", attrs.size[0]),
        ("columns", attrs.size[1]),
        ("samples", attrs.samples),
        ("is_max", int(attrs.is_max)),
        ("is_half", int(attrs.is_half)),
        ("scale", attrs.scale),
    )


IMPLEMENTATIONS = (
    base.Implementation(
        symbol="mg_roi_align_f32",
        needs=base.REFERENCE,
        refusal=base.only(DType.FLOAT32),
        params=_params,
        inputs=(0, 1, 2),
        can_fail=True,
        ulps=4,  # products and sums may be fused
    ),
)
