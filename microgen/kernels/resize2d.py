"""Kernels for image.resize2d."""

from __future__ import annotations

from microgen.ir.graph import DType, Graph, Node
from microgen.kernels import base
from microgen.ops.resize2d import Resize2DAttrs, axes

OP_NAME = "image.resize2d"


def _params(node: Node, graph: Graph) -> base.Fields:
    assert isinstance(node.attrs, Resize2DAttrs)
    (data,), output = base.types(node, graph)
    height, width = axes(node.attrs, data)
    return (
        ("batches", data.shape[0]),
        ("input_height", data.shape[1]),
        ("input_width", data.shape[2]),
        ("channels", data.shape[3]),
        ("output_height", output.shape[1]),
        ("output_width", output.shape[2]),
        ("step_y", height.step),
        ("start_y", height.start),
        ("step_x", width.step),
        ("start_x", width.start),
    )


KERNELS = (
    base.Kernel(
        symbol="mg_resize_bilinear_s8",
        needs=base.REFERENCE,
        refusal=base.only(DType.INT8),
        params=_params,
    ),
)
