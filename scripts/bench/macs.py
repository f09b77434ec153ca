"""The multiply-accumulates of each operator call, computed from the graph.

Products with padding count, as is usual, so a layer's number depends only on its shapes.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence

from microgen.graph.ir.graph import ArrayType, Graph, Node
from microgen.project.firmware.compiled import Compiled

Types = Sequence[ArrayType]


def _convolution(inputs: Types, output: ArrayType) -> int:
    """Each output element is a sum over its filter, OHWI."""
    return output.size * math.prod(inputs[1].shape[1:])


def _depthwise(inputs: Types, output: ArrayType) -> int:
    """Each output element is a sum over a window of one channel; the weight is 1HWC."""
    return output.size * math.prod(inputs[1].shape[1:3])


def _transposed(inputs: Types, _output: ArrayType) -> int:
    """Each input element is multiplied with every tap of every filter, OHWI."""
    return inputs[0].size * math.prod(inputs[1].shape[:3])


def _dense(inputs: Types, output: ArrayType) -> int:
    """Each output element is a sum over a row of the weight, [out, in]."""
    return output.size * inputs[1].shape[-1]


_RULES: dict[str, Callable[[Types, ArrayType], int]] = {
    "nn.conv2d": _convolution,
    "nn.conv2d_hybrid": _convolution,
    "nn.depthwise_conv2d": _depthwise,
    "nn.depthwise_conv2d_hybrid": _depthwise,
    "nn.conv2d_transpose": _transposed,
    "nn.dense": _dense,
    "nn.dense_hybrid": _dense,
}


def of_node(node: Node, graph: Graph) -> int:
    """The multiply-accumulates of a node; 0 for operators that have none, or no rule here."""
    inputs, output = graph.type_of(node.inputs), graph.types[node.outputs[0]]
    if node.op == "nn.batch_matmul":
        depth = inputs[0].shape[-2 if getattr(node.attrs, "transpose_a", False) else -1]
        return output.size * depth
    rule = _RULES.get(node.op)
    return rule(inputs, output) if rule else 0


def of_calls(compiled: Compiled) -> list[int]:
    """The multiply-accumulates of each operator call, including the nodes fused into it. Nodes
    whose result no call writes belong to the call that reads it, directly or through others."""
    graph = compiled.graph
    calls = compiled.program.calls
    owners = {step.tensor: call.index for call in calls for step in call.steps}
    sums: Counter[int] = Counter()
    for node in reversed(graph.nodes):
        mine = [owners[name] for name in node.outputs if name in owners]
        if not mine:
            continue
        for name in node.inputs:
            owners.setdefault(name, mine[0])
        sums[mine[0]] += of_node(node, graph)
    return [sums[call.index] for call in calls]
