"""Values between the pixels of an image."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, Arrays, Attrs, DType, Types
from microgen.graph.ops import bounds
from microgen.graph.ops.balls import UNIT, gamma
from microgen.graph.ops.base import (
    EXACT,
    Bound,
    Inexact,
    OpDefinition,
    Operands,
    Shapes,
    expect_axis,
    expect_inputs,
)
from microgen.graph.ops.constraints import dtype_constraint, first_of
from microgen.graph.ops.cost import ReferenceCost, products

MODES = ("nearest", "linear", "cubic")
PADDINGS = ("zeros", "border", "reflection")
FAR = np.float32(2**22)  # coordinates beyond it are moved to it

_TAPS = {"nearest": (0,), "linear": (0, 1), "cubic": (-1, 0, 1, 2)}
_F = np.float32


@dataclass(frozen=True, slots=True)
class GridSampleAttrs(Attrs):
    """grid_sample: an image or a volume, sampled at computed coordinates.

    Inputs: float32 data [batches, 1 to 3 spatial axes, channels]; a float32 grid whose last axis
    has a coordinate for each spatial axis, the last axis first: -1 is the beginning, 1 the end.
    With ``aligns_corners`` these are the centres of the first and the last element, otherwise their
    outer edges. Output: the data's channels at each point of the grid.

    Outside, ``padding`` is "zeros", "border" (the nearest element) or "reflection" (at the ends).
    """

    mode: str
    padding: str
    aligns_corners: bool


def _grid_sample_infer(attrs: GridSampleAttrs, inputs: Types) -> Shapes:
    """The grid's shape, with the channels in place of the coordinates."""
    expect_inputs(inputs, 2, "data and grid")
    if attrs.mode not in MODES or attrs.padding not in PADDINGS:
        raise ValueError(f"the mode is {attrs.mode!r}, the padding {attrs.padding!r}")
    data, grid = (tensor.shape for tensor in inputs)
    axes = len(data) - 2
    if not 1 <= axes <= 3 or not grid or grid[0] != data[0] or grid[-1] != axes:
        raise ValueError(f"the grid {inputs[1]} has no coordinates of {inputs[0]}")
    return ((*grid[:-1], data[-1]),)


def _grid_sample_check(_attrs: GridSampleAttrs, inputs: Types, outputs: Types) -> str | None:
    """float32 only."""
    roles = zip(("data", "grid", "output"), (*inputs, *outputs), strict=True)
    return first_of(dtype_constraint(*each, (DType.FLOAT32,)) for each in roles)


def _grid_sample_reference(attrs: GridSampleAttrs, operands: Operands) -> Arrays:
    """Each step is rounded to float32."""
    # Source: ONNX, GridSample. Coordinates outside are moved to the border after the elements of a
    # cubic sample are known, as onnxruntime and PyTorch do.
    data, grid = operands.inputs
    axes, batches = data.ndim - 2, len(data)
    points = grid.reshape(batches, -1, axes)
    sides = [
        _side(attrs, data.shape[1 + axis], points[..., axes - 1 - axis]) for axis in range(axes)
    ]
    result = np.zeros((*points.shape[:2], data.shape[-1]), np.float32)
    batch = np.arange(batches)[:, None]
    with np.errstate(all="ignore"):
        for taps in itertools.product(*sides):
            weight: Array = np.ones(points.shape[:2], np.float32)
            inside: Array = np.ones(points.shape[:2], np.bool_)
            for index, own in taps:
                weight, inside = weight * own, inside & (index >= 0)
            # An index of -1 would read the last element; its value is not used.
            values = data[(batch, *(np.maximum(index, 0) for index, _ in taps))]
            result = np.where(inside[..., None], result + weight[..., None] * values, result)
    return (result.reshape(operands.output_types[0].shape),)


def _side(attrs: GridSampleAttrs, size: int, coordinate: Array) -> list[tuple[Array, Array]]:
    """For each tap on an axis, the elements' indices, -1 outside, and their weights."""
    low, high = (_F(0), _F(size - 1)) if attrs.aligns_corners else (_F(-0.5), _F(size - 0.5))
    with np.errstate(all="ignore"):
        if attrs.aligns_corners:
            x = (coordinate + _F(1)) / _F(2) * _F(size - 1)
        else:
            x = ((coordinate + _F(1)) * _F(size) - _F(1)) / _F(2)
    # NaN becomes -FAR, because it compares as False.
    x = np.where(x > -FAR, np.where(x < FAR, x, FAR), -FAR)
    if attrs.mode == "nearest":
        x = np.rint(x)
    # Cubic samples move their elements to the border, not their coordinates.
    if attrs.padding == "border" and attrs.mode != "cubic":
        x = np.where((x < low) | (x > high), x.clip(0, _F(size - 1)), x)
    elif attrs.padding == "reflection":
        x = _reflected(x, low, high)
    first = np.floor(x)
    weights = _weights(attrs.mode, x - first)
    return [
        (_element(attrs.padding, first + _F(tap), size, low, high), weight)
        for tap, weight in zip(_TAPS[attrs.mode], weights, strict=True)
    ]


def _reflected(x: Array, low: np.float32, high: np.float32) -> Array:
    """Coordinates reflected at both ends until they are inside."""
    length = high - low
    # With aligned corners, an axis of one element has no length to reflect at.
    if length <= 0:
        return np.where((x < low) | (x > high), low, x)
    over = np.where(x < low, low - x, x - high)
    times = np.trunc(over / length)
    excess = over - times * length
    is_even = np.mod(times, _F(2)) == 0
    near, far = np.where(x < low, low, high), np.where(x < low, high, low)
    inward = np.where(x < low, _F(1), _F(-1))
    folded = np.where(is_even, near + inward * excess, far - inward * excess)
    return np.where((x < low) | (x > high), folded, x)


