"""Reads the windows of convolutions and pools: kernels, strides, dilations and the kinds of padding
that ONNX has, for any number of spatial axes.

Source: ONNX's operator specifications of Conv, MaxPool and AveragePool.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgen.frontends.onnx.nodes import OnnxNode
from microgen.graph.ir.graph import Array

Sizes = tuple[int, ...]

# Over a new axis of size 1, counts are 1 and paddings are 0.
_COUNTS = ("kernel", "strides", "dilations", "places")
_PADS = ("before", "after", "extra")


@dataclass(frozen=True, slots=True)
class OnnxWindow:
    """A window over the spatial axes; every tuple has one number per axis."""

    kernel: Sizes
    strides: Sizes
    dilations: Sizes
    before: Sizes  # padding
    after: Sizes  # padding
    extra: Sizes  # cells past the padding that only the last window of ``ceil_mode`` covers
    places: Sizes  # the number of windows

    @property
    def covers(self) -> Sizes:
        """The cells from the first to the last tap."""
        return covers(self.kernel, self.dilations)

    @property
    def ends(self) -> Sizes:
        """The cells after each axis that windows cover: the padding and ``extra``."""
        return tuple(a + e for a, e in zip(self.after, self.extra, strict=True))

    def cells(self, axis: int) -> Array:
        """The cell that each tap reads at each place along an axis, [taps, places]. Cells before
        the data are negative."""
        taps = self.dilations[axis] * np.arange(self.kernel[axis])[:, None]
        return taps + self.strides[axis] * np.arange(self.places[axis]) - self.before[axis]

    @property
    def padding(self) -> tuple[int, int, int, int]:
        """The padding of a window over an image: top, left, bottom, right."""
        return (*pair(self.before), *pair(self.ends))

    def part(self, axes: slice) -> OnnxWindow:
        """A window over a part of the axes."""
        return OnnxWindow(*(getattr(self, field.name)[axes] for field in dataclasses.fields(self)))

    def with_height(self) -> OnnxWindow:
        """The window of one axis as a window of two, over an image of height 1."""
        flat = {name: (1, *getattr(self, name)) for name in _COUNTS}
        return OnnxWindow(**flat, **{name: (0, *getattr(self, name)) for name in _PADS})


def pair(values: Sequence[int]) -> tuple[int, int]:
    """Two numbers, as a tuple of exactly two."""
    first, second = values
    return first, second


def covers(kernel: Sequence[int], dilations: Sequence[int]) -> Sizes:
    """The cells from the first to the last tap of a dilated kernel."""
    return tuple((k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True))


def kernel_shape(node: OnnxNode, rank: int, default: Sequence[int] | None = None) -> Sizes:
    """The attribute ``kernel_shape``. ModelError if it is absent without a default, or differs from
    the default."""
    kernel = positive(node, "kernel_shape", rank, default)
    if default is not None and kernel != tuple(default):
        raise node.invalid(f"has the kernel_shape {list(kernel)} for a weight of {list(default)}")
    return kernel


def positive(node: OnnxNode, name: str, rank: int, default: Sequence[int] | None = None) -> Sizes:
    """An attribute of one number per spatial axis, each at least 1. ModelError otherwise."""
    values = _numbers(node, name, rank, default)
    if min(values) < 1:
        raise node.invalid(f"has the {name} {list(values)}; numbers from 1 on are expected")
    return values


def pads(node: OnnxNode, rank: int) -> tuple[Sizes, Sizes]:
    """The attribute ``pads``: the cells before each axis, and the cells after it."""
    values = _numbers(node, "pads", 2 * rank, (0,) * (2 * rank))
    if min(values) < 0:
        raise node.invalid(f"has the pads {list(values)}; numbers from 0 on are expected")
    return values[:rank], values[rank:]


def _numbers(node: OnnxNode, name: str, count: int, default: Sequence[int] | None) -> Sizes:
    numbers = node.ints(name) if default is None else node.ints(name, tuple(default))
    if len(numbers) != count:
        raise node.invalid(f"has {len(numbers)} {name}; {count} are expected")
    return numbers


def auto_pad(node: OnnxNode) -> str:
    """The attribute ``auto_pad``."""
    kind = str(node.attr("auto_pad", "NOTSET")) or "NOTSET"
    if kind not in ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"):
        raise node.invalid(f"has the auto_pad {kind!r}")
    return kind


def halves(total: int, kind: str) -> tuple[int, int]:
    """Padding before and after an axis, ``total`` cells in all. If this number is odd, SAME_UPPER
    has one more cell after, and SAME_LOWER one more before.
    """
    less = total // 2
    # Other kinds are SAME_LOWER, and NOTSET of a ConvTranspose that has an output_shape.
    return (less, total - less) if kind == "SAME_UPPER" else (total - less, less)


def window(node: OnnxNode, sizes: Sequence[int], kernel: Sizes) -> OnnxWindow:
    """The window of a node over spatial axes of these sizes. ModelError if an attribute has the
    wrong length or value, or the window does not fit the padded input."""
    rank = len(sizes)
    strides = positive(node, "strides", rank, (1,) * rank)
    dilations = positive(node, "dilations", rank, (1,) * rank)
    cover = covers(kernel, dilations)
    axes = list(zip(sizes, cover, strides, strict=True))
    kind = auto_pad(node)
    # SAME defines the number of windows, from which the padding follows; otherwise it is the
    # reverse.
    if kind.startswith("SAME"):
        pairs = [halves(_same(*axis), kind) for axis in axes]
        before, after = (tuple(side) for side in zip(*pairs, strict=True))
    else:
        before, after = pads(node, rank) if kind == "NOTSET" else ((0,) * rank, (0,) * rank)
    ceil = bool(node.attr("ceil_mode", 0))
    if ceil and kind == "VALID":
        _refuse_last_windows(node, axes)
    # SAME fixes the number of windows, and for VALID ceil_mode was refused if it matters.
    ceil = ceil and kind == "NOTSET"
    places = tuple(
        _places(node, *axis, pad, end, ceil=ceil)
        for axis, pad, end in zip(axes, before, after, strict=True)
    )
    extra = tuple(
        max((n - 1) * stride + covered - size - pad - end, 0)
        for n, (size, covered, stride), pad, end in zip(places, axes, before, after, strict=True)
    )
    return OnnxWindow(kernel, strides, dilations, before, after, extra, places)


def _refuse_last_windows(node: OnnxNode, axes: Sequence[tuple[int, int, int]]) -> None:
    """UnsupportedError if ``ceil_mode`` would matter without padding."""
    for size, cover, stride in axes:
        # ONNX's formula for VALID ignores ceil_mode, but ONNX Runtime adds a window.
        if (size - cover) % stride and size > cover:
            raise node.unsupported(
                f"has ceil_mode with auto_pad=VALID, whose last window exceeds {size} cells",
                supported="explicit pads with ceil_mode",
            )


def _same(size: int, cover: int, stride: int) -> int:
    """The padding with which there are ceil(size / stride) windows."""
    return max((-(-size // stride) - 1) * stride + cover - size, 0)


def _places(
    node: OnnxNode, size: int, cover: int, stride: int, before: int, after: int, *, ceil: bool
) -> int:
    room = size + before + after - cover
    if room < 0:
        raise node.invalid(
            f"has a window of {cover} cells, but the padded input has {size + before + after}"
        )
    if not ceil:
        return room // stride + 1
    count = -(-room // stride) + 1
    # A window that would begin after the data is left out.
    return count - 1 if (count - 1) * stride >= size + before else count
