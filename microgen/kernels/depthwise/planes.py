"""The shapes of the kernels of ``crt/include/microgen/depthwise/depthwise_conv2d_s8_planes.h``: the
choice of the fast axis, the size of the planes, and the numbers of runs of the loops' parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, Graph, Node
from microgen.graph.ops.base import Pair
from microgen.graph.ops.depthwise.depthwise_conv2d import DepthwiseConv2DAttrs
from microgen.graph.ops.geometry import explicit
from microgen.kernels import base
from microgen.kernels.lags import furthest
from microgen.kernels.work import Work

_PLANES = 4  # MG_PLANES
_WORD = 4  # bytes, two values of a plane
_PITCH = {1: 14, 2: 9}  # MG_3X3_PITCH and MG_3X3_2_PITCH, by the stride along the fast axis
# MG_3X3_BAND and MG_3X3_2_BAND: the most outputs whose words, see ``Shape.words``, fit the pitch.
_BAND = {1: 26, 2: 8}
# Bytes from one output to the next: the assembly adds the half of a register.
_MOST_STEP = 2**16 - 1
_LINE, _STORE, _TAPS = 12, 4, 3  # instructions, about


@dataclass(frozen=True, slots=True)
class WindowAxis:
    """One axis of a convolution: values, outputs, taps, stride and zero points before the input."""

    values: int
    outputs: int
    taps: int
    stride: int
    pad: int  # zero points before the input


@dataclass(frozen=True, slots=True)
class Shape:
    """A depthwise convolution with one of its axes as the fast one."""

    fast: WindowAxis
    slow: WindowAxis
    is_upright: bool  # the fast axis is the height
    batches: int
    channels: int  # of the input
    multiplier: int  # outputs of a channel

    @property
    def is_3x3(self) -> bool:
        """Whether the loops for 3x3 filters compute it."""
        return self.fast.taps == self.slow.taps == 3

    @property
    def step(self) -> int:
        """Bytes from one output to the next."""
        # Along the height, the next output is a whole row of pixels further.
        return self.channels * self.multiplier * (self.slow.outputs if self.is_upright else 1)

    @property
    def lines(self) -> int:
        """The lines that the windows of all outputs read."""
        return (self.slow.outputs - 1) * self.slow.stride + self.slow.taps

    @property
    def group(self) -> int:
        """Outputs that the loop for any filter computes at a time."""
        return 4 if self.fast.stride == 1 else 2

    @property
    def filter_words(self) -> int:
        """Words of a row of taps."""
        return (self.fast.taps + 5 - self.fast.stride) // 4 * 2

    def groups(self, is_3x3: bool) -> int:
        """The number of groups of outputs in a line."""
        return -(-self.fast.outputs // (2 if is_3x3 else self.group))

    def bands(self, is_3x3: bool) -> list[int]:
        """The outputs of each band of a line."""
        size = _BAND[self.fast.stride] if is_3x3 else self.fast.outputs
        whole, last = divmod(self.fast.outputs, size)
        return [size] * whole + [last] * (last > 0)

    def order(self, is_3x3: bool) -> tuple[Array, Array]:
        """For each band of each image, in the order of the loops: the end of the outputs stored
        before the band, and the first value that the band copies; int64 [bands * batches], in
        pixels.
        """
        fast, slow = self.fast, self.slow
        written, read, first, done = list[int](), list[int](), 0, 0
        for count in self.bands(is_3x3):
            begin = max(0, first * fast.stride - fast.pad) * (slow.values if self.is_upright else 1)
            first += count
            # An upright band is some whole rows of the image. Another one is some columns, which
            # end in the last row.
            before = (slow.outputs - 1) * fast.outputs
            end = first * slow.outputs if self.is_upright else before + first
            for n in range(self.batches):
                written.append(done)
                read.append(n * fast.values * slow.values + begin)
                # The next band begins at the first image again, so ends do not only grow.
                done = max(done, n * fast.outputs * slow.outputs + end)
        return np.array(written, np.int64), np.array(read, np.int64)

    def words(self, count: int, is_3x3: bool) -> int:
        """The words of a plane's line that are read for ``count`` outputs."""
        if is_3x3:
            # Two outputs of stride 1 need four values, which are two words, and the next two need
            # the second of these again. One output of stride 2 needs as many words.
            return (count + 1) // 2 + 1 if self.fast.stride == 1 else count + 1
        return -(-count // self.group) * 2 + self.filter_words - 1

    def scratch(self, is_3x3: bool) -> int:
        """Bytes of scratch memory."""
        if is_3x3:
            return _WORD * _PLANES * _PITCH[self.fast.stride] * self.lines
        taps = 2 * self.slow.taps * self.filter_words
        return _WORD * (taps + _PLANES * self.words(self.fast.outputs, is_3x3) * self.lines)

    def effort(self, is_3x3: bool) -> int:
        """The approximate number of instructions for one channel, for comparing the axes."""
        words = 9 if is_3x3 else self.slow.taps * self.filter_words
        size = 2 if is_3x3 else self.group
        return self.slow.outputs * (
            _LINE + self.groups(is_3x3) * (size * _STORE + words * _TAPS * size // 2)
        )

    def work(self, is_3x3: bool) -> Work:
        """How often the parts of the loops run; docs/explanation/costs.md describes each number."""
        bands = self.bands(is_3x3)
        few = self.channels < _PLANES
        fills = self.batches * len(bands) * (self.channels if few else -(-self.channels // _PLANES))
        lines = fills * max(0, min(self.slow.values, self.lines - self.slow.pad))
        words = lines * sum(self.words(count, is_3x3) for count in bands) // len(bands)
        filters = self.channels * self.multiplier * self.batches
        runs = filters * self.slow.outputs
        shared = {
            "plane_band": len(bands),
            "plane_cleared": self.scratch(is_3x3) * len(bands),
            "plane_fill": fills,
            "plane_line": 0 if few else lines,
            "plane_word": 0 if few else words,
            "plane_single_word": words if few else 0,
            "plane_filter": filters * len(bands),
        }
        if is_3x3:
            return {
                **shared,
                "plane_run": runs * len(bands),
                "plane_pair": runs * sum(count // 2 for count in bands),
                "plane_single": runs * sum(count % 2 for count in bands),
            }
        groups = runs * self.groups(is_3x3)
        taps = self.slow.taps * self.filter_words // 2
        return {
            **shared,
            "plane_run": runs,
            "plane_group": groups,
            "plane_group_row": groups * self.slow.taps,
            "plane_taps": groups * taps * (self.fast.stride == 1),
            "plane_strided_taps": groups * taps * (self.fast.stride == 2),
            "plane_row": filters * self.slow.taps,
            "plane_widened": filters * taps,
        }


def chosen(node: Node, graph: Graph, *, is_3x3: bool, stride: int | None = None) -> Shape | None:
    """The shape with the better fast axis among shapes with the stride ``stride``, by default 1 or
    2; None if no shape has it. Of two equally good axes, the one with the smaller lag in place is
    chosen."""
    shapes = [
        shape
        for shape in _shapes(node, graph)
        if shape.fast.stride in ((1, 2) if stride is None else (stride,))
        and shape.step <= _MOST_STEP
    ]
    return min(
        shapes,
        key=lambda shape: (shape.effort(is_3x3), furthest(*shape.order(is_3x3))),
        default=None,
    )


def _shapes(node: Node, graph: Graph) -> Iterator[Shape]:
    attrs = base.attrs_of(node, DepthwiseConv2DAttrs)
    data, weight = graph.type_of(node.inputs[:2])
    output = graph.types[node.outputs[0]]
    pads: Pair = explicit(attrs.padding)[:2]
    height, width = (
        WindowAxis(
            data.shape[i + 1], output.shape[i + 1], weight.shape[i + 1], attrs.strides[i], pads[i]
        )
        for i in range(2)
    )
    channels = data.shape[3]
    others = (data.shape[0], channels, output.shape[3] // channels)
    # ``min`` chooses the first one of equals, so the width comes first.
    yield Shape(width, height, False, *others)
    yield Shape(height, width, True, *others)
