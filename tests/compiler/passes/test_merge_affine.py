"""Chains of constant products and sums become one product and one sum, unless rounding matters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from microgen.compiler.passes.merge_affine import merge_affine
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir import verify
from microgen.graph.ir.graph import ArrayType, DType, Graph, Node, Origin
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from microgen.graph.ops.elementwise.addition import AddAttrs
from microgen.graph.ops.elementwise.product import MultiplyAttrs

FLOATS = ArrayType((1, 4), DType.FLOAT32)
OPEN = Activation.UNLIMITED


def chain(steps: Sequence[tuple[str, Sequence[float]]], *, outputs: Sequence[int] = (-1,)) -> Graph:
    """A graph of steps, each with a constant for every element."""
    nodes, constants, types, data = list[Node](), {}, {"x": FLOATS}, "x"
    for number, (op, values) in enumerate(steps):
        other, made = f"c{number}", f"y{number}"
        constants[other] = np.array(values, np.float32)
        types[other], types[made] = ArrayType((len(values),), DType.FLOAT32), FLOATS
        attrs = MultiplyAttrs(OPEN) if op == "multiply" else AddAttrs(OPEN)
        nodes.append(Node(op, (data, other), (made,), attrs, Origin("m", made)))
        data = made
    named = tuple(nodes[number].outputs[0] for number in outputs)
    return Graph("m", ("x",), named, tuple(nodes), types, constants)


NORMALIZED = (
    ("multiply", (2.0, 0.5, -1.5, 1e-3)),
    ("add", (0.25, -3.0, 0.0, 1.0)),
    ("multiply", (1.5, 4.0, 0.1, -2.0)),
    ("add", (-0.5, 12.0, 7.0, 0.5)),
)


def test_a_normalization_and_a_scaling_are_one_product_and_one_sum() -> None:
    graph = chain(NORMALIZED)
    merged = merge_affine(graph)
    verify.check(merged, registry())
    assert [node.op for node in merged.nodes] == ["multiply", "add"]
    data = {"x": np.array([[1.0, -2.0, 3.0, 0.5]], np.float32)}
    found, wanted = (evaluate(g, data, registry())[g.outputs[0]] for g in (merged, graph))
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


@pytest.mark.parametrize("large", [2.0**23, 1.5 * 2**23, 2.0**14])
def test_numbers_that_round_stay(large: float) -> None:
    graph = chain([("add", (large,)), ("add", (-large,))])
    assert merge_affine(graph).nodes == graph.nodes


def test_what_is_an_output_stays() -> None:
    graph = chain(NORMALIZED, outputs=(1, -1))
    assert "y1" in {name for node in merge_affine(graph).nodes for name in node.outputs}
