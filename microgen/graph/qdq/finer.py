"""Weights in finer steps: their values times powers of two, and their scales divided by them. The
sums of products mean the same, but have finer steps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, ArrayType, DType, Quant
from microgen.graph.ops.constraints import weight_zero

_LARGEST = {True: 7, False: 127}  # magnitude of a value, by whether the model stores 4 bits
_LIMITS = {True: (-8, 7), False: (-128, 127)}


@dataclass(frozen=True, slots=True)
class Weight:
    """A weight whose steps may become finer."""

    values: Array
    kind: ArrayType  # its quantization is the meaning of the values
    is_int4: bool
    axis: int  # of the output's channels
    times: Array  # the model's values are times these powers of two: one, or one per channel

    @property
    def quant(self) -> Quant:
        """The quantization of the values."""
        assert self.kind.quant is not None
        return self.kind.quant

    def centred(self) -> Array:
        """The values less the zero point, int64."""
        return self.values.astype(np.int64) - weight_zero(self.kind)

    def magnitudes(self) -> Array:
        """The magnitudes of the centred values, int64 [channels, the other axes]."""
        channels = np.moveaxis(np.abs(self.centred()), self.axis, 0)
        return channels.reshape(len(channels), -1)


def finer(weight: Weight, channels: Array) -> Iterator[Weight]:
    """The same weight in steps as fine as its values allow. The first results have as few bits as
    the model's weight, and one scale if it has one; later ones have finer steps in ``channels``
    only.
    """
    largest = np.maximum(weight.magnitudes().max(axis=1), 1)
    for is_int4 in (True, False) if weight.is_int4 else (False,):
        room = np.maximum(_LARGEST[is_int4] // largest, 1)
        # Only a division by a power of two leaves a float32 scale exact, unless it becomes
        # denormal.
        times = np.exp2(np.floor(np.log2(room))).astype(np.int64)
        if weight.quant.is_per_tensor:
            yield from _multiplied(weight, times.min(keepdims=True), is_int4)
        yield from _multiplied(weight, np.where(channels, times, 1), is_int4)


def _multiplied(weight: Weight, times: Array, is_int4: bool) -> Iterator[Weight]:
    """The weight with its values multiplied; nothing if they do not fit, or a scale is too small
    to be divided."""
    along = [1] * weight.values.ndim
    along[weight.axis] = -1
    values = weight.centred() * times.reshape(along)
    low, high = _LIMITS[is_int4]
    scales = weight.quant.scales / times.astype(np.float32)
    if values.min() < low or values.max() > high or (scales * times != weight.quant.scales).any():
        return
    axis = weight.axis if len(scales) > 1 else None
    quant = Quant(tuple(map(float, scales)), (0,) * len(scales), axis)
    kind = ArrayType(weight.kind.shape, DType.INT8, quant)
    yield Weight(values.astype(np.int8), kind, is_int4, weight.axis, times)
