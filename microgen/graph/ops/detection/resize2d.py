"""image.resize2d: an image resized by bilinear interpolation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, Arrays, ArrayType, Attrs, DType, Types
from microgen.graph.ops import bounds, floats
from microgen.graph.ops.base import OpDefinition, Operands, Pair, Shapes
from microgen.graph.ops.constraints import ALL_FAMILIES, unchanged_constraint

_ONE = 1 << 10  # integer positions and weights have ten fraction bits
_MOST_FLOAT = 1 << 20  # pixels on an axis: leaves float32 positions four fraction bits


@dataclass(frozen=True, slots=True)
class Resize2DAttrs(Attrs):
    """Input: int8, int16 or float32 NHWC data. ``size`` is the height and width of the output.
    With ``align_corners`` the centres of the corner pixels do not move. With
    ``half_pixel_centers`` a pixel's centre is half a pixel from its edge. At most one is set.

    With ``in_floats``, for int8 data, the stored values plus 128 are interpolated in float32.
    LiteRT does this for uint8."""

    size: Pair
    align_corners: bool
    half_pixel_centers: bool
    in_floats: bool = False


@dataclass(frozen=True, slots=True)
class SampledAxis:
    """Output index i lies at ``i * step + start`` of the input, in units of 2**-10 pixels."""

    step: int
    start: int


@dataclass(frozen=True, slots=True)
class FloatAxis:
    """Output index i lies at ``(i + offset) * step - offset`` of the input, in pixels; both
    numbers, and the position, are float32."""

    step: float
    offset: float


def float_axes(attrs: Resize2DAttrs, data: ArrayType) -> tuple[FloatAxis, FloatAxis]:
    """The axes of height and width. Source: TFLite reference/resize_bilinear.h, ResizeBilinear."""
    height, width = (
        FloatAxis(_float_step(attrs, size, wanted), 0.5 if attrs.half_pixel_centers else 0.0)
        for size, wanted in zip(data.shape[1:3], attrs.size, strict=True)
    )
    return height, width


def _float_step(attrs: Resize2DAttrs, size: int, output_size: int) -> float:
    if attrs.align_corners and output_size > 1:
        return float(np.float32(size - 1) / np.float32(output_size - 1))
    return float(np.float32(size) / np.float32(output_size))


def axis(attrs: Resize2DAttrs, size: int, output_size: int) -> SampledAxis:
    """The axis. Source: TFLite reference/resize_bilinear.h, ResizeBilinearInteger and
    ComputeInterpolationValuesInteger."""
    if attrs.align_corners and output_size > 1:
        step = (_ONE * (size - 1) + (output_size - 1) // 2) // (output_size - 1)
    else:
        step = (_ONE * size + output_size // 2) // output_size
    return SampledAxis(step, step // 2 - _ONE // 2 if attrs.half_pixel_centers else 0)


def axes(attrs: Resize2DAttrs, data: ArrayType) -> tuple[SampledAxis, SampledAxis]:
    """The axes of height and width."""
    height, width = data.shape[1:3]
    return axis(attrs, height, attrs.size[0]), axis(attrs, width, attrs.size[1])


def positions_off(attrs: Resize2DAttrs, data: ArrayType) -> float:
    """The greatest distance of an integer position from the exact one, in pixels, of both axes
    together. A result is off by at most this times the range of the values."""
    total = 0.0
    pairs = zip(axes(attrs, data), float_axes(attrs, data), strict=True)
    for (on, exactly), size, count in zip(pairs, data.shape[1:3], attrs.size, strict=True):
        index = np.arange(count)
        # Positions outside of the image are at its first or last pixel.
        rounded = np.clip((index * on.step + on.start) / _ONE, 0, size - 1)
        exact = np.clip((index + exactly.offset) * exactly.step - exactly.offset, 0, size - 1)
        total += float(np.abs(rounded - exact).max())
    return total


def infer(attrs: Resize2DAttrs, inputs: Types) -> Shapes:
    """The input's shape with the new height and width."""
    if len(inputs) != 1 or len(inputs[0].shape) != 4:
        shapes = ", ".join(map(str, inputs))
        raise ValueError(f"image.resize2d has the inputs {shapes}; one NHWC image is expected")
    if min(attrs.size) < 1:
        raise ValueError(f"the new size is {attrs.size}; it must be positive")
    n, height, width, channels = inputs[0].shape
    for size, wanted in ((height, attrs.size[0]), (width, attrs.size[1])):
        if floats.is_float(inputs[0]) or attrs.in_floats:
            _check_exact(size, wanted)
        else:
            _check_inside(axis(attrs, size, wanted), size, wanted)
    return ((n, *attrs.size, channels),)


def _check_inside(on: SampledAxis, size: int, output_size: int) -> None:
    """ValueError if TFLite's rounded step leads past the last pixel, where TFLite reads arbitrary
    bytes, or if positions exceed int32."""
    last = (output_size - 1) * on.step + on.start
    if last >= size * _ONE or size * _ONE >= 2**31:
        raise ValueError(
            f"{size} pixels cannot become {output_size}: steps of {on.step}/1024 pixels, as "
            "TFLite rounds them, lead out of the image"
        )


