"""The formulas, compared with Python's own functions and with the definitions of ONNX."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
import pytest

from microgen.graph.ir.graph import ArrayType, DType
from microgen.graph.ops.base import Inexact, Operands
from microgen.graph.ops.unary.real_function import FORMULAS, OP, RealFunctionAttrs
from tests.kernels.unary.test_real_function import ATTRS


def _softplus(x: float) -> float:
    return math.log1p(math.exp(x))


def _limited(x: float, low: float, high: float) -> float:
    return min(max(x, low), high)


EXPECTED: Mapping[str, Callable[..., float]] = {
    **{name: getattr(math, name) for name in ("erf", "tan", "asin", "acos", "atan")},
    **{name: getattr(math, name) for name in ("sinh", "cosh", "asinh", "acosh", "atanh")},
    "softplus": _softplus,
    "mish": lambda x: x * math.tanh(_softplus(x)),
    "swish": lambda x, a: x / (1 + math.exp(-a * x)),
    "gelu": lambda x: x * (1 + math.erf(x / math.sqrt(2))) / 2,
    "gelu_tanh": lambda x: (
        x / 2 * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))
    ),
    "scaled_elu": lambda x, a, b, g: g * x if x > 0 else a * (math.exp(x / b) - 1),
    "reciprocal": lambda x: 1 / x,
    "bounded": _limited,
    "hard_sigmoid": lambda x, a, b: _limited(a * x + b, 0, 1),
    "shrink": lambda x, a, b: x - b if x > a else x + b if x < -a else 0,
    "sign": lambda x: (x > 0) - (x < 0),
    "softsign": lambda x: x / (1 + abs(x)),
    "thresholded_relu": lambda x, a: x if x > a else 0,
}
VALUES = np.concatenate([np.linspace(-4, 4, 161), [0.001, -0.001, 11.0, -11.0]]).astype(np.float32)


def _value(attrs: RealFunctionAttrs, x: float) -> float:
    count = EXPECTED[attrs.function].__code__.co_argcount - 1 if attrs.alpha or attrs.beta else 0
    try:
        return EXPECTED[attrs.function](x, *map(float, attrs.numbers[:count]))
    except (ValueError, ZeroDivisionError):
        return math.nan


def _result(attrs: RealFunctionAttrs, x: np.ndarray) -> np.ndarray:
    kind = ArrayType(x.shape, DType.FLOAT32)
    (found,) = OP.reference(attrs, Operands((x,), (kind,), (kind,)))
    return found


def test_every_formula_is_compared() -> None:
    assert set(EXPECTED) == set(FORMULAS)


@pytest.mark.parametrize("attrs", ATTRS, ids=str)
def test_formulas(attrs: RealFunctionAttrs) -> None:
    expected = np.array([_value(attrs, x) for x in VALUES.tolist()])
    found = _result(attrs, VALUES)
    known = np.isfinite(expected)
    assert known.sum() > 20
    np.testing.assert_allclose(found[known], expected[known], rtol=3e-7, atol=3e-7)


@pytest.mark.parametrize("attrs", ATTRS, ids=str)
def test_results_of_inexact_arguments_are_within_the_bound(attrs: RealFunctionAttrs) -> None:
    rng = np.random.default_rng(0)
    x = np.concatenate([VALUES, rng.normal(0, 3, 2000)]).astype(np.float32)
    error = np.abs(rng.normal(0, 1, x.shape)) * 10.0 ** rng.uniform(-7, 0, x.shape)
    near = (x + rng.uniform(-1, 1, x.shape) * error).astype(np.float32)
    kind = ArrayType(x.shape, DType.FLOAT32)
    expected = _result(attrs, x)
    real = np.abs(near.astype(np.float64) - x)
    inexact = Inexact(Operands((x,), (kind,), (kind,)), (real,), (expected,), (None,))
    (bound,) = OP.bound.of(attrs, inexact)
    found = _result(attrs, near)
    known = np.isfinite(found) & np.isfinite(expected)
    distance = np.abs(found.astype(np.float64) - expected)
    assert np.all(distance[known] <= bound[known])
    assert np.isfinite(bound[known]).mean() > 0.4


def test_unknown_functions_and_numbers_are_refused() -> None:
    kind = ArrayType((2,), DType.FLOAT32)
    assert "'nothing' is no function" in str(OP.check(RealFunctionAttrs("nothing"), [kind], [kind]))
    nan = RealFunctionAttrs("bounded", math.nan)
    assert "none may be NaN" in str(OP.check(nan, [kind], [kind]))
    integers = ArrayType((2,), DType.INT32)
    assert "must be float32" in str(OP.check(RealFunctionAttrs("erf"), [integers], [integers]))
