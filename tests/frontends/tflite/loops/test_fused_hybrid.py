"""UNIDIRECTIONAL_SEQUENCE_LSTM of float32 data with int8 weights against LiteRT."""

from __future__ import annotations

import numpy as np
import pytest

from microgen.base.errors import MicrogenError, UnsupportedError
from microgen.frontends.numerics import profile
from microgen.frontends.tflite import convert, litert
from microgen.graph.ir.interpreter import evaluate, initial_state
from microgen.graph.ops import registry
from tests.kernels.conformance.litert_oracle import needs_litert
from tests.support.tflite_builder import OperatorSpec, Ref, TensorSpec, build_model

FEATURES, CELLS, STEPS = 5, 6, 4


def _weight(rng: np.random.Generator, name: str, columns: int, integers: bool) -> TensorSpec:
    values = rng.normal(scale=0.5, size=(CELLS, columns)).astype(np.float32)
    if not integers:
        return TensorSpec(name, values.shape, "float32", values)
    scale = float(np.float32(np.abs(values).max() / 127))
    stored = np.round(values / np.float32(scale)).clip(-127, 127).astype(np.int8)
    return TensorSpec(name, values.shape, "int8", stored, (scale,), (0,))


def network(
    batches: int = 1,
    *,
    by_time: bool = False,
    asymmetric: bool = True,
    integers: str = "wr",
    **more: object,
) -> bytes:
    """The layer; ``integers``: which weights are int8. ``more``: options."""
    rng = np.random.default_rng(3)
    lead = (STEPS, batches) if by_time else (batches, STEPS)
    weights = [
        _weight(rng, f"{one}{gate}", columns, one in integers)
        for one, columns in (("w", FEATURES), ("r", CELLS))
        for gate in range(4)
    ]
    biases = [
        TensorSpec(f"b{i}", (CELLS,), "float32", rng.normal(size=CELLS).astype(np.float32))
        for i in range(4)
    ]
    states = [TensorSpec(n, (batches, CELLS), "float32", is_variable=True) for n in "hc"]
    x, y = (TensorSpec(n, (*lead, k), "float32") for n, k in (("x", FEATURES), ("y", CELLS)))
    inputs: list[Ref] = ["x", *(w.name for w in weights), -1, -1, -1]
    inputs += [*(b.name for b in biases), -1, -1, "h", "c", -1, -1, -1, -1]
    options = {"fusedActivationFunction": 4, "timeMajor": by_time}
    options |= {"asymmetricQuantizeInputs": asymmetric, **more}  # type: ignore[dict-item]
    operator = OperatorSpec(
        "UNIDIRECTIONAL_SEQUENCE_LSTM",
        inputs,
        ["y"],
        "UnidirectionalSequenceLSTMOptions",
        options,  # type: ignore[arg-type]
    )
    return build_model([x, y, *weights, *biases, *states], [operator], ["x"], ["y"])


@needs_litert
@pytest.mark.parametrize("asymmetric", [False, True])
@pytest.mark.parametrize(("batches", "by_time"), [(1, False), (3, False), (2, True)])
def test_equals_litert_with_its_states(batches: int, by_time: bool, asymmetric: bool) -> None:
    data = network(batches, by_time=by_time, asymmetric=asymmetric)
    graph = convert.load(data, file="m.tflite", numerics=profile("litert"))
    rng, shape = np.random.default_rng(1), graph.types[graph.inputs[0]].shape
    samples = [[rng.normal(size=shape).astype(np.float32)] for _ in range(3)]
    state, ops = initial_state(graph), registry()
    expected = litert.LiteRT().layers({".tflite": data}, samples)
    for sample, layers in zip(samples, expected, strict=True):
        found = evaluate(graph, {graph.inputs[0]: sample[0]}, ops, state)
        (name,) = graph.outputs
        np.testing.assert_allclose(found[name], layers[name], rtol=2e-5, atol=2e-6)


def test_integers_of_some_weights_only_are_refused() -> None:
    """LiteRT reads the floats of the others as int8."""
    with pytest.raises(MicrogenError, match="all must be float32"):
        convert.load(network(integers="w"), file="m.tflite", numerics=profile("litert"))


def test_limits_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="a limit of its states"):
        convert.load(network(cellClip=1.0), file="m.tflite", numerics=profile("litert"))


def test_other_activations_are_refused() -> None:
    with pytest.raises(UnsupportedError, match=r"has the activation number 1; supported: TANH"):
        convert.load(
            network(fusedActivationFunction=1), file="m.tflite", numerics=profile("litert")
        )