def _check_exact(size: int, output_size: int) -> None:
    """ValueError if float32 cannot hold every position to a fraction of a pixel."""
    if max(size, output_size) > _MOST_FLOAT:
        raise ValueError(
            f"{size} pixels cannot become {output_size}: float32 positions need {_MOST_FLOAT} "
            "pixels or less"
        )


def check(attrs: Resize2DAttrs, inputs: Types, outputs: Types) -> str | None:
    """One dtype, quantization unchanged, at most one of the two options."""
    if attrs.align_corners and attrs.half_pixel_centers:
        return "align_corners and half_pixel_centers exclude each other"
    if attrs.in_floats and inputs[0].dtype is not DType.INT8:
        return f"the input is {inputs[0]}; stored values become floats for int8 only"
    return unchanged_constraint(inputs[0], outputs[0], ALL_FAMILIES)


def reference(attrs: Resize2DAttrs, operands: Operands) -> Arrays:
    """Source of the integer form: TFLite reference/resize_bilinear.h, ResizeBilinearInteger; with
    ``in_floats`` ResizeBilinear."""
    if floats.is_float(operands.input_types[0]):
        return _float(attrs, operands)
    if attrs.in_floats:
        return (_stored_in_floats(attrs, operands),)
    data = operands.inputs[0].astype(np.int64)
    height, width = axes(attrs, operands.input_types[0])
    total = _blended(_blended(data, 1, height, attrs.size[0]), 2, width, attrs.size[1])
    half = 1 << 19
    # Two weights of 10 bits make 20. TFLite rounds halves away from zero.
    rounded = np.where(total > 0, (total + half) >> 20, -((half - total) >> 20))
    return (rounded.astype(operands.inputs[0].dtype),)


def _stored_in_floats(attrs: Resize2DAttrs, operands: Operands) -> Array:
    """Each product and sum in float32, in TFLite's order; then the nearest integers, halves
    upwards. Positions before the first pixel have negative weights."""
    # int8 values plus 128 are the uint8 values that the file stores.
    values = operands.inputs[0].astype(np.float32) + np.float32(128)
    (top, bottom, dy), (left, right, dx) = (
        _neighbours(on, wanted, size, along)
        for along, on, wanted, size in zip(
            (1, 2),
            float_axes(attrs, operands.input_types[0]),
            attrs.size,
            values.shape[1:3],
            strict=True,
        )
    )
    upper, lower = values.take(top, 1), values.take(bottom, 1)
    total = upper.take(left, 2) * (1 - dy) * (1 - dx)
    total = total + lower.take(left, 2) * dy * (1 - dx)
    total = total + upper.take(right, 2) * (1 - dy) * dx
    total = total + lower.take(right, 2) * dy * dx
    rounded: Array = np.floor(total.astype(np.float64) + 0.5) - 128
    return rounded.astype(np.int8)


def _neighbours(
    on: FloatAxis, count: int, size: int, along: int, *, least: float = -np.inf
) -> tuple[Array, Array, Array]:
    """The two neighbours of each position on an axis, and the second's weight. Positions are
    ``least`` or more."""
    offset = np.float32(on.offset)
    index = np.arange(count, dtype=np.float32)
    position = np.maximum((index + offset) * np.float32(on.step) - offset, np.float32(least))
    lower = np.maximum(np.floor(position).astype(np.int64), 0)
    upper = np.minimum(np.ceil(position).astype(np.int64), size - 1)
    weight = position - lower.astype(np.float32)
    return lower, upper, weight.reshape([-1 if k == along else 1 for k in range(4)])


def _float(attrs: Resize2DAttrs, operands: Operands) -> Arrays:
    """Positions and weights in float32, as in TFLite; their products in float64.

    A position before the first pixel is treated as the first pixel's position.
    """
    values = operands.inputs[0].astype(np.float64)
    for along, on in zip((1, 2), float_axes(attrs, operands.input_types[0]), strict=True):
        count, size = attrs.size[along - 1], values.shape[along]
        lower, upper, narrow = _neighbours(on, count, size, along, least=0)
        weight = narrow.astype(np.float64)  # exact: a difference of neighbours
        values = values.take(lower, along) * (1 - weight) + values.take(upper, along) * weight
    return (floats.rounded(values),)


def _blended(data: Array, along: int, on: SampledAxis, count: int) -> Array:
    """The two neighbours of each position on an axis, times their weights of ten bits."""
    position = np.arange(count) * on.step + on.start
    # A shift rounds down, also positions before the first pixel, which become that pixel.
    lower = np.maximum(position >> 10, 0)
    upper = np.minimum((position + _ONE - 1) >> 10, data.shape[along] - 1)
    weight = position - lower * _ONE
    weight = weight.reshape([-1 if k == along else 1 for k in range(data.ndim)])
    return np.asarray(data.take(lower, along) * (_ONE - weight) + data.take(upper, along) * weight)


def _roundings(_attrs: Resize2DAttrs, _operands: Operands) -> int:
    """The number of roundings. Each axis rounds 1 - weight, a product and a sum. Additional ones
    are for the product of the four weights, and for the reference.
    """
    return 8


OP = OpDefinition(
    "image.resize2d",
    Resize2DAttrs,
    infer,
    check,
    reference,
    bound=bounds.linear(reference, _roundings, "gamma(8) * blend of |x|"),
)
