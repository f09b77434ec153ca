"""Random graphs of reshapes, transposes, and the nodes that they move past or into.

All values are small integers, as floats, so sums are exact in every order.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import Array, Graph
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs
from microgen.graph.ops.dense.dense import DenseAttrs
from microgen.graph.ops.depthwise.depthwise_conv2d import DepthwiseConv2DAttrs
from microgen.graph.ops.elementwise.addition import AddAttrs
from microgen.graph.ops.elementwise.choices import MaximumAttrs
from microgen.graph.ops.moves.layouts import ConcatenateAttrs, TransposeAttrs
from microgen.graph.ops.moves.pads import PadAttrs
from microgen.graph.ops.moves.slices import StridedSliceAttrs
from microgen.graph.ops.moves.views import ReshapeAttrs
from microgen.graph.ops.reductions.extremes import MaxAttrs
from microgen.graph.ops.reductions.reduction import SumAttrs
from tests.compiler.passes.test_cancel_layouts import Builder

Shape = tuple[int, ...]
_INPUTS: tuple[Shape, ...] = ((1, 4, 4, 4), (1, 4, 6), (2, 12), (1, 2, 3, 4), (1, 8, 2, 2))
_WINDOW = ((1, 1), (1, 1), (0, 0, 0, 0))


def factors(rng: np.random.Generator, size: int) -> Shape:
    """A random shape of that many elements."""
    found: list[int] = []
    while size > 1:
        found.append(int(rng.choice([k for k in range(2, size + 1) if size % k == 0])))
        size //= found[-1]
    for _ in range(int(rng.integers(3))):
        found.insert(int(rng.integers(len(found) + 1)), 1)
    return tuple(found) or (1,)


class LayoutGraph:
    """A graph while it is drawn."""

    def __init__(self, seed: int) -> None:
        self.rng, self.b = np.random.default_rng(seed), Builder()
        self.live = [self.b.input(*_INPUTS[int(self.rng.integers(5))]) for _ in range(2)]
        kinds = (self.shaped, self.turned, self.dense, self.layer, self.above, self.joined)
        for _ in range(int(self.rng.integers(4, 16))):
            more = (self.reduced, self.cut, self.padded, self.turned, self.shaped)
            every: tuple[Callable[[str, Shape], str], ...] = (*kinds, *more)
            data = str(self.rng.choice(self.live[-6:]))
            make = every[int(self.rng.integers(len(every)))]
            self.live.append(make(data, self.b.types[data].shape))

    def graph(self) -> Graph:
        made = self.live[2:]
        outputs = self.rng.choice(made, min(2, len(made)), replace=False)
        return self.b.graph(*map(str, outputs))

    def sample(self) -> dict[str, Array]:
        kinds = {name: self.b.types[name] for name in self.b.inputs}
        return {n: self.rng.integers(-3, 4, k.shape).astype(np.float32) for n, k in kinds.items()}

    def constant(self, *shape: int) -> str:
        name = self.b.constant(*shape)
        self.b.constants[name] = self.rng.integers(-2, 3, shape).astype(np.float32)
        return name

    def alike(self, shape: Shape) -> str:
        return str(self.rng.choice([n for n in self.live if self.b.types[n].shape == shape]))

    def shaped(self, data: str, shape: Shape) -> str:
        own = factors(self.rng, math.prod(shape))
        return self.b.node("reshape", ReshapeAttrs(own), data)

    def turned(self, data: str, shape: Shape) -> str:
        axes = tuple(int(k) for k in self.rng.permutation(len(shape)))
        if len(shape) == 4 and self.rng.integers(2):
            axes = (0, 2, 3, 1) if self.rng.integers(2) else (0, 3, 1, 2)
        return self.b.node("transpose", TransposeAttrs(axes), data)

    def dense(self, data: str, shape: Shape) -> str:
        keeps = bool(self.rng.integers(2)) and bool(shape)
        size, units = math.prod(shape), int(self.rng.choice([2, 4, 12]))
        divisors = [k for k in range(1, size + 1) if size % k == 0]
        features = shape[-1] if keeps else int(self.rng.choice(divisors))
        attrs = DenseAttrs(Activation.NONE, Rounding.SINGLE, keeps)
        weights = (self.constant(units, features), self.constant(units))
        return self.b.node("nn.dense", attrs, data, *weights)

    def layer(self, data: str, shape: Shape) -> str:
        if len(shape) != 4:
            return self.turned(data, shape)
        channels, relu = shape[3], Activation.NONE
        if self.rng.integers(2):
            wide = DepthwiseConv2DAttrs(*_WINDOW, 1, relu, Rounding.SINGLE)
            weights = (self.constant(1, 1, 1, channels), self.constant(channels))
            return self.b.node("nn.depthwise_conv2d", wide, data, *weights)
        filters = int(self.rng.choice([2, 4]))
        groups = 2 if channels % 2 == 0 and not self.rng.integers(3) else 1
        weights = (self.constant(filters, 1, 1, channels // groups), self.constant(filters))
        attrs = Conv2DAttrs(*_WINDOW, relu, Rounding.SINGLE)
        return self.b.node("nn.conv2d", attrs, data, *weights)

    def above(self, data: str, shape: Shape) -> str:
        sides = [n if self.rng.integers(2) else 1 for n in shape]
        other = self.constant(*sides[int(self.rng.integers(len(shape) + 1)) :])
        return self.b.node("maximum", MaximumAttrs(), other, data)

    def joined(self, data: str, shape: Shape) -> str:
        other = self.alike(shape)
        if not shape or self.rng.integers(2):
            return self.b.node("add", AddAttrs(Activation.NONE), data, other)
        axis = int(self.rng.integers(len(shape)))
        return self.b.node("concatenate", ConcatenateAttrs(axis), data, other)

    def reduced(self, data: str, shape: Shape) -> str:
        axes = tuple(k for k in range(len(shape)) if not self.rng.integers(3)) or (0,)
        if not shape:
            return self.above(data, shape)
        op, attrs = (("sum", SumAttrs), ("max", MaxAttrs))[int(self.rng.integers(2))]
        return self.b.node(op, attrs(axes, bool(self.rng.integers(2))), data)

    def cut(self, data: str, shape: Shape) -> str:
        begin = [int(self.rng.integers(n)) if self.rng.integers(2) else 0 for n in shape]
        own = [
            n if a == 0 and self.rng.integers(2) else int(self.rng.integers(1, n - a + 1))
            for a, n in zip(begin, shape, strict=True)
        ]
        attrs = StridedSliceAttrs(tuple(begin), (1,) * len(shape), tuple(own))
        return self.b.node("strided_slice", attrs, data)

    def padded(self, data: str, shape: Shape) -> str:
        if math.prod(shape) > 200:
            return self.cut(data, shape)
        pads = tuple((int(self.rng.integers(2)), 0) for _ in shape)
        return self.b.node("nn.pad", PadAttrs(pads, 1), data)
