from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import ArrayType, DType
from microgen.graph.ops.dense.dense import DenseAttrs
from tests.kernels.conformance import conformance as c
from tests.support.sampling import seeds

BOTH = (Rounding.DOUBLE, Rounding.SINGLE)


def _case(
    seed: int,
    name: str,
    data: tuple[int, ...] = (2, 7),
    units: int = 5,
    activation: Activation = Activation.NONE,
    rounding: Rounding = Rounding.SINGLE,
    per_channel: bool = False,
    biased: bool = True,
    keep_num_dims: bool = False,
    scale: float | None = None,
    times_least: float | None = None,
    largest_bias: int = 9000,
) -> c.Case:
    rng = np.random.default_rng(seed)
    x = c.int8(rng, data, c.random_quant(rng))
    w = c.weight(rng, (units, data[-1]), 0 if per_channel else None)
    offsets = rng.choice([-largest_bias, largest_bias, 77], units)
    inputs = (x, w, c.bias(offsets)) if biased else (x, w)
    if times_least:
        scale = times_least * c.least_output_scale(x, w, data[-1])
    scale = scale or c.output_scale(x, w, data[-1])
    out = c.quant(scale, int(rng.integers(-128, 128)))
    return c.Case(name, "nn.dense", DenseAttrs(activation, rounding, keep_num_dims), inputs, out)


def _random(seed: int) -> c.Case:
    rng = np.random.default_rng(1000 + seed)
    lead = tuple(int(n) for n in rng.integers(1, 4, int(rng.integers(1, 4))))
    return _case(
        seed,
        f"random {seed}",
        data=(*lead, int(rng.integers(1, 70))),
        units=int(rng.integers(1, 20)),
        activation=list(Activation)[int(rng.integers(4))],
        rounding=BOTH[int(rng.integers(2))],
        per_channel=bool(rng.integers(2)),
        biased=bool(rng.integers(2)),
        keep_num_dims=bool(rng.integers(2)),
    )


def _float(seed: int) -> c.Case:
    rng = np.random.default_rng(2000 + seed)
    features, units = int(rng.integers(1, 200)), int(rng.integers(1, 20))
    lead = tuple(int(n) for n in rng.integers(1, 4, int(rng.integers(1, 4))))
    weights = c.float_weights(rng, (units, features), 0, biased=bool(rng.integers(2)))
    activation = list(Activation)[int(rng.integers(4))]
    attrs = DenseAttrs(activation, Rounding.SINGLE, keep_num_dims=bool(rng.integers(2)))
    inputs = (c.float32(rng, (*lead, features)), *weights)
    return c.Case(f"float {seed}", "nn.dense", attrs, inputs, None, DType.FLOAT32)


def _near_ties(rounding: Rounding, per_channel: bool) -> c.Case:
    """A case of sums of about 2**30 that are very near to ties.

    A multiplier with 24 good bits instead of 31 would give other results.
    """
    rng = np.random.default_rng(8)
    ties = np.arange(-100, 100) + 0.5
    x = c.Tensor(ArrayType((1, 1), DType.INT8, c.quant(0.1, 5)), np.array([[5]], np.int8))
    w = c.weight(rng, (ties.size * 16, 1), 0 if per_channel else None)
    assert w.type.quant is not None
    out = c.quant(x.type.scale * min(w.type.quant.scale) * 1e7, 0)
    scales = x.type.scale * np.array(w.type.quant.scale) / out.scale[0]
    sums = np.rint(np.repeat(ties, 16) / scales) + np.tile(np.arange(-40, 40, 5), ties.size)
    name = f"sums near ties, {rounding.value}, per channel {per_channel}"
    attrs = DenseAttrs(Activation.NONE, rounding, keep_num_dims=False)
    return c.Case(name, "nn.dense", attrs, (x, w, c.bias(sums)), out)


def _int16(
    seed: int,
    name: str,
    data: tuple[int, ...] = (2, 7),
    units: int = 5,
    *,
    activation: Activation = Activation.NONE,
    per_channel: bool = True,
    bias: DType | None = DType.INT64,
    largest_bias: float = 2.0**24,
    times_scale: float = 1.0,
    rounding: Rounding = Rounding.REAL,
) -> c.Case:
    """A case of int16.

    Its output scale is ``times_scale`` times one that spreads random sums over most of int16.
    """
    rng = np.random.default_rng(seed)
    x = c.int16(rng, data, 10 ** rng.uniform(-5, -2))
    w = c.weight(rng, (units, data[-1]), 0 if per_channel else None)
    offsets = np.rint(rng.uniform(-largest_bias, largest_bias, units))
    inputs = (x, w, c.bias(offsets, bias)) if bias else (x, w)
    assert w.type.quant is not None
    usual = x.type.scale * max(w.type.quant.scale) * 40 * float(np.sqrt(data[-1]))
    attrs = DenseAttrs(activation, rounding, keep_num_dims=len(data) > 2)
    return c.Case(name, "nn.dense", attrs, inputs, c.quant(usual * times_scale), DType.INT16)


_BIASES_16: tuple[dict[str, Any], ...] = (
    *({"bias": bias} for bias in (None, DType.INT32, DType.INT64)),
    *({"bias": bias, "rounding": Rounding.DOUBLE} for bias in (None, DType.INT32)),
    *({"bias": bias, "rounding": Rounding.REDUCED} for bias in (None, DType.INT64)),
)


