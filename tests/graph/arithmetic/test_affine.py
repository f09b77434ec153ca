"""Affine forms equal the reference for all pairs, by a computation of their own."""

from __future__ import annotations

import numpy as np
import pytest

from microgen.graph.arithmetic.affine import Affine, affine_sum, affine_value
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import Array, ArrayType, DType
from microgen.graph.ops import registry
from microgen.graph.ops.base import Operands
from microgen.graph.ops.elementwise.addition import AddAttrs, AdditionAttrs, SubtractAttrs
from tests.kernels.conformance import conformance as c

COUNT = 60


def _results(
    attrs: AdditionAttrs, scales: tuple[float, float, float], zeros: tuple[int, int, int]
) -> Array:
    shapes = ((256, 1), (1, 256), (256, 256))
    lhs, rhs, output = (
        ArrayType(shape, DType.INT8, c.quant(scale, zero))
        for shape, scale, zero in zip(shapes, scales, zeros, strict=True)
    )
    x = np.arange(-128, 128, dtype=np.int8)
    operands = Operands((x.reshape(256, 1), x.reshape(1, 256)), (lhs, rhs), (output,))
    op = "subtract" if isinstance(attrs, SubtractAttrs) else "add"
    (found,) = registry()[op].reference(attrs, operands)
    return found


def _in_c(form: Affine) -> Array:
    """The form in int32, as C computes it. Overflow would wrap, and then results would differ."""
    x = np.arange(-128, 128, dtype=np.int32)
    right = x * np.int32(form.factors[1]) + np.int32(form.constant)
    sums = (x * np.int32(form.factors[0]))[:, None] + right[None, :]
    assert sums.dtype == np.int32
    results: Array = np.clip(sums >> form.shift, form.low, form.high)
    return results


def _random(seed: int) -> tuple[AdditionAttrs, Array, tuple[float, float]]:
    rng = np.random.default_rng(seed)
    lhs, rhs = (float(s) for s in 2.0 ** rng.uniform(-8, 1, 2))
    output = (lhs + rhs) * float(2.0 ** rng.uniform(-3, 3))
    zeros = [int(z) for z in rng.choice([-128, 127, *rng.integers(-128, 128, 4)], 3)]
    attrs = (AddAttrs, SubtractAttrs)[seed % 2](Activation.NONE)
    results = _results(attrs, (lhs, rhs, output), (zeros[0], zeros[1], zeros[2]))
    f32 = np.float32
    lhs, rhs, output = float(f32(lhs)), float(f32(rhs)), float(f32(output))
    return attrs, results, (lhs / output, (-1) ** (seed % 2) * rhs / output)


def test_usual_scales_have_an_exact_form() -> None:
    found = 0
    for seed in range(COUNT):
        _, results, slopes = _random(seed)
        form = affine_sum(results, slopes)
        if form is not None:
            found += 1
            np.testing.assert_array_equal(_in_c(form), results)
    assert found >= COUNT * 0.9


@pytest.mark.parametrize("zero", [-128, 0, 127])
def test_ties_go_away_from_zero(zero: int) -> None:
    results = _results(AddAttrs(Activation.NONE), (0.5, 0.5, 1.0), (zero, -zero - 1, zero))
    form = affine_sum(results, (0.5, 0.5))
    assert form
    np.testing.assert_array_equal(_in_c(form), results)


def test_clamped_ranges_are_kept() -> None:
    results = np.clip(_results(AddAttrs(Activation.NONE), (0.3, 0.21, 0.37), (3, 4, 5)), -7, 90)
    form = affine_sum(results, (0.3 / 0.37, 0.21 / 0.37), -7, 90)
    assert form
    assert (form.low, form.high) == (-7, 90)
    np.testing.assert_array_equal(_in_c(form), results)


def test_one_other_result_refutes_the_form() -> None:
    results = _results(AddAttrs(Activation.NONE), (0.3, 0.21, 0.37), (3, 4, 5)).copy()
    results[100, 130] += 1
    assert affine_sum(results, (0.3 / 0.37, 0.21 / 0.37)) is None


@pytest.mark.parametrize("count", [1, 2, 3, 9, 64, 125, 256])
def test_means_need_no_division(count: int) -> None:
    sums = np.arange(-128 * count, 127 * count + 1)
    means = np.sign(sums) * ((np.abs(sums) + count // 2) // count)
    form = affine_value(means, -128 * count, 1 / count)
    assert form
    products = sums * form.factors[0] + form.constant
    assert np.abs(products).max() < 2**31
    np.testing.assert_array_equal(np.clip(products >> form.shift, -128, 127), means)


def test_slopes_that_are_not_finite_have_no_form() -> None:
    assert affine_sum(np.zeros((256, 256), np.int8), (float("inf"), 1.0)) is None
