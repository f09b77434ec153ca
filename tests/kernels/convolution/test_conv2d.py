from pathlib import Path

import numpy as np

from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ops.base import Padding, Pair
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.convolution import convolving
from tests.kernels.convolution.convolving import Geometry
from tests.support.sampling import seeds


def _case(
    seed: int,
    name: str,
    data: tuple[int, int, int, int] = (1, 5, 6, 4),
    filters: tuple[int, int, int, int] = (3, 3, 3, 4),
    strides: Pair = (1, 1),
    dilation: Pair = (1, 1),
    padding: Padding = "SAME",
    activation: Activation = Activation.NONE,
    per_channel: bool = True,
    biased: bool = True,
) -> c.Case:
    rng = np.random.default_rng(seed)
    x = c.int8(rng, data, c.random_quant(rng))
    w = c.weight(rng, filters, 0 if per_channel else None)
    products = int(np.prod(filters[1:]))
    inputs = (x, w, c.bias(rng.integers(-9000, 9000, filters[0]))) if biased else (x, w)
    out = c.quant(c.output_scale(x, w, products), int(rng.integers(-128, 128)))
    attrs = Conv2DAttrs(strides, dilation, padding, activation, Rounding.DOUBLE)
    return c.Case(name, "nn.conv2d", attrs, inputs, out)


def _random(seed: int) -> c.Case:
    rng = np.random.default_rng(1000 + seed)
    groups, depth, per_group = (int(n) for n in rng.integers(1, [4, 5, 4]))
    kernel = tuple(int(n) for n in rng.integers(1, 5, 2))
    dilation = tuple(int(n) for n in rng.integers(1, 4, 2))
    room = [(k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True)]
    size = tuple(int(n + extra) for n, extra in zip(room, rng.integers(0, 6, 2), strict=True))
    top, left, bottom, right = (int(n) for n in rng.integers(0, 4, 4))
    paddings: list[Padding] = [(top, left, bottom, right), "SAME", "VALID"]
    return _case(
        seed,
        f"random {seed}",
        data=(int(rng.integers(1, 3)), size[0], size[1], groups * depth),
        filters=(groups * per_group, kernel[0], kernel[1], depth),
        strides=(int(rng.integers(1, 4)), int(rng.integers(1, 4))),
        dilation=(dilation[0], dilation[1]),
        padding=paddings[seed % 3],
        activation=list(Activation)[int(rng.integers(4))],
        per_channel=bool(rng.integers(2)),
        biased=bool(rng.integers(2)),
    )


def _near_int32_limits(sign: int) -> c.Case:
    rng = np.random.default_rng(3)
    x = c.int8(rng, (1, 3, 3, 8), c.quant(0.1, 127))
    w = c.weight(rng, (2, 3, 3, 8), 0)
    limit = sign * (2**31 - 1 - 72 * 255 * 128)
    inputs = (x, w, c.bias(np.array([limit, limit])))
    attrs = Conv2DAttrs((1, 1), (1, 1), "SAME", Activation.NONE, Rounding.DOUBLE)
    return c.Case(f"sums near {sign} * 2**31", "nn.conv2d", attrs, inputs, c.quant(20000, 3))


def _with_scale(times_least: float) -> c.Case:
    rng = np.random.default_rng(4)
    x, w = c.int8(rng, (1, 4, 4, 3), c.quant(0.05, -128)), c.weight(rng, (5, 2, 2, 3), 0)
    attrs = Conv2DAttrs((1, 1), (1, 1), "VALID", Activation.NONE, Rounding.DOUBLE)
    out = c.quant(times_least * c.least_output_scale(x, w, 12), 5)
    return c.Case(f"{times_least:g} times the least output scale", "nn.conv2d", attrs, (x, w), out)


CORNERS = (
    _case(1, "1x1 image, 3x3 kernel", data=(1, 1, 1, 4)),
    _case(2, "1x1 everything", data=(1, 1, 1, 1), filters=(1, 1, 1, 1), padding="VALID"),
    _case(3, "pointwise", filters=(9, 1, 1, 4)),
    _case(4, "stride over kernel", data=(1, 9, 8, 4), filters=(3, 2, 2, 4), strides=(4, 3)),
    _case(5, "dilation beyond the image", data=(1, 4, 4, 4), dilation=(5, 4)),
    _case(6, "depthwise by groups", data=(1, 4, 4, 6), filters=(12, 3, 3, 1)),
    _case(7, "two groups", data=(2, 4, 4, 6), filters=(4, 3, 2, 3)),
    _case(8, "no bias, per tensor", biased=False, per_channel=False),
    _case(9, "windows in the padding only", data=(1, 2, 2, 4), padding=(5, 4, 3, 6)),
    _case(10, "relu6", activation=Activation.RELU6),
    _near_int32_limits(1),
    _near_int32_limits(-1),
    *map(_with_scale, (1e-5, 1e-2, 1, 10, 1e3, 1e6, 1e9, 1e15)),
)


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*CORNERS, *map(_random, seeds(150))], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*CORNERS, *map(_random, range(6))], tmp_path)


GEOMETRIES = (
    Geometry(data=(1, 1, 1, 4)),
    Geometry(data=(1, 1, 1, 1), filters=(1, 1, 1, 1), padding="VALID"),
    Geometry(filters=(9, 1, 1, 4)),
    Geometry(data=(1, 9, 8, 4), filters=(3, 2, 2, 4), strides=(4, 3)),
    Geometry(data=(1, 4, 4, 4), dilation=(5, 4)),
    Geometry(data=(1, 4, 4, 6), filters=(12, 3, 3, 1)),
    Geometry(data=(2, 4, 4, 6), filters=(10, 3, 2, 3)),
    Geometry(data=(1, 2, 2, 4), padding=(5, 4, 3, 6)),
    Geometry(data=(1, 2, 3, 700), filters=(5, 2, 1, 700), activation=Activation.RELU),
)
MANY_PRODUCTS = (
    GEOMETRIES[-1],
    Geometry(data=(1, 24, 24, 1), filters=(5, 24, 24, 1), padding="VALID"),
)
OTHERS = (
    *(case for g in GEOMETRIES for case in convolving.of_dtype(g)),
    *convolving.int16_corners(Geometry()),
    *(convolving.largest_sums(g, x) for g in MANY_PRODUCTS for x in (-32768, 32767)),
)


def test_int16_and_float_kernels_equal_the_reference(tmp_path: Path) -> None:
    random = [
        case for seed in seeds(150) for case in convolving.random_cases(seed, depthwise=False)
    ]
    c.check([*OTHERS, *random], tmp_path)


def test_inlined_int16_and_float_bodies_equal_the_reference(tmp_path: Path) -> None:
    random = [case for seed in range(6) for case in convolving.random_cases(seed, depthwise=False)]
    c.check_inlined([*OTHERS, *random], tmp_path)
