from __future__ import annotations

import numpy as np
import pytest

from microgen.compiler.passes import run
from microgen.frontends.numerics import profile
from microgen.frontends.tflite import convert as frontend
from microgen.graph.ir.interpreter import evaluate, initial_state
from microgen.graph.ops import registry
from microgen.graph.ops.moves.slices import SLIDE, SlideAttrs
from tests.kernels.conformance.litert_oracle import activation_type, needs_litert
from tests.support import streaming


@needs_litert
@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("kind", ["stream", "slide"])
def test_equals_litert(kind: str, seed: int) -> None:
    """Files have it as a concatenation and a slice, in either order."""
    rng = np.random.default_rng(seed)
    new, rest = int(rng.integers(1, 4)), tuple(map(int, rng.integers(1, 6, 2)))
    m = streaming.Model()
    data = m.input("x", (1, new, *rest))
    m.outputs = [getattr(m, kind)(data, "window", new + int(rng.integers(1, 5)))]
    samples = rng.integers(-128, 128, (5, 1, new, *rest)).astype(np.int8)
    model = m.to_bytes()
    graph = run(frontend.load(model, file="m.tflite", numerics=profile("litert")))
    assert "slide" in [node.op for node in graph.nodes]
    state = initial_state(graph)
    found = [
        evaluate(graph, {"x": sample}, registry(), state)[graph.outputs[0]] for sample in samples
    ]
    np.testing.assert_array_equal(np.stack(found), streaming.by_litert(model, samples))


@pytest.mark.parametrize(
    ("axis", "shapes", "sentence"),
    [
        (0, [(2, 3)], "has 1 inputs"),
        (2, [(2, 3), (1, 3)], "the axis is 2; the window is int8"),
        (1, [(2, 3), (2, 1)], "the axis is 1; the window is int8"),
        (0, [(2, 3), (1, 4)], "differ in more than their axis 0"),
        (0, [(2, 3), (1,)], "differ in more than their axis 0"),
        (0, [(2, 3), (2, 3)], "the new rows are"),
    ],
)
def test_impossible_shapes(axis: int, shapes: list[tuple[int, ...]], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        SLIDE.infer(SlideAttrs(axis), [activation_type(s, 1.0, 0) for s in shapes])


def test_all_must_have_one_quantization() -> None:
    one, other = activation_type((2, 2), 1.0, 0), activation_type((1, 2), 1.0, 1)
    assert "must be equal" in str(SLIDE.check(SlideAttrs(0), [one, other], [one]))
