"""Convolutions and dense layers whose weights a model stores in 4 bits."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from microgen import kernels
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import Quant
from microgen.graph.ops.dense.dense import DenseAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.convolution import convolving
from tests.kernels.convolution.convolving import Geometry

DENSE = {"mg_dense_s4", "mg_dense_s4_dsp", "mg_dense_s4_portable"}
DENSE_TWICE = {name.replace("s4", "s4_twice") for name in DENSE}
CONV2D = {"mg_conv2d_s4", "mg_conv2d_s4_dsp", "mg_conv2d_s4_portable"}
DEPTHWISE = {name.replace("conv2d", "depthwise_conv2d") for name in CONV2D}
EVERY = DENSE | CONV2D | DEPTHWISE


def _named(symbol: str, requantization: str) -> str:
    return symbol.replace("s4", f"s4_{requantization}")


def _weight(rng: np.random.Generator, shape: tuple[int, ...], axis: int | None) -> c.Tensor:
    weight = c.weight(rng, shape, axis)
    values = rng.integers(-8, 8, shape).astype(np.int8)
    return dataclasses.replace(weight, array=values, is_int4=True)


def _window(
    seed: int,
    g: Geometry,
    *,
    times_scale: float = 1.0,
    rounding: Rounding = Rounding.DOUBLE,
) -> c.Case:
    """A case whose sums spread over int8. Their scale is ``times_scale`` times the usual one."""
    rng = np.random.default_rng(seed)
    x = c.int8(rng, g.data, c.random_quant(rng))
    w = _weight(rng, g.filters, g.axis if g.per_channel else None)
    assert w.type.quant is not None
    inputs = (x, w, c.bias(rng.integers(-900, 900, g.channels))) if g.biased else (x, w)
    usual = x.type.scale * max(w.type.quant.scale) * 8 * float(np.sqrt(g.products))
    out = c.quant(max(usual / times_scale, 1e-30), int(rng.integers(-128, 128)))
    return c.Case(f"{g.op} {seed}", g.op, g.attrs(rounding), inputs, out)


def _random_window(seed: int, *, depthwise: bool) -> c.Case:
    """A random window, of one group if the seed is even. Some scales are above 1/2."""
    g = convolving.random_geometry(seed, depthwise=depthwise)
    if seed % 2 == 0 and not depthwise:
        g = dataclasses.replace(g, data=(*g.data[:3], g.filters[3]), dilation=(g.dilation[0], 1))
    if seed % 2 == 0 and depthwise:
        g = dataclasses.replace(g, multiplier=1, filters=(*g.filters[:3], g.data[3]))
    rounding = Rounding.FLOAT if seed % 5 in (1, 2) else Rounding.DOUBLE
    return _window(seed, g, times_scale=1 + 9999 * (seed % 5 == 0), rounding=rounding)


def _dense(
    seed: int,
    features: int,
    units: int,
    *,
    rounding: Rounding = Rounding.SINGLE,
    per_channel: bool = False,
    biased: bool = True,
) -> c.Case:
    rng = np.random.default_rng(seed)
    x = c.int8(rng, (int(rng.integers(1, 4)), features), c.random_quant(rng))
    w = _weight(rng, (units, features), 0 if per_channel else None)
    assert w.type.quant is not None
    inputs = (x, w, c.bias(rng.integers(-900, 900, units))) if biased else (x, w)
    attrs = DenseAttrs(list(Activation)[seed % 4], rounding, keep_num_dims=False)
    scale = x.type.scale * max(w.type.quant.scale) * 8 * float(np.sqrt(features))
    return c.Case(f"dense {seed}", "nn.dense", attrs, inputs, c.quant(scale, 3))


def _random_dense(seed: int) -> c.Case:
    rng = np.random.default_rng(7000 + seed)
    return _dense(
        seed,
        int(rng.integers(1, 70)),
        int(rng.integers(1, 20)),
        rounding=(Rounding.SINGLE, Rounding.DOUBLE, Rounding.PRODUCT, Rounding.FLOAT)[seed % 4],
        per_channel=bool(rng.integers(2)),
        biased=bool(rng.integers(2)),
    )


def _extreme(case: c.Case, value: int, weight: int) -> c.Case:
    """The case with only one value of data and only one of weights."""
    x, w, *bias = case.inputs
    x = dataclasses.replace(x, array=np.full_like(x.array, value))
    w = dataclasses.replace(w, array=np.full_like(w.array, weight))
    return dataclasses.replace(case, inputs=(x, w, *bias))


CORNERS = (
    _dense(1, 1, 1),
    _dense(2, 1, 9),
    *(_dense(3, 8 + n, 4 + n % 5) for n in range(9)),
    *(_extreme(_dense(4, 4001, 5), x, w) for x in (-128, 127) for w in (-8, 7)),
    _window(5, Geometry(data=(1, 1, 1, 1), filters=(1, 1, 1, 1), padding="VALID")),
    _window(6, Geometry(data=(1, 4, 4, 1), filters=(5, 3, 3, 1))),
    _window(7, Geometry(data=(2, 4, 4, 6), filters=(10, 3, 3, 3))),
    _window(8, Geometry(data=(1, 4, 4, 4), dilation=(5, 4))),
    _window(9, Geometry(data=(1, 2, 2, 4), padding=(5, 4, 3, 6))),
    _window(10, Geometry(filters=(9, 1, 1, 4))),
    _window(11, Geometry(data=(1, 1, 1, 1), filters=(1, 1, 1, 1), multiplier=1)),
    _window(12, Geometry(data=(1, 5, 5, 3), filters=(1, 3, 3, 3), multiplier=1)),
    _window(13, Geometry(data=(1, 5, 5, 1), filters=(1, 3, 3, 7), multiplier=7)),
)  # fmt: skip


def _cases(count: int) -> list[c.Case]:
    windows = [
        _random_window(seed, depthwise=way) for seed in range(count) for way in (False, True)
    ]
    return [*CORNERS, *windows, *map(_random_dense, range(count))]


def _symbols(case: c.Case) -> set[str]:
    return {call.kernel.symbol for call in c.calls_of(case) if call.kernel.takes_int4}


@pytest.mark.parametrize("count", [40, pytest.param(100, marks=pytest.mark.slow)])
def test_kernels_equal_the_reference(count: int, tmp_path: Path) -> None:
    c.check(_cases(count), tmp_path)


@pytest.mark.parametrize("count", [2, pytest.param(5, marks=pytest.mark.slow)])
def test_inlined_bodies_equal_the_reference(count: int, tmp_path: Path) -> None:
    c.check_inlined(_cases(count), tmp_path)


def test_cases_reach_every_kernel_that_the_host_can_run() -> None:
    found = {symbol for case in _cases(20) for symbol in _symbols(case)}
    floats = {_named(symbol, word) for symbol in EVERY for word in ("float", "fpu")}
    assert found == DENSE_TWICE | EVERY | floats


@pytest.mark.parametrize(
    ("case", "symbols"),
    [
        (_dense(1, 7, 5), DENSE),
        (_window(1, Geometry()), CONV2D),
        (_window(1, Geometry(data=(1, 5, 6, 8))), {"mg_conv2d_s4"}),
        (_window(1, Geometry(dilation=(2, 2))), {"mg_conv2d_s4"}),
        (_window(1, Geometry(filters=(1, 3, 3, 4), multiplier=1)), DEPTHWISE),
        (_window(1, Geometry(filters=(1, 3, 3, 8), multiplier=2)), {"mg_depthwise_conv2d_s4"}),
        (_window(1, Geometry(), times_scale=1e9), {"mg_conv2d_s4"}),
    ],
    ids=["dense", "conv2d", "groups", "dilated", "depthwise", "multiplier", "scale"],
)
def test_what_each_kernel_takes(case: c.Case, symbols: set[str]) -> None:
    assert _symbols(case) == symbols


@pytest.mark.parametrize("case", [_dense(1, 7, 5), _window(1, Geometry())], ids=str)
def test_weights_of_int8_are_not_packed_even_if_they_are_small(case: c.Case) -> None:
    x, w, *bias = case.inputs
    stored = dataclasses.replace(case, inputs=(x, dataclasses.replace(w, is_int4=False), *bias))
    assert _symbols(stored) == set()
    entries = [k for k in kernels.registry()[case.op] if k.takes_int4]
    assert {k.refusal(stored.node, stored.graph) for k in entries} == {"its weights are not int4"}


def test_sums_of_weights_from_0_to_15_fit(tmp_path: Path) -> None:
    """The DSP kernel adds 8 to each weight. One more product is refused for all int8 data."""
    most = 2**31 // 128 // 255
    cases = [_extreme(_dense(1, most, 4, biased=False), x, w) for x in (-128, 127) for w in (-8, 7)]
    zero = c.quant(cases[0].inputs[0].type.scale, 127)
    farthest = [_of_quant(case, zero) for case in cases]
    assert {symbol for case in farthest for symbol in _symbols(case)} == DENSE
    c.check(farthest, tmp_path)
    with pytest.raises(ValueError, match="products are summed"):
        _dense(1, most + 1, 4)


def _of_quant(case: c.Case, quant: Quant) -> c.Case:
    """The case with that quantization of its data."""
    x, *others = case.inputs
    x = dataclasses.replace(x, type=dataclasses.replace(x.type, quant=quant))
    return dataclasses.replace(case, inputs=(x, *others))
