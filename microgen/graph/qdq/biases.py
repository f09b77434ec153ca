"""Biases as integers in the scale of the sums that they are added to, and weights in finer steps.

A bias of floats, or of integers with another scale, is rounded to that scale. If this moves results
by more than ``NEAR`` of a step of the output, the sums get finer steps, if the weights allow it,
and the bias is rounded up or down so that as many results as possible equal the model's. If the
rounded bias would still move results by more than ``FAR``, the bias has to be added in floats. In
finer steps, the values of a weight are times powers of two, and its scales are divided by them: the
sums of products mean the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from microgen.graph.arithmetic import blocks, in_float32
from microgen.graph.ir.graph import Array, ArrayType, DType, Quant, Stored
from microgen.graph.ops.constraints import farthest, weight_zero
from microgen.graph.qdq.rewriting import NotInteger, Rewriting

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

    def largest(self) -> Array:
        """The largest magnitude of each channel's values minus the zero point, int64 [channels]."""
        return self._measured(lambda magnitudes: magnitudes.max(axis=1))

    def total(self) -> Array:
        """The sum of these magnitudes, int64 [channels]."""
        return self._measured(lambda magnitudes: magnitudes.sum(axis=1))

    def _measured(self, measure: Callable[[Array], Array]) -> Array:
        zero = weight_zero(self.kind)
        return blocks.by_channels(self.values, self.axis, lambda x: measure(np.abs(x - zero)))

    def multiplied(self, times: Array, low: int, high: int) -> Array | None:
        """The values minus the zero point, int8, times one number, or one per channel. None if one
        is below ``low`` or above ``high``."""
        along = [1] * self.values.ndim
        along[self.axis] = -1
        factors = np.broadcast_to(times.reshape(along), self.values.shape)
        found = np.empty(self.values.shape, np.int8)
        for part in blocks.slices(found):
            wide = (self.values[part].astype(np.int64) - weight_zero(self.kind)) * factors[part]
            if wide.min() < low or wide.max() > high:
                return None
            found[part] = wide
        return found


