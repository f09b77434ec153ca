"""Functions of one value become table lookups, and nothing else changes."""

from __future__ import annotations

import numpy as np
import pytest

from microgen.compiler import passes
from microgen.compiler.passes.tabulate import tabulate
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir import verify
from microgen.graph.ir.graph import Attrs, Graph, Quant
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from microgen.graph.ops.tables.tables import LookupAttrs
from microgen.graph.ops.unary.activations import LeakyReluAttrs
from microgen.graph.ops.unary.sigmoid import TanhAttrs
from tests.support.graphs import Builder

UNIT = Quant((1 / 256,), (-128,))
TABULATED = sorted(name for name, op in registry().items() if op.tables)


def _attrs(op: str) -> Attrs:
    kind = registry()[op].attrs
    return LeakyReluAttrs(0.1) if kind is LeakyReluAttrs else kind()


def _outputs(graph: Graph) -> list[bytes]:
    every = np.arange(-128, 128).astype(np.int8)
    inputs = {name: every.reshape(graph.types[name].shape) for name in graph.inputs}
    values = evaluate(graph, inputs, registry())
    return [values[name].tobytes() for name in graph.outputs]


@pytest.mark.parametrize("op", TABULATED)
def test_a_lookup_computes_what_the_node_did_under_its_names(op: str) -> None:
    b = Builder()
    graph = b.graph(b.node(op, _attrs(op), b.input(1, 16, 16, 1), quant=UNIT))
    after = tabulate(graph)
    verify.check(after, registry())
    (before_node,), (node,) = graph.nodes, after.nodes
    assert node.op == "lookup"
    assert node.attrs == LookupAttrs(op)
    assert node.inputs[0] == before_node.inputs[0]
    assert (node.outputs, node.origin) == (before_node.outputs, before_node.origin)
    assert after.types[node.outputs[0]] == graph.types[before_node.outputs[0]]
    assert _outputs(after) == _outputs(graph)


def test_the_table_is_a_constant_with_the_outputs_quantization() -> None:
    b = Builder()
    graph = tabulate(b.graph(b.node("tanh", TanhAttrs(), b.input(1, 2, 2, 1), quant=UNIT)))
    table = graph.nodes[0].inputs[1]
    assert graph.constants[table].shape == (256,)
    assert not graph.constants[table].flags.writeable
    assert graph.types[table].quant == UNIT


def test_equal_tables_are_one_and_others_are_not() -> None:
    b = Builder()
    data = b.input(1, 2, 2, 1)
    other = Quant((1 / 128,), (0,))
    names = [b.node("tanh", TanhAttrs(), data, quant=quant) for quant in (UNIT, UNIT, other)]
    first, second, third = (node.inputs[1] for node in tabulate(b.graph(*names)).nodes)
    assert first == second != third


def test_other_nodes_stay_as_they_are() -> None:
    b = Builder()
    graph = b.graph(b.clip(b.conv(b.input(1, 4, 4, 2), 3), Activation.RELU))
    assert tabulate(graph) == graph


def test_the_pipeline_leaves_nothing_to_tabulate_and_computes_constants_itself() -> None:
    b = Builder()
    constant = b.node("tanh", TanhAttrs(), b.int8(1, 2, 2, 1))
    computed = b.node("tanh", TanhAttrs(), b.input(1, 2, 2, 1))
    graph = passes.run(b.graph(b.add(constant, computed)))
    assert [node.op for node in graph.nodes] == ["lookup", "add"]
