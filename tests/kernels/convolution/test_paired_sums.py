"""The bound of the sums of paired weights: no partial sum leaves it, and some nearly reach it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from microgen import kernels
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import Array, ArrayType, DType, Quant
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs
from microgen.kernels.requantization import paired
from tests.kernels.conformance import conformance as c

LIMIT = 2**31
SLACK = 2 * 255 * 32640  # the products of one word before its second half is added


def _partial_sums(weights: Array, values: Array, start: int) -> list[int]:
    """The sums after each instruction, as paired_s8.h describes them."""
    sums = [start]
    for w, v in zip(weights.reshape(-1, 4), values.reshape(-1, 4), strict=True):
        first, second = w[::2].astype(int), w[1::2].astype(int)
        above = v[::2].astype(int) - 127
        low = 256 * v[1::2].astype(int) - above
        sums.append(sums[-1] + int((above * (256 * first + second)).sum()))
        sums.append(sums[-1] + int((low * second).sum()))
    return sums


def _extreme(weights: Array, *, is_largest: bool) -> Array:
    """The values with the largest or the least sum."""
    above = (weights > 0) == is_largest
    return np.where(above, 127, -128).astype(np.int8)


@pytest.mark.parametrize("seed", range(40))
def test_no_partial_sum_is_beyond_the_bound(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count = 4 * int(rng.integers(1, 200))
    weights = rng.integers(-127, 128, count).astype(np.int8)
    if seed % 3 == 0:
        weights = np.abs(weights) * (1 if seed % 2 else -1)
    arguments = {"rows": 1, "run": count}
    missing = int(paired.missing(weights[None], arguments)[0])
    for start in (0, 256 * missing, int(rng.integers(-(2**24), 2**24))):
        bound = int(paired.reached(start, weights[None], arguments)[0])
        samples = [_extreme(weights, is_largest=largest) for largest in (False, True)]
        samples += [rng.choice([-128, 127], count).astype(np.int8) for _ in range(20)]
        samples += [rng.integers(-128, 128, count).astype(np.int8) for _ in range(20)]
        reached = max(max(map(abs, _partial_sums(weights, x, start))) for x in samples)
        assert reached <= bound
        assert reached >= bound - SLACK


def _case(depth: int, *, is_largest: bool) -> c.Case:
    """A 1x1 convolution of four pixels, whose first filter has the largest or the least sum that
    its weights allow."""
    rng = np.random.default_rng(depth)
    weights = rng.integers(-127, 128, (4, 1, 1, depth)).astype(np.int8)
    values = np.tile(_extreme(weights[0, 0, 0], is_largest=is_largest), (1, 1, 4, 1))
    data = c.Tensor(ArrayType(values.shape, DType.INT8, Quant((0.05,), (0,))), values)
    kind = ArrayType(weights.shape, DType.INT8, Quant((0.01,), (0,)))
    weight = c.Tensor(kind, weights, is_constant=True)
    attrs = Conv2DAttrs((1, 1), (1, 1), "VALID", Activation.NONE, Rounding.DOUBLE)
    out = c.quant(c.output_scale(data, weight, depth), 3)
    return c.Case(f"{depth}", "nn.conv2d", attrs, (data, weight, c.bias(np.zeros(4))), out)


def test_sums_up_to_the_bound_do_not_leave_int32(tmp_path: Path) -> None:
    """The host's compiler traps sums that do. A sum of all magnitudes would refuse these depths."""
    (kernel,) = (k for k in kernels.registry()["nn.conv2d"] if k.symbol == "mg_conv2d_s8_paired")
    deepest = []
    for depth in range(700, 1500, 4):
        case = _case(depth, is_largest=True)
        if not kernel.refusal(case.node, case.graph):
            deepest.append(depth)
    magnitudes = np.abs(_case(deepest[-3], is_largest=True).inputs[1].array[:, 0, 0].astype(int))
    products = 255 * magnitudes[:, ::2] + 128 * magnitudes[:, 1::2]
    assert 256 * products.sum(axis=1).max() > LIMIT
    both = [_case(n, is_largest=largest) for n in deepest[-3:] for largest in (False, True)]
    c.check(both, tmp_path)