def finer(weight: Weight, channels: Array) -> Iterator[Weight]:
    """Forms of the weight in finer steps, as fine as its values allow. The first forms have as few
    bits as the model's weight, and one scale if the weight has one scale; later forms have finer
    steps in ``channels`` only.
    """
    largest = np.maximum(weight.largest(), 1)
    for is_int4 in (True, False) if weight.is_int4 else (False,):
        room = np.maximum(_LARGEST[is_int4] // largest, 1)
        # Only a division by a power of two leaves a float32 scale exact, unless it becomes
        # denormal.
        times = np.exp2(np.floor(np.log2(room))).astype(np.int64)
        if weight.quant.is_per_tensor:
            yield from _multiplied(weight, times.min(keepdims=True), is_int4)
        yield from _multiplied(weight, np.where(channels, times, 1), is_int4)


def _multiplied(weight: Weight, times: Array, is_int4: bool) -> Iterator[Weight]:
    """The weight with its values multiplied; nothing if the values do not fit the dtype, or if a
    scale is too small to be divided."""
    values = weight.multiplied(times, *_LIMITS[is_int4])
    scales = weight.quant.scales / times.astype(np.float32)
    if values is None or (scales * times != weight.quant.scales).any():
        return
    axis = weight.axis if len(scales) > 1 else None
    quant = Quant(tuple(map(float, scales)), (0,) * len(scales), axis)
    kind = ArrayType(weight.kind.shape, DType.INT8, quant)
    yield Weight(values, kind, is_int4, weight.axis, times)


NEAR, FAR = 1 / 16, 1 / 2  # of a step of the output
_CHANNELS = {  # layers -> the axis of the output's channels in the weight
    "nn.conv2d": 0,
    "nn.conv2d_transpose": 0,
    "nn.dense": 0,
    "nn.depthwise_conv2d": 3,
}
_ROUNDINGS = 2.0**-22  # of a bias: scale and bias are products of float32 numbers
_SAME = 1e-6  # relative difference of scales that are meant to be equal
_SUMS = 2**10  # of each sign, for which results are compared
_LEAST = 1e-9  # of a result: the weight of each step by which the bias is off
_MANY = 4 * _SUMS  # results: more than are compared


class NotNear(NotInteger):
    """The layer computes integers, but no integers are near its bias."""


@dataclass(frozen=True, slots=True)
class Integers:
    """A layer's weight and bias as integers."""

    weight: Weight
    bias: Array  # int32, or int64 for int16 data
    off: Array  # the shift of each channel's results, in steps of the output

    @property
    def most(self) -> float:
        """The largest distance by which a rounded bias moves a result, in steps of the output."""
        return float(self.off.max())


@dataclass(frozen=True, slots=True)
class SumsLayer:
    """A layer of sums of products: its op, the types of its data and of its output, its bias as
    floats, and the bias as the model stores it.
    """

    op: str
    data: ArrayType
    output: ArrayType
    floats: Array
    stored: Stored | None

    def rounded(self, weight: Weight) -> Integers | None:
        """The weight, and the bias in the scale of its sums: the model's own integers if they have
        that scale. None if the sums do not fit.
        """
        scales = scales_of_sums(self.data, weight.kind).astype(np.float64)
        if self.stored is not None and _is_in(self.stored.quant, scales):
            return self._checked(weight, self.stored.values.astype(np.float64))
        return self._checked(weight, np.where(self.floats == 0, 0, np.rint(self._ratio(weight))))

    def refined(self, rounded: Integers) -> Integers:
        """The layer's integers with the bias of each channel rounded up or down, whichever makes
        more results equal the model's."""
        # If sums have coarse steps, a small difference may move many results past a tie.
        down = np.floor(self._ratio(rounded.weight))
        both = (self._checked(rounded.weight, down + k) for k in (0, 1))
        ways = [rounded, *(one for one in both if one is not None)]
        # Fewest misses first, and of these the least move. Moves beyond FAR are taken only if there
        # are no others.
        misses = np.stack(
            [self._misses(one) + _LEAST * one.off + _MANY * (one.off > FAR) for one in ways]
        )
        best = np.choose(misses.argmin(axis=0), [one.bias for one in ways])
        return self._checked(rounded.weight, best.astype(np.float64)) or rounded

    def _ratio(self, weight: Weight) -> Array:
        """The bias in steps of the sums, float64."""
        scales = scales_of_sums(self.data, weight.kind).astype(np.float64)
        with np.errstate(all="ignore"):
            ratios: Array = self.floats / scales
        return ratios

    def _checked(self, weight: Weight, bias: Array) -> Integers | None:
        """The integers, if the sums fit their accumulator."""
        # NaN compares as False, so a bias that is not a number does not fit.
        if not (np.abs(bias) <= self._largest(weight)).all():
            return None
        scales = scales_of_sums(self.data, weight.kind).astype(np.float64)
        exact = self.floats.astype(np.float64)
        # The roundings of the float bias itself are not a move.
        off = np.maximum(np.abs(bias * scales - exact) - _ROUNDINGS * np.abs(exact), 0)
        dtype = np.int64 if self.data.dtype is DType.INT16 else np.int32
        return Integers(weight, bias.astype(dtype), off / self.output.scale)

    def _largest(self, weight: Weight) -> Array:
        """The largest magnitude of each channel's bias. Biases of int64 sums fit int32, too."""
        left = np.array(np.iinfo(np.int32).max)
        if self.data.dtype is not DType.INT8:
            return left
        return np.asarray(left - farthest(self.data) * weight.total())

    def _misses(self, made: Integers) -> Array:
        """For each channel, the number of sums around 0 whose stored values differ from the
        model's.
        """
        sums, output = np.arange(-_SUMS, _SUMS + 1), self.output
        times, scales = (x.reshape(-1, 1) for x in (made.weight.times, made.weight.quant.scales))
        bias, floats = made.bias.reshape(-1, 1), self.floats.reshape(-1, 1).astype(np.float64)
        exact = (
            sums * (self.data.scale * scales.astype(np.float64) * times) + floats
        ) / output.scale
        factors = in_float32.scale_of_sums(self.data, made.weight.kind, output).reshape(-1, 1)
        scaled = in_float32.scaled(sums * times + bias.astype(np.int64), factors)
        stored = (self._stored(each) for each in (scaled, np.rint(exact)))
        return np.asarray(np.not_equal(*stored).sum(axis=1))

    def _stored(self, whole: Array) -> Array:
        limits = np.iinfo(self.output.dtype.numpy)
        return np.asarray(np.clip(whole + self.output.zero_point, limits.min, limits.max))


def scales_of_sums(data: ArrayType, weight: ArrayType) -> Array:
    """The scale of sums of products, one for all or one for each channel, float32."""
    assert weight.quant is not None
    with np.errstate(all="ignore"):
        products: Array = np.float32(data.scale) * weight.quant.scales
    return products


def integers(rewriting: Rewriting, layer: SumsLayer, weight: str, bias: str) -> Integers:
    """The integers of the layer's weight and bias, called ``weight`` and ``bias``. NotNear if the
    sums do not fit int32, or results would be moved by more than ``FAR``.
    """
    values, kind = rewriting.constants[weight], rewriting.types[weight]
    once = np.ones(1, np.int64)
    weights = Weight(values, kind, weight in rewriting.int4, _CHANNELS[layer.op], once)
    rounded = layer.rounded(weights)
    if rounded is None:
        raise NotNear(f'adds the bias "{bias}", which int32 cannot hold in the scale of sums')
    if rounded.most > NEAR:
        rounded = _nearer(layer, rounded)
    if rounded.most > FAR:
        steps = float(scales_of_sums(layer.data, kind).max())
        raise NotNear(
            f'adds the bias "{bias}", which sums in steps of {steps:g} cannot hold beside an '
            f"output in steps of {layer.output.scale:g}"
        )
    return rounded


def _nearer(layer: SumsLayer, rounded: Integers) -> Integers:
    """The layer's integers with finer weights. If the bias is not far, the finer weights must make
    it near, and need no more bits; otherwise the layer remains unchanged.
    """
    is_far, is_int4 = rounded.most > FAR, rounded.weight.is_int4
    weights = finer(rounded.weight, rounded.off > NEAR)
    made = [layer.rounded(each) for each in weights if is_far or each.is_int4 == is_int4]
    candidates = [each for each in made if each is not None and (is_far or each.most <= NEAR)]
    if not candidates:
        return rounded
    near = next((each for each in candidates if each.most <= NEAR), None)
    return layer.refined(near or min(candidates, key=lambda each: each.most))


def _is_in(quant: Quant, scales: Array) -> bool:
    """Whether a bias has the scale of the sums, up to rounding, because converters may compute its
    scale in double."""
    own = np.array(quant.scale)
    return not any(quant.zero_point) and bool((abs(own - scales) <= _SAME * scales).all())
