"""Kernels for nn.mirror_pad."""

from __future__ import annotations

from microgen.ir.graph import DType, Graph, Node
from microgen.kernels import base
from microgen.ops.mirror_pad import MirrorPadAttrs

OP_NAME = "nn.mirror_pad"


def _params(node: Node, graph: Graph) -> base.Fields:
    attrs = node.attrs
    assert isinstance(attrs, MirrorPadAttrs)
    inputs, output = base.types(node, graph)
    return (
        ("input_shape", base.padded_to_4(inputs[0].shape, 1)),
        ("before", base.padded_to_4([before for before, _ in attrs.pads], 0)),
        ("output_shape", base.padded_to_4(output.shape, 1)),
        ("edge", int(attrs.repeats_edge)),
    )


KERNELS = (
    base.Kernel(
        symbol="mg_mirror_pad_s8",
        needs=base.REFERENCE,
        refusal=base.at_most_4_dimensions(DType.INT8),
        params=_params,
    ),
)
