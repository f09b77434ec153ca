"""Kernels compute outputs that begin before their inputs, and no further than they must.

All cases of the other tests are computed in place, too, where kernels state a lag.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ops.base import Pair
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs
from microgen.graph.ops.depthwise.depthwise_conv2d import DepthwiseConv2DAttrs
from microgen.graph.ops.geometry import explicit
from microgen.graph.ops.pooling.pooling import AvgPool2DAttrs, MaxPool2DAttrs
from microgen.kernels import lags
from tests.kernels.conformance import conformance as c
from tests.kernels.convolution import convolving

LESS = 4  # bytes


def random_case(op: str, seed: int) -> c.Case:
    """An int8 convolution of a random shape, whose neighbouring values are all different."""
    rng = np.random.default_rng(seed)
    size = [int(n) for n in rng.integers(4, 9, 2)]
    kernel: Pair = (1, 1) if seed % 3 == 0 else (3, 3)
    strides: Pair = (1, 1) if seed % 2 else (2, 2)
    channels, filters = (int(n) for n in rng.choice([4, 8, 12, 16], 2))
    x = c.int8(rng, (int(rng.integers(1, 3)), *size, channels), c.quant(0.5, 3))
    if op == "nn.conv2d":
        w = c.weight(rng, (filters, *kernel, channels), 0)
        attrs = Conv2DAttrs(strides, (1, 1), "SAME", Activation.NONE, Rounding.DOUBLE)
    else:
        w = c.weight(rng, (1, *kernel, channels), 3)
        attrs = DepthwiseConv2DAttrs(strides, (1, 1), "SAME", 1, Activation.NONE, Rounding.DOUBLE)
    scale = c.output_scale(x, w, w.array.size // (filters if op == "nn.conv2d" else channels))
    bias = c.bias(rng.integers(-99, 99, filters if op == "nn.conv2d" else channels))
    return c.Case(f"random {seed}", op, attrs, (x, w, bias), c.quant(scale, -5))


def wide_case(seed: int, *, depthwise: bool) -> c.Case:
    """An int16 convolution of the shape of a random case of int8."""
    usual = random_case("nn.depthwise_conv2d" if depthwise else "nn.conv2d", seed)
    data, weight, _ = (tensor.array.shape for tensor in usual.inputs)
    assert isinstance(usual.attrs, Conv2DAttrs | DepthwiseConv2DAttrs)
    geometry = convolving.Geometry(data, weight, int(depthwise), usual.attrs.strides)
    rounding = Rounding.DOUBLE if seed % 4 == 0 else Rounding.REDUCED
    return convolving.int16_case(seed, f"int16 {seed}", geometry, rounding)


def pool_case(seed: int, op: str) -> c.Case:
    """A pool of a random shape, of int8 or int16."""
    rng = np.random.default_rng(seed)
    make = MaxPool2DAttrs if op == "nn.max_pool2d" else AvgPool2DAttrs
    size = [int(n) for n in rng.integers(4, 9, 2)]
    shape = (int(rng.integers(1, 3)), *size, int(rng.integers(1, 21)))
    data = c.int8(rng, shape, c.quant(0.5, 3)) if seed % 3 else c.int16(rng, shape, 0.5)
    attrs = make((3, 3), (1, 1), "SAME", Activation.NONE)
    return c.Case(f"pool {seed}", op, attrs, (data,), data.type.quant, data.type.dtype)


CASES: Mapping[str, Callable[[int], c.Case]] = {
    "conv2d": lambda seed: random_case("nn.conv2d", seed),
    "depthwise_conv2d": lambda seed: random_case("nn.depthwise_conv2d", seed),
    "conv2d of int16": lambda seed: wide_case(seed, depthwise=False),
    "depthwise_conv2d of int16": lambda seed: wide_case(seed, depthwise=True),
    "max_pool2d": lambda seed: pool_case(seed, "nn.max_pool2d"),
    "avg_pool2d": lambda seed: pool_case(seed, "nn.avg_pool2d"),
}


def _short(case: c.Case) -> Iterator[c.Call]:
    """The calls of host kernels that need a lag, with one that is too small."""
    for call in c.calls_of(case):
        if call.in_place is not None and call.lag >= LESS:
            yield c.call_of(case, call.kernel, 0, call.lag - LESS)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", CASES)
def test_outputs_equal_the_reference_at_their_lags(kind: str, tmp_path: Path) -> None:
    c.check([CASES[kind](seed) for seed in range(40)], tmp_path)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", CASES)
def test_smaller_lags_are_noticed(kind: str, tmp_path: Path) -> None:
    """For each loop that needs a lag in some of the cases, four bytes less give a wrong result."""
    calls = [call for seed in range(40) for call in _short(CASES[kind](seed))]
    found = dict.fromkeys((call.kernel.loop_name for call in calls), False)
    for call, differs in zip(calls, c.differing(calls, tmp_path), strict=True):
        found[call.kernel.loop_name] |= differs
    assert found
    assert all(found.values()), found


def _steps(case: c.Case) -> int:
    """The lag of a loop that reads a whole window and then stores one pixel, from its accesses."""
    node, graph = case.node, case.graph
    (_, height, width, depth), weight = (t.shape for t in graph.type_of(node.inputs[:2]))
    output, attrs = case.output_type.shape, case.attrs
    assert isinstance(attrs, Conv2DAttrs)
    assert isinstance(node.attrs, Conv2DAttrs)
    top, left = explicit(node.attrs.padding)[:2]
    accesses = []
    for n, y, x in np.ndindex(*output[:3]):
        rows = range(y * attrs.strides[0] - top, y * attrs.strides[0] - top + weight[1])
        columns = range(x * attrs.strides[1] - left, x * attrs.strides[1] - left + weight[2])
        reads = [
            ((n * height + row) * width + column) * depth
            for row in rows
            for column in columns
            if 0 <= row < height and 0 <= column < width
        ]
        accesses.append(reads)
    found = 0
    for step, _ in enumerate(accesses):
        later = [place for reads in accesses[step:] for place in reads]
        found = max(found, step * output[3] - min(later)) if later else found
    return found


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(0, 2**20))
def test_a_lag_is_what_a_simulation_of_accesses_finds(seed: int) -> None:
    case = random_case("nn.conv2d", seed)
    pixels = int(np.prod(case.output_type.shape[:3]))
    (stated,) = lags.blocks(case.node, case.graph, range(pixels)).values()
    grows = case.output_type.nbytes > case.input_types[0].nbytes
    assert stated == max(_steps(case), int(grows))
