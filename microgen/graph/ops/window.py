"""The cells of the input that each tap of a window covers, for convolutions and pools."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import MAX_BYTES, Array, ArrayType, Types
from microgen.graph.ops.base import Padding, Pair, Shape
from microgen.graph.ops.cost import ReferenceCost, products
from microgen.graph.ops.geometry import fitted


def nhwc(role: str, tensor: ArrayType) -> Shape:
    """The shape of a 4-D tensor; ValueError if it is not 4-D."""
    if len(tensor.shape) != 4:
        raise ValueError(f"the {role} {tensor} must have 4 dimensions")
    return tensor.shape


def spatial(shape: Shape) -> Pair:
    """(height, width) of an NHWC, OHWI or 1HWC shape."""
    return shape[1], shape[2]


def check_dilation(data: Shape, dilation: Pair) -> None:
    """Raise ValueError unless the distance of neighbouring taps in the NHWC data, in values, fits
    int32. Kernels compute this distance even if at most one tap is ever in the data.
    """
    _, _, width, channels = data
    step = channels * max(dilation[0] * width, dilation[1])
    # Kernels compute this distance in int32.
    if step > MAX_BYTES:
        raise ValueError(
            f"with the dilation {dilation}, taps are {step} values apart; kernels count to "
            f"{MAX_BYTES}"
        )


@dataclass(frozen=True, slots=True)
class Along:
    """A window along one axis.

    Padding is never created, because it may be far larger than data and output, and adds nothing.
    """

    size: int  # cells of the input
    places: int  # of the window
    kernel: int  # taps
    stride: int  # cells from one place to the next
    dilation: int  # cells from one tap to the next
    before: int  # cells of padding

    @property
    def reaching(self) -> range:
        """The taps that may cover a cell at some place."""
        # The last place reaches the data with the lowest tap, and place 0 with the highest one.
        first = -(((self.places - 1) * self.stride - self.before) // self.dilation)
        last = (self.before + self.size - 1) // self.dilation
        return range(max(first, 0), min(last + 1, self.kernel))

    @property
    def cells(self) -> int:
        """An upper bound of the number of pairs of a place and a cell that a tap covers at the
        place."""
        return self.places * min(self.kernel, self.size)

    def inside(self) -> Iterator[tuple[int, slice, slice]]:
        """Each tap that covers a cell, in order: the places at which it covers a cell, and these
        cells."""
        for tap in self.reaching:
            at = tap * self.dilation - self.before  # at place 0
            # -(at // stride) is -at / stride, rounded up.
            first = max(-(at // self.stride), 0)
            last = min((self.size - 1 - at) // self.stride, self.places - 1)
            if first <= last:
                # The cells that the tap covers at the first and at the last of its places.
                start, end = at + first * self.stride, at + last * self.stride
                yield tap, slice(first, last + 1), slice(start, end + 1, self.stride)


Region = tuple[slice, slice, slice]  # of NHWC data: all images, rows, columns


def taps(rows: Along, columns: Along) -> Iterator[tuple[Pair, Region, Region]]:
    """Each tap (y, x) that covers data, row by row: the part of the output at which the tap covers
    data, and the covered part of the data."""
    across = tuple(columns.inside())
    for y, places, cells in rows.inside():
        for x, their_places, their_cells in across:
            yield (y, x), (slice(None), places, their_places), (slice(None), cells, their_cells)


def axes(
    padding: Padding, size: Pair, kernel: Pair, strides: Pair, dilation: Pair
) -> tuple[Along, Along]:
    """The window along rows and columns of an input of (height, width) ``size``."""
    pads, places = fitted(padding, size, kernel, strides, dilation)
    each = zip(size, places, kernel, strides, dilation, pads[:2], strict=True)
    rows, columns = (Along(*numbers) for numbers in each)
    return rows, columns


def window_cost(
    window: tuple[Along, Along], each: int, inputs: Types, outputs: Types, *, groups: int = 1
) -> ReferenceCost:
    """The cost of an op that iterates over ``taps``, with ``each`` multiply-accumulates per place
    and cell, in ``groups`` groups."""
    rows, columns = window
    calls = len(rows.reaching) * len(columns.reaching) * groups
    return products(inputs, outputs, rows.cells * columns.cells * each, calls=calls)


def cells_seen(rows: Along, columns: Along) -> Array:
    """The number of the data's cells that the window covers at each place, int64 [OH, OW, 1]."""
    down, across = (_seen_along(along) for along in (rows, columns))
    return np.outer(down, across)[..., None]


def _seen_along(along: Along) -> Array:
    seen = np.zeros(along.places, np.int64)
    for _, places, _ in along.inside():
        seen[places] += 1
    return seen
