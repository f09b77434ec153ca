"""WHILE loops whose bodies are cells of recurrent layers become nn.recurrent."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import microgen
from microgen.frontends.numerics import profile
from microgen.frontends.tflite import convert, litert
from microgen.graph.ir.graph import Array, Graph
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from microgen.graph.ops.recurrent.recurrent import RecurrentAttrs
from tests.kernels.conformance.litert_oracle import needs_litert
from tests.support.loop_networks import BODIES, LoopSpec, model

SPECS = [
    *(LoopSpec(kind) for kind in BODIES),
    *(LoopSpec(kind, keeps=True) for kind in BODIES),
    *(LoopSpec(kind, reverse=True, starts=True) for kind in ("lstm", "gru", "rnn")),
    *(LoopSpec(kind, joins=True, keeps=True, starts=True) for kind in ("lstm", "rnn")),
    LoopSpec("lstm", rows=8),
    LoopSpec("gru", rows=8, keeps=True, steps=1),
    LoopSpec("lstm", steps=40, features=1, cells=1),
]


def loaded(spec: LoopSpec) -> Graph:
    """The graph of a network with a loop."""
    return convert.load(model(spec), file="m.tflite", numerics=profile("litert"))


def sample(graph: Graph) -> list[Array]:
    """Random inputs."""
    rng = np.random.default_rng(7)
    return [rng.normal(size=graph.types[n].shape).astype(np.float32) for n in graph.inputs]


@needs_litert
@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_a_cell_is_one_layer_and_equals_the_loop(spec: LoopSpec) -> None:
    graph = loaded(spec)
    (layer,) = [node for node in graph.nodes if node.op == "nn.recurrent"]
    assert isinstance(layer.attrs, RecurrentAttrs)
    assert layer.attrs.keeps is spec.keeps
    given = sample(graph)
    (expected,) = litert.LiteRT().layers({".tflite": model(spec)}, [given])
    found = evaluate(graph, dict(zip(graph.inputs, given, strict=True)), registry())
    for name in graph.outputs:
        np.testing.assert_allclose(found[name], expected[name], rtol=2e-5, atol=2e-6)


HYBRID = [
    *(LoopSpec(kind, integers="xh", cells=5, seed=3) for kind in BODIES),
    *(LoopSpec(kind, integers="h", keeps=True, features=4) for kind in BODIES),
    *(LoopSpec(kind, integers="x", starts=True, reverse=True) for kind in BODIES),
    LoopSpec("lstm", integers="xh", steps=30, features=1, cells=1),
]


@needs_litert
@pytest.mark.parametrize("spec", HYBRID, ids=str)
def test_a_hybrid_cell_is_one_layer_and_quantizes_as_the_loop_does(spec: LoopSpec) -> None:
    graph = loaded(spec)
    assert [node.op for node in graph.nodes].count("nn.recurrent_hybrid") == 1
    assert "loop" not in [node.op for node in graph.nodes]
    given = sample(graph)
    (expected,) = litert.LiteRT().layers({".tflite": model(spec)}, [given])
    found = evaluate(graph, dict(zip(graph.inputs, given, strict=True)), registry())
    for name in graph.outputs:
        # A vector that is quantized otherwise gives differences of hundredths.
        np.testing.assert_allclose(found[name], expected[name], rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("kind", ["lstm", "rnn"])
def test_a_joined_vector_is_quantized_as_a_whole_so_it_runs_as_a_loop(kind: str) -> None:
    graph = loaded(LoopSpec(kind, integers="xh", joins=True))
    assert "loop" in [node.op for node in graph.nodes]


def test_no_state_remains_in_the_next_inference() -> None:
    """A loop begins with its own values each time, unlike TFLite's fused layers."""
    assert not loaded(LoopSpec("lstm")).variables


def changed(data: bytes, old: float, new: float) -> bytes:
    """The file with one float32 constant changed."""
    before, after = np.float32(old).tobytes(), np.float32(new).tobytes()
    assert data.count(before) == 1
    return data.replace(before, after)


def test_a_body_that_is_nearly_a_cell_is_not_one() -> None:
    """2 - z in the place of 1 - z."""
    data = changed(model(LoopSpec("early_gru")), 1.0, 2.0)
    graph = convert.load(data, file="m.tflite", numerics=profile("litert"))
    assert "loop" in [node.op for node in graph.nodes]
    assert "nn.recurrent" not in [node.op for node in graph.nodes]


def test_a_network_with_a_loop_is_compiled(tmp_path: Path) -> None:
    (tmp_path / "m.tflite").write_bytes(model(LoopSpec("gru", keeps=True)))
    assert microgen.compile_model(tmp_path / "m.tflite", "native").files.files
