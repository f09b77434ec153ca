"""Chains of views, some of which give the stored values another meaning."""

from __future__ import annotations

from microgen.compiler.passes.views import merge_views
from microgen.graph.ir.graph import ArrayType, Attrs, DType, Graph, Node, Origin, Quant
from microgen.graph.ir.verify import check
from microgen.graph.ops import registry
from microgen.graph.ops.moves.views import ReinterpretAttrs, ReshapeAttrs
from microgen.graph.ops.reductions.softmax import SoftmaxAttrs

ONE, HALF = Quant((1.0,), (0,)), Quant((0.5,), (3,))


def _chain(*steps: tuple[tuple[int, ...], Quant]) -> Graph:
    """A graph of views, each of the one before, and a softmax of the last one."""
    types = {"x": ArrayType((2, 6), DType.INT8, ONE)}
    nodes = []
    last = "x"
    for i, (shape, quant) in enumerate(steps):
        name, changes = f"v{i}", quant != types[last].quant
        attrs: Attrs = ReinterpretAttrs(shape) if changes else ReshapeAttrs(shape)
        op = "qnn.reinterpret" if changes else "reshape"
        types[name] = ArrayType(shape, DType.INT8, quant)
        nodes.append(Node(op, (last,), (name,), attrs, Origin("t", name)))
        last = name
    types["y"] = ArrayType(types[last].shape, DType.INT8, Quant((1 / 256,), (-128,)))
    nodes.append(Node("nn.softmax", (last,), ("y",), SoftmaxAttrs(1.0), Origin("t", "y")))
    graph = Graph("t", ("x",), ("y",), tuple(nodes), types, {})
    check(graph, registry())
    return graph


def _views(graph: Graph) -> list[tuple[str, str]]:
    """The op and the input of the view that the softmax reads after the pass, if there is one."""
    merged = merge_views(graph)
    check(merged, registry())
    producers = merged.producer_of()
    (read,) = producers["y"].inputs
    node = producers.get(read)
    return [] if node is None else [(node.op, node.inputs[0])]


def test_a_reshape_of_a_reinterpreted_tensor() -> None:
    assert _views(_chain(((2, 6), HALF), ((3, 4), HALF))) == [("qnn.reinterpret", "x")]


def test_a_reshaped_tensor_reinterpreted() -> None:
    assert _views(_chain(((3, 4), ONE), ((3, 4), HALF))) == [("qnn.reinterpret", "x")]


def test_there_and_back() -> None:
    assert _views(_chain(((2, 6), HALF), ((2, 6), ONE))) == []
    assert _views(_chain(((2, 6), HALF), ((3, 4), HALF), ((3, 4), ONE))) == [
        ("qnn.reinterpret", "x")
    ]


def test_reshapes_stay_reshapes() -> None:
    assert _views(_chain(((3, 4), ONE), ((12, 1), ONE))) == [("reshape", "x")]
