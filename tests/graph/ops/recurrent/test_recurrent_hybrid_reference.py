"""nn.recurrent_hybrid: its integers against LiteRT's fully connected layers (the whole layer is
compared with LiteRT's loops in tests/frontends/tflite/loops/test_cells.py), and its bound."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import Array, ArrayType, DType
from microgen.graph.ops import hybrid
from microgen.graph.ops.balls import Ball
from microgen.graph.ops.base import Inexact, Operands
from microgen.graph.ops.dense.dense import DENSE_HYBRID, DenseHybridAttrs
from microgen.graph.ops.recurrent.recurrent_hybrid import OP, RecurrentHybridAttrs
from microgen.graph.ops.recurrent.recurrent_steps import ActivationFormula
from tests.kernels.conformance import conformance as c
from tests.kernels.conformance.litert_oracle import float_type
from tests.kernels.recurrent.recurrent_hybrid_cases import random_case, sized


def _operands(case: c.Case) -> Operands:
    arrays = tuple(tensor.array for tensor in case.inputs)
    return Operands(arrays, case.input_types, (case.output_type,))


@pytest.mark.parametrize("seed", range(12))
def test_the_sums_are_those_of_hybrid_dense_layers(seed: int) -> None:
    """A layer of one step with the function max(x, 0)."""
    rng = np.random.default_rng(seed)
    attrs = RecurrentHybridAttrs("rnn", (ActivationFormula("relu"),), asymmetric=seed % 2 == 0)
    case = sized(rng, attrs, (1, 3, 7, 5), ("row", "tensor"), 1)
    data, weight, own, bias, hidden = case.inputs
    total: Array = np.zeros((3, 5), np.float32)
    for x, w in ((data, weight), (hidden, own)):
        kind = float_type((3, 5))
        one = DenseHybridAttrs(Activation.NONE, attrs.asymmetric, keep_num_dims=False)
        given = (x.array.reshape(3, -1), w.array)
        types = (float_type(given[0].shape), w.type)
        (found,) = DENSE_HYBRID.reference(one, Operands(given, types, (kind,)))
        total = total + found
    (expected,) = OP.reference(attrs, _operands(case))
    np.testing.assert_allclose(expected[0], np.maximum(total + bias.array, 0), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("asymmetric", [False, True])
def test_errors_of_values_bound_the_quantized_ones(asymmetric: bool) -> None:
    rng = np.random.default_rng(3)
    for number in range(800):
        values = rng.normal(rng.normal(), 1, 6).astype(np.float32)
        if number % 3 == 0:
            values[:2] = np.float32(-1), np.float32(1)  # the zero point is a tie
        error = np.full(6, 10.0 ** rng.uniform(-8, 0))
        integers, scale, farther = hybrid.quantized_ball(
            Ball.of(values, error), asymmetric=asymmetric
        )
        other = (values + rng.uniform(-1, 1, 6) * error).astype(np.float32)
        # Rounding to float32 may move a value beyond its error.
        farther = farther + 1e-6 * np.abs(values)
        found, own = hybrid.quantized(other, asymmetric=asymmetric)
        apart = np.abs(found * np.float64(own) - integers * np.float64(scale))
        assert (apart <= farther + 1e-12).all(), (values, other)


@pytest.mark.parametrize("seed", range(12))
def test_inexact_inputs_remain_within_the_bound(seed: int) -> None:
    case = random_case(seed)
    data = case.inputs[0].array
    error = np.full(data.shape, 1e-4)
    errors = (error, *(np.zeros(each.array.shape) for each in case.inputs[1:]))
    expected = OP.reference(case.attrs, _operands(case))  # type: ignore[arg-type]
    bound = OP.bound.of(case.attrs, Inexact(_operands(case), errors, expected, (None,)))[0]
    for _ in range(5):
        noise = np.random.default_rng(seed).uniform(-1, 1, data.shape) * error * 0.99
        moved = (data + noise).astype(np.float32)
        operands = replace(_operands(case), inputs=(moved, *_operands(case).inputs[1:]))
        (found,) = OP.reference(case.attrs, operands)  # type: ignore[arg-type]
        assert (np.abs(found.astype(np.float64) - expected[0]) <= bound).all()


def test_the_bound_is_small_if_the_inputs_are_exact() -> None:
    case = random_case(0)
    expected = OP.reference(case.attrs, _operands(case))  # type: ignore[arg-type]
    errors = tuple(np.zeros(each.array.shape) for each in case.inputs)
    inexact = Inexact(_operands(case), errors, expected, expected)
    assert OP.bound.of(case.attrs, inexact)[0].max() < 0.1


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"couples": True, "kind": "lstm"}, "couples gates"),
        ({"clip": 1.0}, "or a clip"),
        ({"functions": (ActivationFormula("cosine"),) * 2}, "no function"),
    ],
)
def test_what_is_not_computed_is_refused(change: dict[str, object], sentence: str) -> None:
    case = random_case(1)
    attrs = replace(case.attrs, **change)  # type: ignore[type-var]
    found = OP.check(attrs, case.input_types, (case.output_type,))  # type: ignore[arg-type]
    assert sentence in (found or "")


def test_wrong_shapes_are_refused() -> None:
    case = random_case(0)
    types = list(case.input_types)
    types[3] = ArrayType((7, 7), DType.FLOAT32)
    with pytest.raises(ValueError, match="the bias is"):
        OP.infer(case.attrs, tuple(types))  # type: ignore[arg-type]