def _element(padding: str, x: Array, size: int, low: np.float32, high: np.float32) -> Array:
    """The index of the element at a whole coordinate."""
    if padding == "border":
        x = x.clip(0, _F(size - 1))
    elif padding == "reflection":
        x = np.trunc(_reflected(x, low, high)).clip(0, _F(size - 1))
    return np.where((x >= 0) & (x < size), x, -1).astype(np.int64)


def _weights(mode: str, x: Array) -> Arrays:
    """The taps' weights for the distance from the first element."""
    # Source: R. G. Keys, Cubic convolution interpolation, with the coefficient -0.75.
    if mode == "nearest":
        return (np.ones_like(x),)
    if mode == "linear":
        return _F(1) - x, x
    return _far(x + _F(1)), _near(x), _near(_F(1) - x), _far(_F(2) - x)


def _near(x: Array) -> Array:
    return (_F(1.25) * x - _F(2.25)) * x * x + _F(1)


def _far(x: Array) -> Array:
    return ((_F(-0.75) * x + _F(3.75)) * x - _F(6)) * x + _F(3)


def _grid_sample_cost(attrs: GridSampleAttrs, inputs: Types, outputs: Types) -> ReferenceCost:
    """Each tap is a product with all channels."""
    taps = len(_TAPS[attrs.mode]) ** (len(inputs[0].shape) - 2)
    points = math.prod(inputs[1].shape)
    elements = outputs[0].size + points * 16
    return ReferenceCost(64 * elements, 2000 * taps + 4 * taps * elements)


def _grid_sample_bound(attrs: GridSampleAttrs, inexact: Inexact) -> Arrays:
    """Up to 64 roundings of sums whose weights' magnitudes add up to at most 8, and coordinates
    that are off by some units of the axis's length."""
    if attrs.mode == "nearest" or not inexact.is_exact:
        return EXACT.of(attrs, inexact)
    data = inexact.operands.inputs[0]
    largest = float(np.abs(np.where(np.isfinite(data), data, 0)).max(initial=0))
    off = 8 * gamma(64) + 64 * UNIT * max(data.shape[1:-1])
    if not np.isfinite(data).all():
        off = np.inf
    return (np.full(inexact.expected[0].shape, largest * off),)


GRID_SAMPLE = OpDefinition(
    "grid_sample",
    GridSampleAttrs,
    _grid_sample_infer,
    _grid_sample_check,
    _grid_sample_reference,
    cost=_grid_sample_cost,
    bound=Bound("gamma(64) * 8 max|x|, and 64 units of each coordinate", _grid_sample_bound),
)


@dataclass(frozen=True, slots=True)
class ResampleAttrs(Attrs):
    """resample: weighted sums of neighbouring values along an axis, for each new place on it.

    Inputs: float32 data; int32 [places], the index of the first value of each place; float32
    weights [places, n] of n consecutive values. All of these values are inside ``axis``.
    """

    axis: int


def _resample_infer(attrs: ResampleAttrs, inputs: Types) -> Shapes:
    """The data's shape with the number of places along the axis."""
    expect_inputs(inputs, 3, "data, first and weights")
    (data, first, weights), axis = inputs, attrs.axis
    expect_axis(axis, data, "data")
    if len(first.shape) != 1 or len(weights.shape) != 2 or weights.shape[:1] != first.shape:
        raise ValueError(f"the weights are {weights}, the first values {first}; they must agree")
    if not 1 <= weights.shape[1] <= data.shape[axis]:
        raise ValueError(f"{weights.shape[1]} values are added up along axis {axis} of {data}")
    return ((*data.shape[:axis], *first.shape, *data.shape[axis + 1 :]),)


def _resample_check(_attrs: ResampleAttrs, inputs: Types, outputs: Types) -> str | None:
    """float32 data, weights and output."""
    data, first, weights = inputs
    roles = (("data", data), ("weights", weights), ("output", outputs[0]))
    if sentence := first_of(dtype_constraint(*each, (DType.FLOAT32,)) for each in roles):
        return sentence
    if first.dtype is DType.INT32:
        return None
    return f"the first values are {first}; int32 is expected"


def _resample_reference(attrs: ResampleAttrs, operands: Operands) -> Arrays:
    """Products and sums are rounded to float32, in order."""
    # Source: ONNX, Resize.
    data, first, weights = operands.inputs
    start = first.astype(np.int64)
    shape = (-1, *(1,) * (data.ndim - 1 - attrs.axis))
    total = weights[:, 0].reshape(shape) * data.take(start, attrs.axis)
    for n in range(1, weights.shape[1]):
        total = total + weights[:, n].reshape(shape) * data.take(start + n, attrs.axis)
    return (total,)


def _resample_cost(_attrs: ResampleAttrs, inputs: Types, outputs: Types) -> ReferenceCost:
    """One product for each value."""
    n = inputs[2].shape[1]
    return products(inputs, outputs, n * math.prod(outputs[0].shape), calls=4 * n)


def _resample_terms(_attrs: ResampleAttrs, operands: Operands) -> int:
    return operands.input_types[2].shape[1]


RESAMPLE = OpDefinition(
    "resample",
    ResampleAttrs,
    _resample_infer,
    _resample_check,
    _resample_reference,
    cost=_resample_cost,
    bound=bounds.products(_resample_reference, _resample_terms, is_wide=False),
)


OPS = (GRID_SAMPLE, RESAMPLE)
