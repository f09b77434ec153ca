"""Elementwise operators and reductions, against numpy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from microgen import relay
from microgen.base.errors import UnsupportedError
from microgen.graph.ir.graph import Array
from microgen.relay import Function
from microgen.relay.builder import Namespace
from tests.frontends.relay import definitions
from tests.frontends.relay.evaluated import close, computed, graph_of, var

SHAPES = [((2, 3, 4, 5), (2, 3, 4, 5)), ((2, 3, 4, 5), (3, 1, 1)), ((4,), (2, 3, 1)), ((3, 2), ())]
BINARY: dict[str, Callable[..., Array]] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "maximum": np.maximum,
    "minimum": np.minimum,
}
COMPARISONS: dict[str, Callable[..., Array]] = {
    "equal": np.equal,
    "not_equal": np.not_equal,
    "less": np.less,
    "less_equal": np.less_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
}
UNARY: dict[str, Callable[[Array], Array]] = {
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "tanh": np.tanh,
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "abs": np.abs,
    "negative": np.negative,
    "copy": lambda x: x,
    "nn.relu": lambda x: np.maximum(x, 0),
    "nn.dropout": lambda x: x,
}
_POSITIVE = ("log", "sqrt", "rsqrt")


def operator(name: str) -> Callable[..., Any]:
    return getattr(relay.nn, name[3:]) if name.startswith("nn.") else getattr(Namespace(""), name)


def drawn(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Array:
    if dtype == "float32":
        return np.asarray(rng.standard_normal(shape) * 3, np.float32)
    if dtype == "bool":
        return np.asarray(rng.integers(0, 2, shape), np.bool_)
    info = np.iinfo(dtype)
    return np.asarray(rng.integers(info.min, info.max, shape, endpoint=True), dtype)


@pytest.mark.parametrize("shapes", SHAPES)
@pytest.mark.parametrize("dtype", ["float32", "int32"])
@pytest.mark.parametrize("name", BINARY)
def test_arithmetic(name: str, dtype: str, shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    rng = np.random.default_rng(1)
    a, b = (drawn(rng, shape, dtype) for shape in shapes)
    params = {var("a", a): a, var("b", b): b}
    (found,) = computed(operator(name)(*params), params)
    close(found, np.asarray(BINARY[name](a, b)))  # numpy's integers wrap


@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_division(dtype: str) -> None:
    rng = np.random.default_rng(1)
    a = drawn(rng, (40,), dtype)
    b = np.array([3, -7, 2, -1, 5] * 8, dtype)
    params = {var("a", a): a, var("b", b): b}
    (found,) = computed(relay.divide(*params), params)
    exact = a.astype(np.float64) / b
    close(found, (np.trunc(exact) if dtype == "int32" else exact).astype(dtype))


@pytest.mark.parametrize("dtype", ["int8", "int16"])
@pytest.mark.parametrize("name", ["maximum", "minimum"])
def test_extrema_of_narrow_integers(name: str, dtype: str) -> None:
    rng = np.random.default_rng(2)
    a, b = drawn(rng, (3, 50), dtype), drawn(rng, (50,), dtype)
    params = {var("a", a): a, var("b", b): b}
    (found,) = computed(operator(name)(*params), params)
    close(found, BINARY[name](a, b))


@pytest.mark.parametrize("dtype", ["float32", "int8", "int16", "int32", "int64"])
@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons(name: str, dtype: str) -> None:
    rng = np.random.default_rng(3)
    a = drawn(rng, (2, 30), dtype)
    b = np.where(rng.integers(0, 2, (2, 30)), a, drawn(rng, (2, 30), dtype)).astype(dtype)
    params = {var("a", a): a, var("b", b): b}
    (found,) = computed(operator(name)(*params), params)
    close(found, COMPARISONS[name](a, b))


def test_logic() -> None:
    a, b = np.array([0, 0, 1, 1], bool), np.array([0, 1, 0, 1], bool)
    params = {var("a", a): a, var("b", b): b}
    x, y = params
    body = relay.Tuple([relay.logical_and(x, y), relay.logical_or(x, y), relay.logical_not(x)])
    for found, expected in zip(computed(body, params), (a & b, a | b, ~a), strict=True):
        close(found, expected)


@pytest.mark.parametrize("dtype", ["float32", "int8", "int64"])
@pytest.mark.parametrize("condition", ["bool", "int32"])
def test_where(condition: str, dtype: str) -> None:
    rng = np.random.default_rng(4)
    c = rng.integers(0, 2, (3, 1)).astype(condition)
    a, b = drawn(rng, (3, 4), dtype), drawn(rng, (4,), dtype)
    params = {var("c", c): c, var("a", a): a, var("b", b): b}
    (found,) = computed(relay.where(*params), params)
    close(found, np.where(c.astype(bool), a, b))


@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one_value(name: str) -> None:
    rng = np.random.default_rng(5)
    x = drawn(rng, (2, 3, 4, 5), "float32")
    x = np.abs(x) + np.float32(0.1) if name in _POSITIVE else x
    params = {var("x", x): x}
    (found,) = computed(operator(name)(*params), params)
    close(found, UNARY[name](x.astype(np.float64)).astype(np.float32))


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32"])
def test_relu_of_integers(dtype: str) -> None:
    x = drawn(np.random.default_rng(6), (100,), dtype)
    (found,) = computed(relay.nn.relu(next(iter(params := {var("x", x): x}))), params)
    close(found, np.maximum(x, 0))


@pytest.mark.parametrize("name", ["abs", "negative"])
@pytest.mark.parametrize("shape", [(), (100,), (2, 3, 4)])
def test_signs_of_int32(name: str, shape: tuple[int, ...]) -> None:
    x = drawn(np.random.default_rng(8), shape, "int32")
    x.flat[0] = np.iinfo(np.int32).min  # wraps
    (found,) = computed(operator(name)(next(iter(params := {var("x", x): x}))), params)
    assert found.shape == shape
    close(found, UNARY[name](x))


@pytest.mark.parametrize("dtype", ["float32", "int8", "int32"])
@pytest.mark.parametrize("limits", [(0.0, 6.0), (-1.0, 1.0), (-2.0, 5.0), (-1e9, 3.0), (4.0, 4.0)])
def test_clip(limits: tuple[float, float], dtype: str) -> None:
    rng = np.random.default_rng(7)
    x = drawn(rng, (100,), dtype)
    (found,) = computed(relay.clip(next(iter(params := {var("x", x): x})), *limits), params)
    close(found, np.clip(x.astype(np.float64), *limits).astype(dtype))


def test_clips_that_a_kernel_can_do_are_done_by_the_node_before() -> None:
    from microgen.compiler import passes

    x = relay.var("x", shape=(4,))
    ops = [
        n.op for n in passes.run(graph_of(Function([x], relay.clip(relay.add(x, x), 0, 6)))).nodes
    ]
    assert ops == ["add"]


def test_clip_of_integers_by_a_fraction_is_refused() -> None:
    x = relay.var("x", shape=(4,), dtype="int32")
    with pytest.raises(UnsupportedError, match=r"clip has the bound 0\.5"):
        graph_of(Function([x], relay.clip(x, 0.5, 2)))


@pytest.mark.parametrize("source", ["float32", "int8", "int32", "int64", "bool"])
@pytest.mark.parametrize("target", ["float32", "int8", "int16", "int32", "int64", "bool"])
def test_cast(source: str, target: str) -> None:
    rng = np.random.default_rng(8)
    x = np.asarray(rng.integers(-100, 100, (50,)), source)
    (found,) = computed(relay.cast(next(iter(params := {var("x", x): x})), target), params)
    close(found, x.astype(target))


@pytest.mark.parametrize("alpha", [0.25, 0.1, 1.5])
def test_leaky_relu(alpha: float) -> None:
    x = drawn(np.random.default_rng(9), (50,), "float32")
    params = {var("x", x): x}
    (found,) = computed(relay.nn.leaky_relu(*params, alpha=alpha), params)
    close(found, np.where(x > 0, x, x * np.float32(alpha)))


@pytest.mark.parametrize("axis", [1, 3, -1])
def test_prelu(axis: int) -> None:
    rng = np.random.default_rng(10)
    x = drawn(rng, (2, 3, 4, 5), "float32")
    alpha = drawn(rng, (x.shape[axis],), "float32")
    params = {var("x", x): x, var("a", alpha): alpha}
    (found,) = computed(relay.nn.prelu(*params, axis=axis), params)
    close(found, np.where(x > 0, x, x * definitions.along(alpha, axis % 4, 4)))


@pytest.mark.parametrize("axis", [-1, 0, 1, 2])
def test_softmax(axis: int) -> None:
    x = drawn(np.random.default_rng(11), (2, 3, 4), "float32")
    params = {var("x", x): x}
    (found,) = computed(relay.nn.softmax(*params, axis=axis), params)
    close(found, definitions.softmax(x, axis))
    (logs,) = computed(relay.nn.log_softmax(*params, axis=axis), params)
    close(logs, np.log(definitions.softmax(x, axis).astype(np.float64)).astype(np.float32))


@pytest.mark.parametrize("axis", [(1,), (2, 3), ()])
def test_l2_normalize(axis: tuple[int, ...]) -> None:
    x = drawn(np.random.default_rng(12), (2, 3, 4, 5), "float32")
    params = {var("x", x): x}
    (found,) = computed(relay.nn.l2_normalize(*params, eps=0.5, axis=axis), params)
    squares = (x.astype(np.float64) ** 2).sum(axis=axis or None, keepdims=True)
    close(found, (x / np.sqrt(np.maximum(squares, 0.5))).astype(np.float32))


REDUCED = [
    (None, False),
    ((1,), False),
    (-1, False),
    ((0, 2), False),
    ((1,), True),
    ((-1, 0), True),
]


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize(("axis", "exclude"), REDUCED)
@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        *((name, "float32") for name in ("sum", "mean", "max", "min")),
        *((name, "int32") for name in ("sum", "max", "min")),
        *((name, "int8") for name in ("max", "min")),
    ],
)
def test_reductions(name: str, dtype: str, axis: Any, exclude: bool, keepdims: bool) -> None:
    x = drawn(np.random.default_rng(13), (2, 3, 4), dtype)
    params = {var("x", x): x}
    body = getattr(relay, name)(*params, axis=axis, keepdims=keepdims, exclude=exclude)
    (found,) = computed(body, params)
    axes = tuple(range(3)) if axis is None else tuple(a % 3 for a in np.atleast_1d(axis))
    if exclude:
        axes = tuple(a for a in range(3) if a not in axes)
    wide = x.astype(np.float64) if dtype == "float32" else x.astype(np.int64)
    expected = np.asarray(getattr(np, name)(wide, axis=axes, keepdims=keepdims))
    close(found, expected.astype(dtype))


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [None, 0, -1, (1,)])
@pytest.mark.parametrize("dtype", ["float32", "int8", "int32"])
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_positions_of_extrema(name: str, dtype: str, axis: Any, keepdims: bool) -> None:
    x = np.asarray(np.random.default_rng(14).integers(-3, 3, (2, 3, 4)), dtype)
    params = {var("x", x): x}
    (found,) = computed(getattr(relay, name)(*params, axis=axis, keepdims=keepdims), params)
    plain = axis[0] if isinstance(axis, tuple) else axis
    close(found, np.asarray(getattr(np, name)(x, axis=plain, keepdims=keepdims), np.int32))


REFUSED = [
    ("add", "int8", r"add of int8\[4\] has no kernel.*float32, int32"),
    ("multiply", "int16", r"multiply of int16\[4\] has no kernel"),
    ("subtract", "bool", r"subtract of bool\[4\] has no kernel"),
    ("add", "float64", r"float64.* has a dtype that no kernel has"),
]


@pytest.mark.parametrize(("name", "dtype", "sentence"), REFUSED)
def test_what_kernels_would_compute_otherwise_is_refused(
    name: str, dtype: str, sentence: str
) -> None:
    x = relay.var("x", shape=(4,), dtype=dtype)
    with pytest.raises(UnsupportedError, match=sentence):
        graph_of(Function([x], getattr(relay, name)(x, x)))
