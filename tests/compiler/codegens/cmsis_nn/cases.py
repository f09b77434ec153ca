"""Random nodes that CMSIS-NN takes, of every op and for each of its functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import Attrs
from microgen.graph.ops import geometry
from microgen.graph.ops.base import Padding, Pair
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs
from microgen.graph.ops.dense.dense import DenseAttrs
from microgen.graph.ops.depthwise.depthwise_conv2d import DepthwiseConv2DAttrs
from microgen.graph.ops.elementwise.addition import AdditionAttrs
from microgen.graph.ops.elementwise.product import MultiplyAttrs
from microgen.graph.ops.pooling.pooling import AvgPool2DAttrs, MaxPool2DAttrs
from microgen.graph.ops.reductions.softmax import SoftmaxAttrs
from tests.kernels.conformance import conformance as c

Rng = np.random.Generator
Shape4 = tuple[int, int, int, int]


def all_cases(seeds: range) -> Iterator[c.Case]:
    """A case of each kind for each seed, except those that the op itself refuses."""
    for make in _KINDS:
        for seed in seeds:
            rng = np.random.default_rng([seed, _KINDS.index(make)])
            try:
                case = make(rng)
            except ValueError:
                continue
            yield replace(case, name=f"{make.__name__.strip('_')} {seed}")


def _activation(rng: Rng) -> Activation:
    return list(Activation)[int(rng.integers(4))]


def _pair(rng: Rng, low: int, high: int) -> Pair:
    return int(rng.integers(low, high)), int(rng.integers(low, high))


def _padding(rng: Rng) -> Padding:
    top, left, bottom, right = (int(n) for n in rng.integers(0, 4, 4))
    choices: tuple[Padding, ...] = ("SAME", "VALID", (top, left, bottom, right))
    return choices[int(rng.integers(3))]


def _size(rng: Rng, kernel: Pair, dilation: Pair) -> Pair:
    cover, extra = geometry.extent(kernel, dilation), _pair(rng, 0, 6)
    return cover[0] + extra[0], cover[1] + extra[1]


def _weighted(
    rng: Rng, op: str, attrs: Attrs, x: c.Tensor, w: c.Tensor, products: int, outputs: int
) -> c.Case:
    """A case with a usual output scale, or every third time one from the least possible upwards."""
    scale = c.output_scale(x, w, products)
    if rng.integers(3) == 0:
        scale = c.least_output_scale(x, w, products) * 10 ** rng.choice([0, 1, 3, 6, 9])
    out = c.quant(scale, int(rng.choice([-128, 127, *rng.integers(-128, 128, 3)])))
    limit = int(rng.choice([9000, 2**25]))
    bias = (c.bias(rng.integers(-limit, limit, outputs)),) if rng.integers(4) else ()
    return c.Case("", op, attrs, (x, w, *bias), out)


def _conv2d(
    rng: Rng, data: Shape4, filters: Shape4, strides: Pair, dilation: Pair, padding: Padding
) -> c.Case:
    x = c.int8(rng, data, c.random_quant(rng))
    w = c.weight(rng, filters, 0 if rng.integers(2) else None)
    attrs = Conv2DAttrs(strides, dilation, padding, _activation(rng), Rounding.DOUBLE)
    products = filters[1] * filters[2] * filters[3]
    return _weighted(rng, "nn.conv2d", attrs, x, w, products, filters[0])


def _depthwise(
    rng: Rng, data: Shape4, kernel: Pair, multiplier: int, window: tuple[Pair, Pair, Padding]
) -> c.Case:
    channels = data[3] * multiplier
    x = c.int8(rng, data, c.random_quant(rng))
    w = c.weight(rng, (1, *kernel, channels), 3 if rng.integers(2) else None)
    attrs = DepthwiseConv2DAttrs(*window, multiplier, _activation(rng), Rounding.DOUBLE)
    return _weighted(rng, "nn.depthwise_conv2d", attrs, x, w, kernel[0] * kernel[1], channels)


# Convolutions


def _conv2d_any(rng: Rng) -> c.Case:
    kernel, dilation = _pair(rng, 1, 5), _pair(rng, 1, 3)
    groups, depth, filters = (int(n) for n in rng.integers(1, [3, 9, 8]))
    data = (int(rng.integers(1, 3)), *_size(rng, kernel, dilation), groups * depth)
    weight = (groups * filters, *kernel, depth)
    return _conv2d(rng, data, weight, _pair(rng, 1, 4), dilation, _padding(rng))


def _conv2d_wide(rng: Rng) -> c.Case:
    """A case with many channels, and an odd or even number of outputs."""
    kernel = _pair(rng, 1, 4)
    data = (1, *_size(rng, kernel, (1, 1)), int(rng.integers(9, 70)))
    weight = (int(rng.integers(1, 40)), *kernel, data[3])
    return _conv2d(rng, data, weight, _pair(rng, 1, 3), (1, 1), _padding(rng))


def _conv2d_pointwise(rng: Rng) -> c.Case:
    groups = int(rng.choice([1, 1, 1, 2]))
    depth, filters = int(rng.integers(1, 40)), int(rng.integers(1, 20))
    data = (int(rng.integers(1, 3)), *_pair(rng, 1, 7), groups * depth)
    weight = (groups * filters, 1, 1, depth)
    return _conv2d(rng, data, weight, _pair(rng, 1, 4), _pair(rng, 1, 3), _padding(rng))


def _conv2d_pointwise_padded(rng: Rng) -> c.Case:
    """A case with padding only at the bottom and at the right."""
    depth, filters, bottom, right = (int(n) for n in rng.integers([1, 1, 0, 0], [20, 9, 3, 3]))
    data, weight = (1, *_pair(rng, 1, 7), depth), (filters, 1, 1, depth)
    return _conv2d(rng, data, weight, _pair(rng, 1, 4), (1, 1), (0, 0, bottom, right))


def _conv2d_row(rng: Rng) -> c.Case:
    """A case of one row and kernels of one row. Strides times channels are mostly multiples of
    4."""
    width = int(rng.integers(1, 8))
    data = (int(rng.integers(1, 3)), 1, width + int(rng.integers(0, 9)), int(rng.choice([3, 4, 8])))
    weight = (int(rng.integers(1, 12)), 1, width, data[3])
    left, right = (int(n) for n in rng.integers(0, 4, 2))
    paddings: tuple[Padding, ...] = ("SAME", "VALID", (0, left, 0, right), (0, left, 0, left))
    padding = paddings[int(rng.integers(4))]
    return _conv2d(rng, data, weight, (1, int(rng.integers(1, 4))), (1, 1), padding)


def _depthwise_any(rng: Rng) -> c.Case:
    kernel, dilation = _pair(rng, 1, 5), _pair(rng, 1, 3)
    data = (int(rng.integers(1, 3)), *_size(rng, kernel, dilation), int(rng.integers(1, 20)))
    multiplier = int(rng.choice([1, 1, 2, 3, 4, 8]))
    return _depthwise(rng, data, kernel, multiplier, (_pair(rng, 1, 4), dilation, _padding(rng)))


def _depthwise_simple(rng: Rng) -> c.Case:
    """A case for the functions that take one batch and multiplier 1, such as the one for 3x3."""
    kernel = (3, 3) if rng.integers(2) else _pair(rng, 1, 6)
    channels = int(rng.choice([int(rng.integers(1, 40)), 124, 125, 130, 250]))
    data = (1, *_size(rng, kernel, (1, 1)), channels)
    return _depthwise(rng, data, kernel, 1, (_pair(rng, 1, 4), (1, 1), _padding(rng)))


def _depthwise_3x3(rng: Rng) -> c.Case:
    """A case with padding that the function for 3x3 takes at the top and left, and any
    elsewhere."""
    top, left, bottom, right = (int(n) for n in rng.integers(0, [2, 2, 3, 3]))
    data = (1, *_pair(rng, 2, 9), int(rng.integers(1, 20)))
    window: tuple[Pair, Pair, Padding] = (_pair(rng, 1, 3), (1, 1), (top, left, bottom, right))
    return _depthwise(rng, data, (3, 3), 1, window)


def _depthwise_of_one_channel(rng: Rng) -> c.Case:
    kernel = (1, int(rng.integers(1, 5))) if rng.integers(2) else _pair(rng, 1, 5)
    dilation = _pair(rng, 1, 3)
    height, width = _size(rng, kernel, dilation)
    data = (int(rng.integers(1, 3)), height if rng.integers(2) else kernel[0], width, 1)
    multiplier, window = int(rng.integers(1, 20)), (_pair(rng, 1, 5), dilation, _padding(rng))
    return _depthwise(rng, data, kernel, multiplier, window)


# Other ops


def _dense(rng: Rng) -> c.Case:
    rows, depth, units = (int(n) for n in rng.integers(1, [4, 70, 20]))
    x = c.int8(rng, (rows, depth), c.random_quant(rng))
    w = c.weight(rng, (units, depth), 0 if rng.integers(2) else None)
    attrs = DenseAttrs(_activation(rng), Rounding.DOUBLE, keep_num_dims=False)
    return _weighted(rng, "nn.dense", attrs, x, w, depth, units)


def _max_pool(rng: Rng) -> c.Case:
    return _pool(rng, "nn.max_pool2d", MaxPool2DAttrs)


def _average_pool(rng: Rng) -> c.Case:
    return _pool(rng, "nn.avg_pool2d", AvgPool2DAttrs)


def _pool(rng: Rng, op: str, make: Callable[[Pair, Pair, Padding, Activation], Attrs]) -> c.Case:
    pool = _pair(rng, 1, 6)
    channels = int(rng.choice([int(rng.integers(1, 9)), 16, 21, 40]))
    data = (int(rng.integers(1, 3)), *_size(rng, pool, (1, 1)), channels)
    x = c.int8(rng, data, c.random_quant(rng))
    attrs = make(pool, _pair(rng, 1, 6), _padding(rng), _activation(rng))
    return c.Case("", op, attrs, (x,), x.type.quant)


def _softmax(rng: Rng) -> c.Case:
    shape = (int(rng.integers(1, 5)), int(rng.choice([1, 2, 3, 10, 12, 33, 200])))
    x = c.int8(rng, shape, c.quant(10 ** rng.uniform(-6, 3), int(rng.integers(-128, 128))))
    if rng.integers(3) == 0:
        x.array[:] = np.clip(x.array, 100, 120)
    return c.Case("", "nn.softmax", SoftmaxAttrs(1.0), (x,), c.quant(1 / 256, -128))


def _add(rng: Rng) -> c.Case:
    return _elementwise(rng, "add", AdditionAttrs(_activation(rng)), 1)


def _multiply(rng: Rng) -> c.Case:
    return _elementwise(rng, "multiply", MultiplyAttrs(_activation(rng)), 2)


def _elementwise(rng: Rng, op: str, attrs: Attrs, power: int) -> c.Case:
    """A case in which an operand is a constant every fourth time."""
    shape = (int(rng.integers(1, 4)), int(rng.integers(1, 40)))
    lhs, rhs = (c.int8(rng, shape, c.random_quant(rng)) for _ in range(2))
    scale = lhs.type.scale * rhs.type.scale ** (power - 1) * 10 ** rng.uniform(-1, 3)
    rhs = replace(rhs, is_constant=bool(rng.integers(4) == 0))
    return c.Case("", op, attrs, (lhs, rhs), c.quant(scale, int(rng.integers(-128, 128))))


_KINDS = (
    *(_conv2d_any, _conv2d_wide, _conv2d_pointwise, _conv2d_pointwise_padded, _conv2d_row),
    *(_depthwise_any, _depthwise_simple, _depthwise_3x3, _depthwise_of_one_channel),
    *(_dense, _max_pool, _average_pool, _softmax, _add, _multiply),
)
