"""If: one of two graphs."""

from __future__ import annotations

from microgen.frontends.onnx.loops import bodies
from microgen.frontends.onnx.loops.bodies import InnerGraph
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.graph.builder import BuiltTensor, Value
from microgen.graph.ir.graph import DType
from microgen.graph.ops.control.branch import BranchAttrs

_BRANCHES = ("then_branch", "else_branch")


def _if(node: OnnxNode) -> Value:
    condition = node.tensor(0, DType.BOOL)
    if condition.type.size != 1:
        raise node.invalid(f"has a condition of {condition.type.size} elements; one is expected")
    if condition.value is not None:
        return bodies.inlined(node, _BRANCHES[0 if condition.value.ravel()[0] else 1])
    inside = [InnerGraph(node), InnerGraph(node)]
    made = [own.imported(name, ()) for own, name in zip(inside, _BRANCHES, strict=True)]
    if len(made[0]) != len(made[1]):
        raise node.invalid(f"has branches of {len(made[0])} and {len(made[1])} outputs")
    read = [i for i in range(len(made[0])) if i < len(node.outputs) and node.outputs[i]]
    for i in read:
        _check(node, made[0][i], made[1][i])
    outer = {tensor.name: tensor for own in inside for tensor, _ in own.inputs()}
    graphs = [
        own.graph([own.taken(tensor) for tensor in outer.values()], [results[i] for i in read])
        for own, results in zip(inside, made, strict=True)
    ]
    kinds = [made[0][i].type for i in read]
    inputs = (condition, *outer.values())
    found = node.emit_several("branch", BranchAttrs(graphs[0], graphs[1]), inputs, kinds)
    results = dict(zip(read, found, strict=True))
    return tuple(results.get(i, condition) for i in range(len(made[0])))


def _check(node: OnnxNode, then: BuiltTensor, otherwise: BuiltTensor) -> None:
    """Raise unless both branches give one type."""
    if then.type != otherwise.type:
        raise node.unsupported(
            f"gives {then.type} or {otherwise.type}, as the data decide",
            supported="branches with equal outputs, or a condition that is constant",
        )


IMPORTERS = {"If": _if}
