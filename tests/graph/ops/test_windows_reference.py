"""STABLEHLO_REDUCE_WINDOW, REDUCE_WINDOW and STABLEHLO_PAD against LiteRT, and what they refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from microgen.base.errors import MicrogenError
from microgen.frontends import numerics
from microgen.frontends.tflite import convert as frontend
from microgen.graph.ir.graph import Array, Graph
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from tests.kernels.conformance.litert_oracle import interpreter_of, needs_litert
from tests.support.tflite_builder import OperatorSpec, SubgraphSpec, TensorSpec, build_model

BODIES = {
    "ADD": "AddOptions",
    "MUL": "MulOptions",
    "MAXIMUM": "MaximumMinimumOptions",
    "MINIMUM": "MaximumMinimumOptions",
}
NEUTRAL = {"ADD": 0.0, "MUL": 1.0, "MAXIMUM": -np.inf, "MINIMUM": np.inf}


def _model(data: Array, start: Any, output: tuple[int, ...], body: str, **options: Any) -> bytes:
    dtype = data.dtype.name
    pair = [TensorSpec(name, (), dtype) for name in ("a", "b", "c")]
    operators = [OperatorSpec(body, ["a", "b"], ["c"], BODIES.get(body, ""))]
    inner = SubgraphSpec(pair, operators, ["a", "b"], ["c"])
    tensors = [
        TensorSpec("x", data.shape, dtype),
        TensorSpec("start", (), dtype, np.array(start, data.dtype)),
        TensorSpec("y", output, dtype),
    ]
    table = "StablehloReduceWindowOptions"
    operator = OperatorSpec(
        *("STABLEHLO_REDUCE_WINDOW", ["x", "start"], ["y"], table),
        {"bodySubgraphIndex": 1, **options},
    )
    return build_model(tensors, [operator], ["x"], ["y"], more=[inner])


def _load(model: bytes) -> Graph:
    return frontend.load(model, file="m.tflite", numerics=numerics.profile("litert"))


def _theirs(model: bytes, data: Array) -> Array:
    interpreter = interpreter_of(model)
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], data)
    interpreter.invoke()
    result: Array = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
    return result


@needs_litert
@pytest.mark.parametrize("dtype", ["float32", "int32"])
@pytest.mark.parametrize("body", sorted(BODIES))
def test_windows_equal_litert(body: str, dtype: str) -> None:
    for seed in range(25):
        rng = np.random.default_rng(seed)
        rank = int(rng.integers(1, 6))
        shape = tuple(int(n) for n in rng.integers(5, 7, rank))
        data = rng.integers(-4, 5, shape).astype(dtype)  # whole, so that any order gives the same
        options = {
            "windowDimensions": rng.integers(1, 3, rank),
            "windowStrides": rng.integers(1, 3, rank),
            "windowDilations": rng.integers(1, 3, rank),
            "baseDilations": rng.integers(1, 3, rank) if seed % 3 == 0 else np.ones(rank, int),
            "padding": rng.integers(-1, 3, 2 * rank) if seed % 2 else np.zeros(2 * rank, int),
        }
        vectors = {name: [int(n) for n in value] for name, value in options.items()}
        start = NEUTRAL[body] if seed % 4 and (seed % 2 or dtype == "float32") else 2.0
        start = start if dtype == "float32" or np.isfinite(start) else 1.0
        _check(_model(data, start, (1,) * rank, body, **vectors), data)


def _check(model: bytes, data: Array) -> None:
    graph = _load(model)
    (ours,) = (evaluate(graph, {"x": data}, registry())[name] for name in graph.outputs)
    theirs = _theirs(model, data)
    assert ours.shape == theirs.shape
    np.testing.assert_array_equal(ours, theirs)


def _old_model(data: Array, function: int, *numbers: list[int]) -> bytes:
    """REDUCE_WINDOW with sizes, strides and dilations."""
    dtype = data.dtype.name
    names = ("sizes", "strides", "dilations")
    vectors = [
        TensorSpec(name, (len(each),), "int64", np.array(each))
        for name, each in zip(names, numbers, strict=True)
    ]
    tensors = [
        TensorSpec("x", data.shape, dtype),
        TensorSpec("start", (), dtype, np.array(2, data.dtype)),
        TensorSpec("y", (1,) * data.ndim, dtype),
        *vectors,
    ]
    operator = OperatorSpec(
        *("REDUCE_WINDOW", ["x", "start", *names], ["y"], "ReduceWindowOptions"),
        {"reduceFunction": function},
    )
    return build_model(tensors, [operator], ["x"], ["y"])


@needs_litert
@pytest.mark.parametrize("function", [1, 2, 3, 4])
def test_the_older_form_equals_litert(function: int) -> None:
    for seed in range(8):
        rng = np.random.default_rng(seed)
        rank = int(rng.integers(1, 5))
        data = rng.integers(-4, 5, rng.integers(5, 7, rank)).astype(["float32", "int32"][seed % 2])
        numbers = [[int(n) for n in rng.integers(1, 3, rank)] for _ in range(3)]
        _check(_old_model(data, function, *numbers), data)


def _padding(data: Array, value: Any, **options: Any) -> bytes:
    dtype = data.dtype.name
    stored: dict[str, Any] = {"scale": (0.5,), "zero_point": (3,)} if dtype == "int8" else {}
    tensors = [
        TensorSpec("x", data.shape, dtype, **stored),
        TensorSpec("value", (), dtype, np.array(value, data.dtype), **stored),
        TensorSpec("y", (1,) * data.ndim, dtype, **stored),
    ]
    operator = OperatorSpec(
        *("STABLEHLO_PAD", ["x", "value"], ["y"], "StablehloPadOptions"), options
    )
    return build_model(tensors, [operator], ["x"], ["y"])


@needs_litert
@pytest.mark.parametrize("dtype", ["float32", "int8", "int32", "int64", "bool"])
def test_paddings_equal_litert(dtype: str) -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        rank = int(rng.integers(1, 5))
        data = rng.integers(-90, 90, rng.integers(3, 6, rank)).astype(dtype)
        low, high = (rng.integers(-2 if seed % 2 else 0, 3, rank) for _ in range(2))
        inner = rng.integers(0, 3, rank) if seed % 3 else np.zeros(rank, int)
        options = {"edgePaddingLow": low, "edgePaddingHigh": high, "interiorPadding": inner}
        vectors = {name: [int(n) for n in each] for name, each in options.items()}
        if any(
            n + (n - 1) * i + a + b < 1
            for n, i, a, b in zip(data.shape, inner, low, high, strict=True)
        ):
            continue
        _check(_padding(data, 1 if dtype == "bool" else 7, **vectors), data)


def _refusal(body: str = "ADD", shape: tuple[int, ...] = (4, 4), **options: Any) -> str:
    given = {"windowDimensions": [2, 2], "windowStrides": [1, 1], **options}
    with pytest.raises(MicrogenError) as caught:
        _load(_model(np.zeros(shape, np.float32), 0, shape, body, **given))
    said = str(caught.value)
    assert "\n" not in said
    return said


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"body": "SQUARED_DIFFERENCE"}, "reduces windows by SQUARED_DIFFERENCE"),
        ({"windowDimensions": [2]}, "has WindowDimensions [2] for float32[4,4]"),
        ({"windowStrides": [0, 1]}, "has WindowStrides [0, 1]"),
        ({"windowDimensions": [5, 1]}, "has a window of 5 elements, 1 apart"),
        ({"windowDimensions": [1, 2**40]}, "has windows of [1, 1099511627776]"),
        ({"windowDilations": [2**40, 1]}, "1099511627776 apart"),
        ({"padding": [1]}, "has Padding [1] for float32[4,4]; two numbers each"),
        ({"padding": [-2, -2, 0, 0]}, "removes all of float32[4,4]"),
        ({"padding": [2**40, 0, 0, 0]}, "at most 2147483647 are accepted"),
        ({"baseDilations": [2**40, 1]}, "at most 2147483647 are accepted"),
        ({"bodySubgraphIndex": 7}, "runs subgraph 7, which the file does not have"),
        ({"bodySubgraphIndex": 0}, "subgraph 0, which"),
    ],
)
def test_refusals(options: dict[str, Any], words: str) -> None:
    assert words in _refusal(**options)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"edgePaddingLow": [1]}, "pads float32[4,4] by [1], [0, 0] and, between elements, [0, 0]"),
        ({"interiorPadding": [-1, 0]}, "between elements, [-1, 0]; one number each"),
        ({"edgePaddingLow": [-2, 0], "edgePaddingHigh": [-2, 0]}, "removes all of float32[4,4]"),
        ({"edgePaddingHigh": [2**40, 0]}, "at most 2147483647 are accepted"),
        ({"interiorPadding": [2**40, 0]}, "at most 2147483647 are accepted"),
        ({"edgePaddingLow": [-(2**63), 0]}, "removes all of float32[4,4]"),
    ],
)
def test_refusals_of_paddings(options: dict[str, Any], words: str) -> None:
    with pytest.raises(MicrogenError) as caught:
        _load(_padding(np.zeros((4, 4), np.float32), 0, **options))
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_refusals_of_the_older_form() -> None:
    def said(function: int, *numbers: list[int]) -> str:
        with pytest.raises(MicrogenError) as caught:
            _load(_old_model(np.zeros((4, 4), np.float32), function, *numbers))
        return str(caught.value)

    ones = [1, 1]
    assert "reduces windows by function 5 of ReduceWindowFunction" in said(5, ones, ones, ones)
    assert "has WindowStrides [0, 1] for float32[4,4]" in said(1, ones, [0, 1], ones)
    assert "has WindowDimensions [1] for float32[4,4]" in said(1, [1], ones, ones)
