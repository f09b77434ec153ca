"""roi_align: regions of images; of each the averages or maxima of a grid of bins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, Arrays, Attrs, DType, Types
from microgen.graph.ops.balls import UNIT, gamma
from microgen.graph.ops.base import (
    EXACT,
    Bound,
    Inexact,
    OpDefinition,
    Operands,
    Pair,
    Shapes,
    expect_inputs,
)
from microgen.graph.ops.constraints import dtype_constraint
from microgen.graph.ops.cost import ReferenceCost
from microgen.graph.ops.moves.indexed import expect_indices

MOST = 256  # samples along each axis of a bin

_F = np.float32


@dataclass(frozen=True, slots=True)
class RoiAlignAttrs(Attrs):
    """Inputs: float32 images [n, height, width, channels]; float32 regions [r, 4], x, y of two
    corners; int32 [r], the image of each. A region's coordinates are multiplied by ``scale``, and
    then ``is_half`` subtracts half a pixel. Output: [r, ``size``, channels].

    A bin has ``samples`` along each axis, or one for each pixel if that is 0, up to 256. A sample
    is interpolated from four pixels, if it is at most a pixel outside, and 0 otherwise. The result
    is the mean, or, if it ``is_max``, the greatest product of a pixel and its weight."""

    size: Pair
    scale: float
    samples: int
    is_max: bool
    is_half: bool


def infer(attrs: RoiAlignAttrs, inputs: Types) -> Shapes:
    """The bins of each region."""
    expect_inputs(inputs, 3, "images, regions, numbers")
    images, regions, numbers = (tensor.shape for tensor in inputs)
    if len(images) != 4 or len(numbers) != 1 or regions != (*numbers, 4):
        raise ValueError(
            f"the images are {inputs[0]}, the regions {inputs[1]}, their images {inputs[2]}"
        )
    if min(attrs.size) < 1 or not 0 <= attrs.samples <= MOST or not np.isfinite(attrs.scale):
        raise ValueError(
            f"there are {attrs.size} bins of {attrs.samples} samples, by the scale {attrs.scale}; "
            f"0 to {MOST} samples are expected"
        )
    return ((*numbers, *attrs.size, images[3]),)


def check(_attrs: RoiAlignAttrs, inputs: Types, outputs: Types) -> str | None:
    """float32 images, regions and output."""
    images, regions, numbers = inputs
    if sentence := (
        dtype_constraint("images", images, (DType.FLOAT32,), is_plural=True)
        or dtype_constraint("regions", regions, (DType.FLOAT32,), is_plural=True)
        or dtype_constraint("numbers of the images", numbers, (DType.INT32,), is_plural=True)
    ):
        return sentence
    return None if outputs[0].dtype is DType.FLOAT32 else f"the output is {outputs[0]}"


def reference(attrs: RoiAlignAttrs, operands: Operands) -> Arrays:
    """Each step is rounded to float32. Source: ONNX, RoiAlign."""
    images, regions, numbers = operands.inputs
    wrong = "roi_align has numbers of images that do not exist"
    expect_indices(wrong, numbers, len(images), position=2)
    result = np.zeros(operands.output_types[0].shape, np.float32)
    with np.errstate(all="ignore"):
        for own, region, number in zip(result, regions, numbers, strict=True):
            axes = [_Axis.of(attrs, axis, region, images.shape[1 + axis]) for axis in (0, 1)]
            for y, x in np.ndindex(attrs.size):
                own[y, x] = _bin(attrs, images[number], axes[0], axes[1], y, x)
    return (result,)


@dataclass(frozen=True, slots=True)
class _Axis:
    """A region along one axis of an image with ``size`` pixels: its start, the size of its bins,
    and their number of samples.
    """

    start: np.float32
    width: np.float32
    samples: int
    size: int

    @classmethod
    def of(cls, attrs: RoiAlignAttrs, axis: int, region: Array, size: int) -> _Axis:
        offset = _F(0.5 if attrs.is_half else 0)
        start, end = (region[k] * _F(attrs.scale) - offset for k in (1 - axis, 3 - axis))
        length = end - start
        # ONNX: regions have at least the size of a pixel, unless coordinates are of half pixels.
        if not attrs.is_half and not length > 1:
            length = _F(1)
        # NaN and infinite widths cannot become ints, hence the conditions in the next line.
        width = length / _F(attrs.size[axis])
        pixels = int(np.ceil(min(width, _F(MOST)))) if width > 0 else 0
        return cls(start, width, attrs.samples or pixels, size)

    def pixels(self, place: int, sample: int) -> tuple[tuple[int, np.float32], ...]:
        """The two pixels of a sample with their weights, which are 0 if it is outside."""
        step = (_F(sample) + _F(0.5)) * self.width / _F(self.samples)
        at = self.start + _F(place) * self.width + step
        # The condition is negated, so that NaN is outside, too.
        if not (at >= -1 and at <= self.size):
            return ((0, _F(0)), (0, _F(0)))
        at = max(at, _F(0))
        low = int(at)
        if low >= self.size - 1:
            return ((self.size - 1, _F(1)), (self.size - 1, _F(0)))
        return ((low, _F(1) - (at - _F(low))), (low + 1, at - _F(low)))


def _bin(attrs: RoiAlignAttrs, image: Array, rows: _Axis, columns: _Axis, y: int, x: int) -> Array:
    total = np.zeros(image.shape[-1], np.float32)
    count = rows.samples * columns.samples
    for i, j in np.ndindex(rows.samples, columns.samples):
        pairs = [(a, b) for a in rows.pixels(y, i) for b in columns.pixels(x, j)]
        terms = [weight * other * image[row, column] for (row, weight), (column, other) in pairs]
        if not attrs.is_max:
            # The order of the sums is fixed, because each is rounded to float32.
            total = total + (((terms[0] + terms[1]) + terms[2]) + terms[3])
            continue
        for n, term in enumerate(terms):
            is_first = i == j == n == 0
            total = term if is_first else np.where(term > total, term, total)
    return total if attrs.is_max else total / _F(max(count, 1))


def cost(attrs: RoiAlignAttrs, inputs: Types, outputs: Types) -> ReferenceCost:
    """Each sample is a few calls of numpy."""
    samples = (attrs.samples or MOST) ** 2
    bins = inputs[1].shape[0] * attrs.size[0] * attrs.size[1]
    return ReferenceCost(
        64 * outputs[0].size + 4096, bins * samples * (20000 + 16 * inputs[0].shape[-1])
    )


def _bound(attrs: RoiAlignAttrs, inexact: Inexact) -> Arrays:
    """Roundings of the mean of all samples, and coordinates that are off by some units of the
    image's length."""
    images, _, _ = inexact.operands.inputs
    if not inexact.is_exact or not np.isfinite(images).all():
        return EXACT.of(attrs, inexact)
    largest = float(np.abs(images).max(initial=0))
    off = gamma(4 * (attrs.samples or MOST) ** 2 + 16) + 64 * UNIT * max(images.shape[1:3])
    return (np.full(inexact.expected[0].shape, largest * off),)


OP = OpDefinition(
    "roi_align",
    RoiAlignAttrs,
    infer,
    check,
    reference,
    lambda *_: ("vision_roi_align",),
    cost=cost,
    bound=Bound("gamma(4 n) * max|x| of n samples, and 64 units of each coordinate", _bound),
)
