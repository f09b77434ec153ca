"""Cases of nn.depthwise_conv2d for the kernels that copy channels to planes: their bands, margins
and blocks of channels, each with requantizations in one and in two steps."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import ArrayType, DType
from microgen.graph.ops.base import Padding, Pair
from microgen.graph.ops.depthwise.depthwise_conv2d import DepthwiseConv2DAttrs
from tests.kernels.conformance import conformance as c

Data = tuple[int, int, int, int]
_SAME: Padding = "SAME"
# Data, filters, multiplier, strides and padding.
_SHAPES: tuple[tuple[Data, Pair, int, Pair, Padding], ...] = (
    ((1, 1, 1, 4), (3, 3), 1, (1, 1), _SAME),  # a pixel
    ((1, 3, 3, 5), (3, 3), 1, (1, 1), "VALID"),  # one output
    ((1, 5, 1, 8), (3, 3), 1, (1, 1), _SAME),  # a column
    ((1, 1, 6, 6), (3, 3), 1, (1, 1), _SAME),  # a row
    ((1, 6, 6, 8), (3, 3), 1, (1, 1), _SAME),
    ((2, 7, 5, 7), (3, 3), 1, (1, 1), _SAME),  # images, a part of a block
    ((1, 25, 5, 4), (3, 3), 1, (1, 1), _SAME),  # the height is the fast axis
    ((1, 2, 27, 4), (3, 3), 1, (1, 1), _SAME),  # a band, and one of one output
    ((2, 3, 54, 5), (3, 3), 1, (1, 1), (0, 1, 2, 3)),  # three bands
    ((1, 30, 29, 4), (3, 3), 1, (1, 1), _SAME),
    ((1, 4, 5, 4), (3, 3), 1, (1, 1), (3, 4, 5, 6)),  # windows in the padding only
    ((1, 5, 6, 1), (3, 3), 5, (1, 1), _SAME),
    ((1, 5, 6, 3), (3, 3), 2, (1, 1), _SAME),
    ((1, 4, 7, 6), (3, 3), 3, (1, 1), "VALID"),
    ((1, 1, 1, 4), (3, 3), 1, (2, 2), _SAME),
    ((1, 2, 2, 9), (3, 3), 1, (2, 2), _SAME),
    ((1, 12, 12, 4), (3, 3), 1, (2, 2), _SAME),
    ((2, 9, 7, 6), (3, 3), 1, (2, 2), _SAME),
    ((1, 5, 17, 4), (3, 3), 1, (2, 2), _SAME),  # a band, and one of one output
    ((1, 35, 36, 4), (3, 3), 1, (2, 2), (1, 1, 0, 1)),
    ((1, 8, 9, 2), (3, 3), 4, (2, 2), _SAME),
    ((1, 7, 8, 4), (3, 3), 1, (2, 1), _SAME),  # other strides along the axes
    ((1, 7, 8, 4), (3, 3), 1, (3, 1), _SAME),
    ((1, 7, 8, 4), (3, 3), 1, (3, 2), _SAME),
    ((1, 30, 1, 8), (3, 1), 1, (1, 1), "VALID"),
    ((1, 24, 1, 5), (10, 1), 1, (1, 1), "VALID"),
    ((1, 15, 1, 8), (15, 1), 1, (1, 1), "VALID"),
    ((1, 1, 9, 4), (1, 4), 1, (1, 1), _SAME),
    ((2, 9, 8, 6), (5, 5), 1, (1, 1), _SAME),
    ((1, 9, 8, 6), (5, 5), 1, (2, 2), _SAME),
    ((1, 11, 7, 3), (4, 2), 2, (2, 1), _SAME),
    ((1, 12, 9, 1), (10, 4), 6, (2, 2), _SAME),
    ((1, 4, 4, 4), (1, 1), 1, (1, 1), "VALID"),
    ((1, 6, 5, 4), (7, 8), 1, (1, 2), (6, 7, 6, 7)),
    ((1, 3, 5, 8), (3, 3), 1, (1, 1), (0, 1, 0, 1)),  # bands of rows, with padding at the sides
    ((1, 3, 1, 4), (3, 3), 1, (1, 1), (0, 1, 0, 1)),
    ((2, 4, 17, 7), (3, 3), 1, (1, 1), (0, 1, 0, 1)),  # two parts of a row, parts of a block
    ((1, 3, 48, 5), (3, 3), 1, (1, 1), (0, 1, 0, 1)),  # three parts
    ((1, 3, 2, 4), (3, 3), 1, (1, 1), (0, 5, 0, 18)),  # windows and parts in the padding only
    ((1, 5, 9, 9), (3, 3), 1, (2, 1), (0, 1, 0, 1)),
    ((1, 3, 8, 8), (3, 3), 1, (2, 2), (0, 0, 0, 1)),
    ((2, 5, 35, 6), (3, 3), 1, (1, 2), (0, 1, 0, 1)),
    ((1, 5, 4, 7), (3, 3), 1, (2, 2), (0, 18, 0, 4)),
)


def _case(
    number: int, rounding: Rounding, zero: int, value: int | None, activation: Activation
) -> c.Case:
    data, kernel, multiplier, strides, padding = _SHAPES[number]
    rng = np.random.default_rng(number)
    channels = data[3] * multiplier
    x = c.int8(rng, data, c.quant(0.05, zero))
    if value is not None:
        kind = ArrayType(data, DType.INT8, x.type.quant)
        x = c.Tensor(kind, np.full(data, value, np.int8))
    w = c.weight(rng, (1, *kernel, channels), 3)
    if value is not None:
        w.array[:] = -128
    bias = c.bias(rng.integers(-9000, 9000, channels))
    attrs = DepthwiseConv2DAttrs(strides, (1, 1), padding, multiplier, activation, rounding)
    scale = c.output_scale(x, w, kernel[0] * kernel[1])
    out = c.quant(scale, int(rng.choice([-128, 127, -3])))
    name = f"planes {number}, {rounding.value}, {zero}, {value}"
    return c.Case(name, "nn.depthwise_conv2d", attrs, (x, w, bias), out)


def cases() -> Iterator[c.Case]:
    """All shapes with both kinds of roundings, with random values and with extreme ones."""
    for number in range(len(_SHAPES)):
        for rounding in (Rounding.UPWARD, Rounding.DOUBLE, Rounding.FLOAT):
            zero = (-128, 127, 5)[number % 3]
            yield _case(number, rounding, zero, None, list(Activation)[number % 4])
            yield _case(number, rounding, zero, (-128, 127)[number % 2], Activation.NONE)
