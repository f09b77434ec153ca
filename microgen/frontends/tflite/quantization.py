"""From the quantization arrays of a TFLite tensor to ``Quant``, with every value checked."""

from __future__ import annotations

import numpy as np

from microgen.errors import ModelError, UnsupportedError, short
from microgen.frontends.tflite.records import TensorRecord
from microgen.ir.graph import Array, Quant

_SMALLEST_SCALE = float(np.finfo(np.float32).tiny)  # below it float32 is denormal
_CALIBRATE = "convert the model with samples on which this layer's outputs differ"
_ZERO_POINTS = {"int8": (-128, 127), "int16": (0, 0), "int32": (0, 0), "int64": (0, 0)}


def quant_of(record: TensorRecord, where: str) -> Quant | None:
    """The tensor's quantization, or None where it has no scale, or a dtype that needs none.

    Scales are float32 values as Python floats. ModelError if a value or a length is impossible,
    UnsupportedError for schemes other than one scale per tensor or per channel.
    """
    found = record.quantization
    if found is None or found.scale.size == 0 or record.dtype not in _ZERO_POINTS:
        return None
    if found.has_details:
        raise UnsupportedError(
            f"{_quoted(record)} has custom or blockwise quantization",
            where=where,
            hint="supported: one scale per tensor, or one per channel for weights",
        )
    # Of one dimension it is the only one: converters give a bias the axis of its weights.
    axis = 0 if len(record.shape) == 1 else found.axis
    _check_lengths(record, found.scale, found.zero_point, axis, where)
    scale = _scales(record, found.scale, where)
    zero_point = _zero_points(record, found.zero_point, len(scale), where)
    return Quant(scale, zero_point, None if len(scale) == 1 else axis)


def _check_lengths(
    record: TensorRecord, scale: Array, zero_point: Array, axis: int, where: str
) -> None:
    if scale.size > 1 and not 0 <= axis < len(record.shape):
        raise ModelError(
            f"{_quoted(record)} is quantized along axis {axis}, but has {len(record.shape)} axes",
            where=where,
        )
    if scale.size > 1 and scale.size != record.shape[axis]:
        raise ModelError(
            f"{_quoted(record)} has {scale.size} scales; 1, or {record.shape[axis]} for axis "
            f"{axis}, are expected",
            where=where,
        )
    if zero_point.size not in (0, 1, scale.size):
        raise ModelError(
            f"{_quoted(record)} has {scale.size} scales but {zero_point.size} zero points",
            where=where,
        )


def _scales(record: TensorRecord, scale: Array, where: str) -> tuple[float, ...]:
    """Constants may have scales of 0, or so small that float32 is denormal: such channels are dead,
    and their sums count as 0. What is computed cannot."""
    values = tuple(float(value) for value in scale)
    least = 0.0 if record.is_constant else _SMALLEST_SCALE
    for index, value in enumerate(values):
        # The comparison is false for NaN, too.
        if not least <= value < float("inf"):
            raise ModelError(
                f"scale {index} of {_quoted(record)} is {value:g}; "
                "a positive, finite, normal float32 is expected",
                where=where,
                hint="" if record.is_constant else _CALIBRATE,
            )
    return values


def _zero_points(
    record: TensorRecord, zero_point: Array, count: int, where: str
) -> tuple[int, ...]:
    values = tuple(int(value) for value in zero_point) or (0,)
    low, high = _ZERO_POINTS[record.dtype]
    for index, value in enumerate(values):
        if not low <= value <= high:
            expected = str(low) if low == high else f"{low} to {high}"
            raise ModelError(
                f"zero point {index} of {_quoted(record)} is {value}; {expected} is expected "
                f"for {record.dtype}",
                where=where,
            )
    return values if len(values) == count else values * count


def _quoted(record: TensorRecord) -> str:
    return f'tensor "{short(record.name)}"'
