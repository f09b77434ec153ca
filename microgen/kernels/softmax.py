"""Kernels for nn.softmax."""

from __future__ import annotations

from microgen.ir.graph import DType, Graph, Node
from microgen.kernels import base
from microgen.ops.softmax import SoftmaxAttrs
from microgen.quantize import softmax_parameters

OP_NAME = "nn.softmax"


def _params(node: Node, graph: Graph) -> base.Fields:
    attrs = node.attrs
    assert isinstance(attrs, SoftmaxAttrs)
    inputs, output = base.types(node, graph)
    depth = output.shape[-1]
    scaling = softmax_parameters(inputs[0], attrs.beta)
    return (
        ("outer_size", output.size // depth),
        ("depth", depth),
        ("input_multiplier", scaling.input_multiplier),
        ("input_left_shift", scaling.input_left_shift),
        ("diff_min", scaling.diff_min),
    )


KERNELS = (
    base.Kernel(
        symbol="mg_softmax_s8",
        needs=base.REFERENCE,
        refusal=base.only(DType.INT8),
        params=_params,
    ),
)
