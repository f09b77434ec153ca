"""Takes functions of the builder through the frontend and the passes, and evaluates them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from microgen import relay
from microgen.compiler import passes
from microgen.frontends.relay import convert as frontend
from microgen.graph.ir.graph import Array, Graph
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from microgen.relay import Expr, Function, IRModule, Var


def graph_of(source: str | IRModule | Function, targets: Mapping[int, str] | None = None) -> Graph:
    """The graph of a text, a module or a function."""
    if isinstance(source, str):
        source = relay.parse(source, "t.relay")
    if isinstance(source, Function):
        source = IRModule.from_expr(source)
    return frontend.convert(source, file="t.relay", targets=targets)


def outputs_of(graph: Graph, inputs: Sequence[Array]) -> list[Array]:
    """What the graph's references compute, with and without the passes, which must be the same."""
    found = []
    for each in (graph, passes.run(graph)):
        values = evaluate(each, dict(zip(each.inputs, inputs, strict=True)), registry())
        found.append([values[name] for name in each.outputs])
    for plain, passed in zip(*found, strict=True):
        np.testing.assert_array_equal(plain, passed)
        assert plain.dtype == passed.dtype
    return found[1]


def computed(body: Expr, params: Mapping[Var, Array]) -> list[Array]:
    """The values of an expression, its variables being those arrays."""
    return outputs_of(graph_of(Function(list(params), body)), list(params.values()))


def var(name: str, array: Array) -> Var:
    """A variable of an array's type."""
    return relay.var(name, shape=array.shape, dtype=array.dtype.name)


def close(found: Array, expected: Array) -> None:
    """Within 1e-5 of the expected values' range; integers exactly. Shape and dtype the same."""
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    if expected.dtype.kind != "f":
        np.testing.assert_array_equal(found, expected)
        return
    span = max(float(np.ptp(expected)), float(np.abs(expected).max()), 1e-30)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5 * span)


def moved(array: Array, source: str, target: str) -> Array:
    """The axes in another order, each named by a letter."""
    return np.ascontiguousarray(array.transpose([source.index(letter) for letter in target]))
