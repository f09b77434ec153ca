"""Kernels for nn.conv2d in float32, for cores with an FPU or with vectors of
floats."""

from __future__ import annotations

from microgen.graph.ir.graph import DType, Graph, Node
from microgen.kernels import base, blocks, float_work, floats, mve, window

OP_NAME = "nn.conv2d"
PRECEDENCE = 2


def _refusal(node: Node, graph: Graph) -> str | None:
    refusal = base.only(DType.FLOAT32)(node, graph)
    if refusal is not None:
        return refusal
    data, weight = graph.type_of(node.inputs[:2])
    return floats.few(weight.shape[0] // (data.shape[3] // weight.shape[3]))


def _params(node: Node, graph: Graph) -> base.Fields:
    fields = dict(window.shaped_fields(node, graph))
    # A 1x1 convolution has no borders, so all of its pixels are one row.
    if blocks.pointwise(node, graph) is None:
        output = graph.types[node.outputs[0]]
        row = {"height": 1, "width": output.size // output.shape[3]}
        fields["shape.batches"] = 1
        for name, size in row.items():
            fields |= {f"shape.input_{name}": size, f"shape.output_{name}": size}
    return tuple(fields.items())


IMPLEMENTATIONS = (
    floats.vectors("conv2d_f32", mve.one_group, _params, float_work.conv2d, floats.BLOCKS),
    *floats.kernels(
        *("conv2d_f32", _refusal, _params, float_work.conv2d),
        floats.separately(float_work.conv2d),
    ),
)
