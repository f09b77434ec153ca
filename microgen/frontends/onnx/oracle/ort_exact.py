"""The tensors that ONNX Runtime computes exactly as their operators are defined.

IEEE 754 defines the result of one operation, and moves and choices have one result. So a tensor has
no slack if only such operators lead to it from tensors that the graph has, too.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from onnx import ModelProto

from microgen.frontends.onnx.nodes import operator_name

# Comparisons, choices, moves, conversions, and functions of one rounding.
_EXACT = frozenset(
    {
        *("Abs", "Add", "And", "Cast", "Ceil", "Clip", "Compress", "Concat", "Constant"),
        *("ConstantOfShape", "DepthToSpace", "DequantizeLinear", "Div", "Equal", "Expand"),
        *("Flatten", "Floor", "Gather", "GatherElements", "GatherND", "GlobalMaxPool", "Greater"),
        *("GreaterOrEqual", "Identity", "LeakyRelu", "Less", "LessOrEqual", "Max", "MaxPool"),
        *("Min", "Mul", "Neg", "Not", "Or", "PRelu", "Pad", "QuantizeLinear", "Reciprocal"),
        *("ReduceMax", "ReduceMin", "Relu", "Reshape", "Round", "Shape", "Sign", "Slice"),
        *("SpaceToDepth", "Split", "Sqrt", "Squeeze", "Sub", "ThresholdedRelu", "Tile", "TopK"),
        *("Transpose", "Trilu", "Unsqueeze", "Where", "Xor"),
        *("com.microsoft.DequantizeLinear", "com.microsoft.QuantizeLinear"),
    }
)


def exact(model: ModelProto, known: Collection[str]) -> frozenset[str]:
    """The tensors that exact operators compute from ``known`` ones, constants and inputs."""
    found = {each.name for each in (*model.graph.initializer, *model.graph.input)}
    given = {*found, *known, ""}
    for node in model.graph.node:
        if operator_name(node) in _EXACT and all(name in given for name in node.input):
            found.update(node.output)
            given.update(node.output)
    return frozenset(found)


def operators(model: ModelProto) -> Mapping[str, str]:
    """Tensor -> the operator that computes it."""
    return {name: operator_name(node) for node in model.graph.node for name in node.output}