def _random_int16(seed: int) -> c.Case:
    rng = np.random.default_rng(3000 + seed)
    lead = tuple(int(n) for n in rng.integers(1, 4, int(rng.integers(1, 4))))
    return _int16(
        seed,
        f"int16 {seed}",
        data=(*lead, int(rng.integers(1, 70))),
        units=int(rng.integers(1, 20)),
        activation=list(Activation)[int(rng.integers(4))],
        per_channel=bool(rng.integers(2)),
        **_BIASES_16[int(rng.integers(len(_BIASES_16)))],
        times_scale=2.0 ** (rng.uniform(-5, 12) if rng.random() < 0.3 else 0),
    )


def _int16_near_ties(largest: float) -> c.Case:
    """A case of sums up to ``largest`` whose exact products with the scale are just below a tie.

    In double, these products are on the tie.
    """
    rng = np.random.default_rng(9)
    x = c.int16(rng, (1, 1), 0.01)
    w = c.weight(rng, (len(seeds(4000)), 1), 0)
    assert w.type.quant is not None
    out = c.quant(x.type.scale * max(w.type.quant.scale) * largest / 30000)
    scales = x.type.scale * np.array(w.type.quant.scale) / out.scale[0]
    ties = np.floor(rng.uniform(-30000, 30000, scales.size)) + 0.5
    near = np.array([_nearest_to_tie(t, s) for t, s in zip(ties, scales, strict=True)])
    zero = c.Tensor(x.type, np.zeros((1, 1), np.int16))
    attrs = DenseAttrs(Activation.NONE, Rounding.REAL, keep_num_dims=False)
    name = f"int16 sums near ties, up to {largest:g}"
    inputs = (zero, w, c.bias(near, DType.INT64))
    return c.Case(name, "nn.dense", attrs, inputs, out, DType.INT16)


def _nearest_to_tie(tie: float, scale: float) -> int:
    """The sum whose product with the scale is nearest to a tie, among the sums around this tie."""
    numerator, denominator = scale.as_integer_ratio()
    around = range(int(tie / scale) - 50, int(tie / scale) + 51)
    return min(around, key=lambda n: abs(2 * (n * numerator % denominator) - denominator))


@cache
def _int16_corners() -> tuple[c.Case, ...]:
    """The search for ties takes seconds, so it is not done when tests are collected."""
    return (
        _int16(1, "int16, one by one", data=(1, 1), units=1),
        _int16(2, "int16, many features", data=(2, 1300), units=9),
        _int16(3, "int16, extremes only", data=(1, 512), units=4, per_channel=False),
        _int16(4, "int16, bias of 2**46", largest_bias=2.0**46, times_scale=2.0**20),
        _int16(5, "int16, int32 bias", bias=DType.INT32, largest_bias=2.0**31 - 1, times_scale=99),
        *(
            _int16(
                7,
                f"int16, many features, {how['rounding'].value}, {how['bias']}",
                data=(2, 1300),
                units=9,
                **how,
            )
            for how in _BIASES_16[3:]
        ),
        *(_int16(6, f"int16, scale {2.0**k:g}", times_scale=2.0**k) for k in range(-10, 60, 7)),
        *(_int16_near_ties(2.0**k) for k in (17, 25, 33, 42)),
    )


LARGE = 2**31 - 1 - 7 * 255 * 128

CORNERS = (
    _case(1, "one by one", data=(1, 1), units=1),
    _case(2, "no bias", biased=False),
    _case(3, "rank 4, dimensions kept", data=(2, 1, 3, 7), keep_num_dims=True),
    _case(4, "rank 4, flattened to rows", data=(2, 1, 3, 7)),
    _case(5, "relu", activation=Activation.RELU),
    *(
        _case(6, f"{rounding.value}, per channel {axis}, {n:g} times the least output scale",
              rounding=rounding, per_channel=axis, times_least=n, biased=False)
        for rounding, axis, n in product(BOTH, (False, True), (1, 10, 1e3, 1e6, 1e9, 1e15))
    ),
    *(_near_ties(rounding, axis) for rounding, axis in product(BOTH, (False, True))),
    *(
        _case(7, f"{rounding.value}, sums near the limits of int32",
              rounding=rounding, largest_bias=LARGE, scale=20000)
        for rounding in BOTH
    ),
)  # fmt: skip


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    random = (*map(_random, seeds(200)), *map(_float, seeds(60)), *map(_random_int16, seeds(200)))
    c.check([*CORNERS, *_int16_corners(), *random], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    random = (*map(_random, range(6)), *map(_float, range(6)), *map(_random_int16, range(6)))
    c.check_inlined([*CORNERS, *_int16_corners(), *random], tmp_path)


def test_outputs_that_may_leave_int32_are_refused() -> None:
    case = _int16(1, "", largest_bias=2.0**46)
    with pytest.raises(AssertionError, match="no kernel takes"):
        list(c.calls_of(case))


def test_the_two_roundings_differ_somewhere() -> None:
    differ = [
        (_case(seed, "", rounding=Rounding.SINGLE).expected
         != _case(seed, "", rounding=Rounding.DOUBLE).expected).any()
        for seed in range(200)
    ]  # fmt: skip
    assert any(differ), "the cases do not tell the roundings apart"
