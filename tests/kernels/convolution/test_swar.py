"""Sums of products of three pixels in two words: the largest ones, and how rarely words are
split."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from microgen.base.errors import ProjectError
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import Array
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs
from microgen.kernels import named
from microgen.kernels.requantization import transforms
from tests.kernels.conformance import conformance as c

ENDS = np.array([-128, 127], np.int8)
KERNELS = ("mg_conv2d_s8_upward_swar_3x4", "mg_conv2d_s8_upward_swar_6x1")


def _case(depth: int, data: Array, weight: Array, zero: int) -> c.Case:
    """A 1x1 convolution of data [pixels, depth] with weights [channels, depth], whose outputs show
    the lowest bits of sums modulo their scale."""
    rng = np.random.default_rng(depth)
    pixels, channels = len(data), len(weight)
    x = replace(
        c.int8(rng, (1, 1, pixels, depth), c.quant(0.05, zero)),
        array=data.reshape(1, 1, pixels, depth),
    )
    w = replace(
        c.weight(rng, (channels, 1, 1, depth), None), array=weight.reshape(channels, 1, 1, depth)
    )
    attrs = Conv2DAttrs((1, 1), (1, 1), "VALID", Activation.NONE, Rounding.UPWARD)
    output = c.quant(c.output_scale(x, w, depth), 3)
    return c.Case(f"depth {depth}, zero {zero}", "nn.conv2d", attrs, (x, w), output)


def _ends(depth: int, zero: int) -> c.Case:
    """All pairs of constant pixels and constant channels, and mixed ones."""
    rng = np.random.default_rng(depth)
    data = np.concatenate([np.repeat(ENDS, depth).reshape(2, depth), rng.choice(ENDS, (6, depth))])
    weight = np.concatenate(
        [np.repeat(ENDS, depth).reshape(2, depth), rng.choice(ENDS, (4, depth))]
    )
    return _case(depth, data[rng.permutation(8)], weight, zero)


def _light(depth: int) -> c.Case:
    """Weights with which words are split only once."""
    rng = np.random.default_rng(depth)
    return _case(depth, rng.choice(ENDS, (7, depth)), rng.integers(-3, 4, (5, depth), np.int8), 5)


CASES = (
    *(_ends(depth, zero) for depth in (1, 63, 64, 65, 128, 131, 200) for zero in (-128, 0, 127)),
    *map(_light, (67, 300, 512)),
)


def test_sums_at_the_limits_equal_the_reference(tmp_path: Path) -> None:
    for case in CASES:
        assert {call.kernel.symbol for call in c.calls_of(case)} >= set(KERNELS)
    c.check(CASES, tmp_path)


def test_words_are_split_after_64_products_or_more_if_the_weights_allow_it() -> None:
    kernel = named("nn.conv2d", KERNELS[0])
    assert kernel is not None
    blocks = [dict(kernel.params(case.node, case.graph))["block"] for case in CASES]
    assert blocks == [64] * (len(CASES) - 3) + [68, 300, 512]


def test_a_block_that_its_weights_do_not_allow_is_refused() -> None:
    weight = np.full((2, 1, 1, 72), -128, np.int8)
    for interleaved in (0, 1):
        good = {"block": 64, "interleaved": interleaved}
        assert transforms.apply("swar_weights", [weight], good).size == weight.size
        with pytest.raises(ProjectError, match="do not fit"):
            transforms.apply("swar_weights", [weight], good | {"block": 68})


def test_weights_of_four_channels_are_interleaved() -> None:
    weight = np.arange(18, dtype=np.int8).reshape(6, 1, 1, 3)
    expected = [0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11, 12, 13, 14, 15, 16, 17]
    assert transforms.apply("interleave_4", [weight], {}).tolist() == expected
    packed = transforms.apply("swar_weights", [weight], {"block": 64, "interleaved": 1})
    assert packed.tolist() == expected
