"""Recurrent layers that importers compose of ops: RNN, its sequences, and SVDF with computed time
weights; several runs one after the other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from microgen.base.errors import ModelError, UnsupportedError
from microgen.frontends import numerics
from microgen.frontends.tflite import convert
from microgen.graph.ir import verify
from microgen.graph.ir.graph import Array, Graph
from microgen.graph.ir.interpreter import evaluate, initial_state
from microgen.graph.ops import registry
from tests.kernels.conformance.litert_oracle import interpreter_of, needs_litert
from tests.kernels.recurrent.rnn_cases import CELLS, FEATURES, RELU, TANH, direction, layer, tensor
from tests.support.tflite_builder import OperatorSpec, OptionValue, TensorSpec, build_model

RUNS = 3


def _rnn(code: str, function: int = TANH, **options: bool) -> bytes:
    tensors, operator = layer(code, function, **options)
    return build_model(tensors, [operator], ["x"], operator.outputs)


def _svdf(batches: int, rank: int, memory: int, function: int, *, has_bias: bool) -> bytes:
    """SVDF whose time weights are the magnitudes of an input."""
    rng, filters = np.random.default_rng(0), CELLS * rank
    tensors = [
        tensor(rng, "x", (batches, FEATURES), known=False),
        tensor(rng, "t", (filters, memory), known=False),
        tensor(rng, "w", (filters, FEATURES), known=True),
        tensor(rng, "m", (filters, memory), known=False),
        tensor(rng, "b", (CELLS,), known=True),
        TensorSpec("s", (batches, memory * filters), "float32", is_variable=True),
        tensor(rng, "y", (batches, CELLS), known=False),
    ]
    names = ["x", "w", "m", "b" if has_bias else -1, "s"]
    options: dict[str, OptionValue] = {"rank": rank, "fusedActivationFunction": function}
    operators = [
        OperatorSpec("ABS", ["t"], ["m"]),
        OperatorSpec("SVDF", names, ["y"], "SVDFOptions", options),
    ]
    return build_model(tensors, operators, ["x", "t"], ["y"])


def _load(model: bytes) -> Graph:
    graph = convert.load(model, file="m.tflite", numerics=numerics.profile("litert"))
    verify.check(graph, registry())
    return graph


def _by_reference(model: bytes, runs: Sequence[Sequence[Array]]) -> list[Array]:
    graph = _load(model)
    state, found = initial_state(graph), list[Array]()
    for arrays in runs:
        values = evaluate(
            graph, dict(zip(graph.inputs, arrays, strict=True)), registry(), state=state
        )
        found += [values[name] for name in graph.outputs]
    return found


def _by_litert(model: bytes, runs: Sequence[Sequence[Array]]) -> list[Array]:
    interpreter, found = interpreter_of(model), list[Array]()
    for arrays in runs:
        for details, value in zip(interpreter.get_input_details(), arrays, strict=True):
            interpreter.set_tensor(details["index"], value)
        interpreter.invoke()
        details = interpreter.get_output_details()
        found += [interpreter.get_tensor(each["index"]) for each in details]
    return found


def _assert_close(model: bytes) -> None:
    graph, rng = _load(model), np.random.default_rng(1)
    shapes = [graph.types[name].shape for name in graph.inputs]
    runs = [[rng.normal(0, 1, s).astype(np.float32) for s in shapes] for _ in range(RUNS)]
    ours, theirs = _by_reference(model, runs), _by_litert(model, runs)
    for own, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(own, other, rtol=1e-5, atol=1e-6)


@needs_litert
@pytest.mark.parametrize("function", [TANH, RELU])
@pytest.mark.parametrize("time_major", [False, True])
@pytest.mark.parametrize("code", ["RNN", "UNIDIRECTIONAL_SEQUENCE_RNN"])
def test_layers_equal_litert(code: str, time_major: bool, function: int) -> None:
    _assert_close(_rnn(code, function, time_major=time_major))


@needs_litert
@pytest.mark.parametrize("merged", [False, True])
@pytest.mark.parametrize("time_major", [False, True])
def test_both_directions_equal_litert(time_major: bool, merged: bool) -> None:
    _assert_close(_rnn("BIDIRECTIONAL_SEQUENCE_RNN", time_major=time_major, merged=merged))


@needs_litert
@pytest.mark.parametrize("shape", [(1, 2, 5), (2, 1, 1), (2, 3, 4)])
@pytest.mark.parametrize("function", [0, RELU])
@pytest.mark.parametrize("has_bias", [False, True])
def test_computed_time_weights_equal_litert(
    shape: tuple[int, int, int], function: int, has_bias: bool
) -> None:
    _assert_close(_svdf(*shape, function, has_bias=has_bias))


def test_other_activations_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="activation number 3; supported: RELU"):
        _load(_rnn("RNN", 3))


def test_a_state_of_another_size_is_refused() -> None:
    rng = np.random.default_rng(0)
    tensors = [tensor(rng, "x", (1, FEATURES), known=False), *direction(rng, "f")]
    tensors.append(tensor(rng, "y", (1, CELLS), known=False))
    names = [each.name for each in tensors[:-1]]
    operator = OperatorSpec("RNN", names, ["y"], "RNNOptions", {"fusedActivationFunction": TANH})
    with pytest.raises(ModelError, match="for 3 features of 1 sequences"):
        _load(build_model(tensors, [operator], ["x"], ["y"]))
