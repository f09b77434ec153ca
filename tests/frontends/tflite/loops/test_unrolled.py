"""Cells that follow one another, without a loop, become one recurrent layer."""

from __future__ import annotations

import dataclasses
from collections import Counter

import numpy as np
import pytest

from microgen.frontends import rolled, unrolled
from microgen.frontends.numerics import profile
from microgen.frontends.tflite import convert, litert
from microgen.graph.ir.graph import Graph
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from tests.kernels.conformance.litert_oracle import needs_litert
from tests.support import loop_networks
from tests.support.loop_networks import BODIES, LoopSpec

SPECS = [
    *(LoopSpec(kind) for kind in BODIES),
    *(LoopSpec(kind, keeps=True, starts=True) for kind in BODIES),
    *(LoopSpec(kind, integers="xh", keeps=True, reverse=True) for kind in BODIES),
    *(LoopSpec(kind, integers="h", starts=True, cells=6) for kind in BODIES),
]


def load(data: bytes) -> Graph:
    return convert.load(data, file="m.tflite", numerics=profile("litert"))


def layers(graph: Graph) -> Counter[str]:
    return Counter(node.op for node in graph.nodes)


@needs_litert
@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_a_chain_of_cells_is_one_layer_and_equals_litert(spec: LoopSpec) -> None:
    data = loop_networks.unrolled(spec)
    graph = load(data)
    op = "nn.recurrent_hybrid" if spec.integers else "nn.recurrent"
    assert layers(graph)[op] == 1
    # Only a first step may remain by itself: of a GRU, or with zeros that the file has.
    assert layers(graph)["tanh"] <= 2
    rng = np.random.default_rng(5)
    given = [rng.normal(size=graph.types[n].shape).astype(np.float32) for n in graph.inputs]
    (expected,) = litert.LiteRT().layers({".tflite": data}, [given])
    found = evaluate(graph, dict(zip(graph.inputs, given, strict=True)), registry())
    for name in graph.outputs:
        np.testing.assert_allclose(found[name], expected[name], rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("kind", ["lstm", "rnn"])
def test_another_cell_ends_a_chain(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The third step has other weights."""
    calls, body = [], BODIES[kind]

    def other(part: object, spec: LoopSpec, row: str, states: object) -> object:
        calls.append(1)
        own = dataclasses.replace(spec, seed=9) if len(calls) == 3 else spec
        return body(part, own, row, states)  # type: ignore[arg-type]

    monkeypatch.setitem(BODIES, kind, other)  # type: ignore[arg-type]
    data = loop_networks.unrolled(LoopSpec(kind, steps=8, keeps=True))
    graph = load(data)
    found = [n for n in graph.nodes if n.op == "nn.recurrent"]
    assert sum(graph.types[node.inputs[0]].shape[0] for node in found) <= 5
    assert layers(graph)["tanh"] >= 1


def test_two_steps_remain() -> None:
    assert not layers(load(loop_networks.unrolled(LoopSpec("rnn", steps=2))))["nn.recurrent"]


def test_gates_that_something_else_reads_remain(monkeypatch: pytest.MonkeyPatch) -> None:
    data = loop_networks.unrolled(LoopSpec("lstm", steps=5))
    monkeypatch.setattr(rolled, "rolled", lambda graph: graph)
    graph = load(data)
    monkeypatch.undo()
    gate = next(node.outputs[0] for node in graph.nodes if node.op == "sigmoid")
    graph = graph.replace(outputs=(*graph.outputs, gate))
    found = rolled.rolled(graph)
    assert any(gate in node.outputs for node in found.nodes)
    (chain, *_) = unrolled.chains(graph)
    assert layers(found)["sigmoid"] >= min(3, len(chain.steps))


def test_a_row_that_depends_on_a_state_remains(monkeypatch: pytest.MonkeyPatch) -> None:
    """A decoder, whose steps read what the steps before them gave."""
    spec = LoopSpec("rnn", steps=6, features=4, cells=4)
    monkeypatch.setattr(rolled, "rolled", lambda graph: graph)
    graph = load(loop_networks.unrolled(spec))
    monkeypatch.undo()
    (chain, *_) = unrolled.chains(graph)
    rows = [step.row for step in chain.steps]
    late, early = rows[3], chain.steps[0].after[0]
    nodes = [
        dataclasses.replace(n, inputs=tuple(early if i == late else i for i in n.inputs))
        for n in graph.nodes
    ]
    assert not layers(rolled.rolled(graph.replace(nodes=tuple(nodes))))["nn.recurrent"]
