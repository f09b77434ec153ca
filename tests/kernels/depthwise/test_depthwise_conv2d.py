from pathlib import Path

import numpy as np

from microgen import kernels
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ops.base import Padding, Pair
from microgen.graph.ops.depthwise.depthwise_conv2d import DepthwiseConv2DAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.convolution import convolving
from tests.kernels.convolution.convolving import Geometry
from tests.kernels.depthwise import plane_cases
from tests.support.sampling import seeds


def _case(
    seed: int,
    name: str,
    data: tuple[int, int, int, int] = (1, 5, 6, 4),
    kernel: Pair = (3, 3),
    depth_multiplier: int = 1,
    strides: Pair = (1, 1),
    dilation: Pair = (1, 1),
    padding: Padding = "SAME",
    activation: Activation = Activation.NONE,
    per_channel: bool = True,
    biased: bool = True,
    scale: float | None = None,
    times_least: float | None = None,
    largest_bias: int = 9000,
) -> c.Case:
    rng = np.random.default_rng(seed)
    channels = data[3] * depth_multiplier
    x = c.int8(rng, data, c.random_quant(rng))
    w = c.weight(rng, (1, *kernel, channels), 3 if per_channel else None)
    offsets = rng.choice([-largest_bias, largest_bias, 77], channels)
    inputs = (x, w, c.bias(offsets)) if biased else (x, w)
    if times_least:
        scale = times_least * c.least_output_scale(x, w, kernel[0] * kernel[1])
    scale = scale or c.output_scale(x, w, kernel[0] * kernel[1])
    out = c.quant(scale, int(rng.integers(-128, 128)))
    attrs = DepthwiseConv2DAttrs(
        strides, dilation, padding, depth_multiplier, activation, Rounding.DOUBLE
    )
    return c.Case(name, "nn.depthwise_conv2d", attrs, inputs, out)


def _random(seed: int) -> c.Case:
    rng = np.random.default_rng(1000 + seed)
    kernel = tuple(int(n) for n in rng.integers(1, 5, 2))
    dilation = tuple(int(n) for n in rng.integers(1, 4, 2))
    room = [(k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True)]
    size = tuple(int(n + extra) for n, extra in zip(room, rng.integers(0, 6, 2), strict=True))
    top, left, bottom, right = (int(n) for n in rng.integers(0, 4, 4))
    paddings: list[Padding] = [(top, left, bottom, right), "SAME", "VALID"]
    return _case(
        seed,
        f"random {seed}",
        data=(int(rng.integers(1, 3)), size[0], size[1], int(rng.integers(1, 6))),
        kernel=(kernel[0], kernel[1]),
        depth_multiplier=int(rng.integers(1, 4)),
        strides=(int(rng.integers(1, 4)), int(rng.integers(1, 4))),
        dilation=(dilation[0], dilation[1]),
        padding=paddings[seed % 3],
        activation=list(Activation)[int(rng.integers(4))],
        per_channel=bool(rng.integers(2)),
        biased=bool(rng.integers(2)),
    )


LARGE = 2**31 - 1 - 9 * 255 * 128

CORNERS = (
    _case(1, "1x1 image, 3x3 kernel", data=(1, 1, 1, 4)),
    _case(2, "1x1 everything", data=(1, 1, 1, 1), kernel=(1, 1), padding="VALID"),
    _case(3, "one channel, 8 filters", data=(1, 6, 5, 1), depth_multiplier=8),
    _case(4, "stride over kernel", data=(1, 9, 8, 4), kernel=(2, 2), strides=(4, 3)),
    _case(5, "dilation beyond the image", data=(1, 4, 4, 4), dilation=(5, 4)),
    _case(6, "no bias, per tensor", biased=False, per_channel=False),
    _case(7, "windows in the padding only", data=(1, 2, 2, 4), padding=(5, 4, 3, 6)),
    _case(8, "relu6", activation=Activation.RELU6),
    _case(9, "sums near the limits of int32", largest_bias=LARGE, scale=20000),
    *(
        _case(11, f"{width} columns", (1, 3, width, 6), strides=(1, stride), padding=(0, 1, 0, 1))
        for width in (24, 25, 49)
        for stride in (1, 2)
    ),
    *(
        _case(10, f"{n:g} times the least output scale", times_least=n, biased=False)
        for n in (1e-5, 1e-2, 1, 10, 1e3, 1e6, 1e9, 1e15)
    ),
)


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*CORNERS, *plane_cases.cases(), *map(_random, seeds(150))], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*CORNERS, *map(_random, range(6))], tmp_path)


BASE = Geometry(filters=(1, 3, 3, 4), multiplier=1)
GEOMETRIES = (
    Geometry(data=(1, 1, 1, 4), filters=(1, 3, 3, 4), multiplier=1),
    Geometry(data=(1, 1, 1, 1), filters=(1, 1, 1, 1), multiplier=1, padding="VALID"),
    Geometry(data=(1, 6, 5, 1), filters=(1, 3, 3, 8), multiplier=8),
    Geometry(data=(1, 6, 5, 3), filters=(1, 3, 3, 9), multiplier=3),
    Geometry(data=(1, 9, 8, 7), filters=(1, 2, 2, 7), multiplier=1, strides=(4, 3)),
    Geometry(data=(1, 4, 4, 4), filters=(1, 3, 3, 4), multiplier=1, dilation=(5, 4)),
    Geometry(data=(1, 2, 2, 4), filters=(1, 3, 3, 4), multiplier=1, padding=(5, 4, 3, 6)),
    Geometry(data=(1, 40, 30, 5), filters=(1, 40, 30, 5), multiplier=1, padding="VALID"),
    Geometry(data=(1, 3, 511, 5), filters=(1, 3, 511, 5), multiplier=1, padding="VALID"),
)
MANY_PRODUCTS = (GEOMETRIES[-2], GEOMETRIES[-1])
OTHERS = (
    *(case for g in GEOMETRIES for case in convolving.of_dtype(g)),
    *convolving.int16_corners(BASE),
    *(convolving.largest_sums(g, x) for g in MANY_PRODUCTS for x in (-32768, 32767)),
)


def test_int16_and_float_kernels_equal_the_reference(tmp_path: Path) -> None:
    random = [case for seed in seeds(150) for case in convolving.random_cases(seed, depthwise=True)]
    c.check([*OTHERS, *random], tmp_path)


def test_inlined_int16_and_float_bodies_equal_the_reference(tmp_path: Path) -> None:
    random = [case for seed in range(6) for case in convolving.random_cases(seed, depthwise=True)]
    c.check_inlined([*OTHERS, *random], tmp_path)


def _refusal(case: c.Case) -> str | None:
    """The reason why mg_depthwise_conv2d_s16 does not compute the case."""
    entries = {kernel.symbol: kernel for kernel in kernels.registry()[case.op]}
    return entries["mg_depthwise_conv2d_s16"].refusal(case.node, case.graph)


def test_int16_sums_must_fit_the_accumulators() -> None:
    fits = convolving.int16_case(1, "", BASE, largest_bias=2.0**46)
    assert _refusal(fits) is None
    over = convolving.int16_case(1, "", BASE, largest_bias=2.0**62)
    assert f"the kernel's accumulator {2**47 - 1}" in str(_refusal(over))


def test_int16_rows_of_products_must_fit_int32() -> None:
    wide = Geometry(data=(1, 1, 512, 2), filters=(1, 1, 512, 2), multiplier=1, padding="VALID")
    found = _refusal(convolving.int16_case(1, "", wide))
    assert found == "its filters are 512 wide, the kernel takes 511"
