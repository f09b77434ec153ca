"""Winograd's kernels: which convolutions they take, and that they equal the reference there."""

from pathlib import Path

import numpy as np
import pytest

from microgen import kernels
from microgen.base.errors import ProjectError
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import Array, ArrayType, DType, Quant
from microgen.graph.ops.base import Padding
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs
from microgen.kernels.requantization import transforms
from tests.kernels.conformance import conformance as c
from tests.support.sampling import seeds

SYMBOL = "mg_conv2d_winograd_s8"
PADDINGS: tuple[Padding, ...] = ("SAME", "VALID", (0, 2, 1, 0), (2, 0, 2, 2), (2, 1, 0, 1))


def _case(
    seed: int,
    height: int,
    width: int,
    depth: int,
    filters: int,
    *,
    padding: Padding = "SAME",
    stride: int = 1,
    dilation: int = 1,
    kernel: int = 3,
    batches: int = 1,
    activation: Activation = Activation.NONE,
    rounding: Rounding = Rounding.DOUBLE,
    per_channel: bool = True,
) -> c.Case:
    rng = np.random.default_rng(seed)
    x = c.int8(rng, (batches, height, width, depth), c.random_quant(rng))
    w = c.weight(rng, (filters, kernel, kernel, depth), 0 if per_channel else None)
    inputs = (x, w, c.bias(rng.integers(-9000, 9000, filters)))
    attrs = Conv2DAttrs((stride,) * 2, (dilation,) * 2, padding, activation, rounding)
    out = c.quant(2 * c.output_scale(x, w, 9 * depth), int(rng.integers(-128, 128)))
    return c.Case(f"winograd {seed}", "nn.conv2d", attrs, inputs if seed % 4 else inputs[:2], out)


def random_case(seed: int) -> c.Case:
    rng = np.random.default_rng(7000 + seed)
    height, width, depth, filters = (int(n) for n in rng.integers([3, 3, 4, 1], [9, 21, 15, 8]))
    return _case(
        seed,
        height,
        width,
        depth,
        filters,
        padding=PADDINGS[seed % len(PADDINGS)],
        batches=1 + seed % 2,
        activation=list(Activation)[int(rng.integers(4))],
        rounding=(Rounding.UPWARD, Rounding.DOUBLE, Rounding.FLOAT)[seed % 3],
        per_channel=seed % 5 != 0,
    )


def _extreme(value: int, weight: int, zero: int, depth: int, scale: float) -> c.Case:
    """Equal values and equal weights; the zero point is as far from the values as it may be."""
    shape = (1, 4, 5, depth)
    x = c.Tensor(ArrayType(shape, DType.INT8, c.quant(1, zero)), np.full(shape, value, np.int8))
    array: Array = np.full((2, 3, 3, depth), weight, np.int8)
    array[1, :, 1] = ~array[1, :, 1]
    quant = Quant((1.0,) * 2, (0,) * 2, 0)
    w = c.Tensor(ArrayType(array.shape, DType.INT8, quant), array, is_constant=True)
    attrs = Conv2DAttrs((1, 1), (1, 1), "SAME", Activation.NONE, Rounding.DOUBLE)
    name = f"{depth} channels of {value}, zero {zero}, weights {weight}"
    return c.Case(name, "nn.conv2d", attrs, (x, w), c.quant(scale, 3))


EXTREMES = tuple(
    _extreme(value, weight, zero, depth, scale)
    for value, zero in ((-128, -128), (-128, 127), (127, -128), (127, 127), (-128, 0))
    for weight in (-128, 127)
    for depth, scale in ((404, 400000.0), (5, 4000.0))
)
CASES = (
    _case(1, 1, 1, 4, 1),
    _case(2, 3, 3, 4, 2, padding="VALID"),
    _case(3, 8, 8, 16, 16, activation=Activation.RELU),
    _case(4, 5, 17, 9, 3),
    _case(5, 4, 9, 32, 32),
    _case(6, 2, 2, 7, 5, padding=(5, 4, 3, 12)),
    *EXTREMES,
)


def _refusal(case: c.Case) -> str:
    (kernel,) = [k for k in kernels.registry()[case.op] if k.symbol == SYMBOL]
    return str(kernel.refusal(case.node, case.graph))


def _takes(case: c.Case) -> bool:
    return any("_winograd_" in call.kernel.symbol for call in c.calls_of(case))


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    cases = [*CASES, *map(random_case, seeds(60))]
    assert [case.name for case in cases if not _takes(case)] == []
    c.check(cases, tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*CASES[:8], *map(random_case, range(6))], tmp_path)


@pytest.mark.parametrize(
    ("case", "why"),
    [
        (_case(1, 5, 5, 8, 2, kernel=1), "must be 3x3"),
        (_case(1, 5, 5, 8, 2, stride=2), "strides and dilations must be 1"),
        (_case(1, 5, 5, 8, 2, dilation=2), "strides and dilations must be 1"),
        (_case(1, 5, 5, 3, 2), "3 input channels, the kernel takes 4 to 404"),
        (_case(1, 3, 3, 405, 1), "405 input channels"),
        (_case(1, 3, 3, 32, 33), "would take 34816 bytes, the kernel takes 32768"),
    ],
)
def test_what_is_refused(case: c.Case, why: str) -> None:
    assert why in _refusal(case)


def test_transformed_weights_are_those_of_the_formula() -> None:
    rng = np.random.default_rng(1)
    weight = rng.integers(-128, 128, (3, 3, 3, 6)).astype(np.int8)
    g = np.array([[2, 0, 0], [1, 1, 1], [1, -1, 1], [0, 0, 2]])
    words = transforms.apply("winograd", [weight], {})
    assert words.shape == (2, 4, 16, 2)
    halves = words.view(np.int16).reshape(2, 4, 16, 2, 2)
    for filters, channel, step, half in ((0, 0, 0, 0), (1, 1, 1, 0), (2, 5, 3, 1), (1, 4, 2, 1)):
        expected = g @ weight[filters, :, :, channel].astype(np.int64) @ g.T
        assert (halves[filters // 2, step, :, filters % 2, half] == expected.ravel()).all()
    assert not halves[1, :, :, 1].any(), "there is no filter 3"
    assert not halves[:, 2:, :, :, 0].any(), "the last group begins with channels 2 and 3 again"


def test_filters_are_words_of_four_channels() -> None:
    weight = np.arange(-81, 81).astype(np.int8).reshape(3, 3, 3, 6)
    words = transforms.apply("winograd_filters", [weight], {})
    assert words.shape == (2, 2, 2, 9)
    channels = words.view(np.int8).reshape(2, 2, 2, 9, 4)
    assert (channels[0, 1, 0] == weight[1, :, :, :4].reshape(9, 4)).all()
    assert (channels[1, 0, 1, :, 2:] == weight[2, :, :, 4:].reshape(9, 2)).all()
    assert not channels[1, 1].any(), "there is no filter 3"
    assert not channels[:, :, 1, :, :2].any(), "the last group begins with channels 2 and 3 again"


@pytest.mark.parametrize("kind", ["winograd", "winograd_filters"])
@pytest.mark.parametrize(
    "weight", [np.zeros((2, 3, 3, 8), np.int16), np.zeros((2, 1, 3, 8), np.int8)]
)
def test_other_weights_are_errors(kind: str, weight: Array) -> None:
    with pytest.raises(ProjectError, match="winograd"):
        transforms.apply(kind, [weight], {})
