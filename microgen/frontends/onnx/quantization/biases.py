"""Biases as integers in the scale of the sums that they are added to.

A bias of floats, or of integers with another scale, is rounded to that scale. This is near enough
if it moves no result by more than ``NEAR`` of a step of the output. Otherwise the weights are
multiplied by a power of two, which makes the steps of the sums finer and changes nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from microgen.frontends.onnx.quantization.rewriting import NotInteger, Rewriting
from microgen.frontends.tensors import Stored
from microgen.ir.graph import Array, DType, Quant, TensorType
from microgen.ops.constraints import weight_zero

NEAR = 1 / 16  # of a step of the output
CHANNELS = {  # layers -> the axis of the output's channels in the weight
    "nn.conv2d": 0,
    "nn.conv2d_transpose": 0,
    "nn.dense": 0,
    "nn.depthwise_conv2d": 3,
}
_ROUNDINGS = 2.0**-22  # of a bias: scale and bias are products of float32 numbers
_SAME = 1e-6  # relative difference of scales that are meant to be equal
_LARGEST = {True: 7, False: 127}  # magnitude of a weight, by whether it is stored in 4 bits


class NotNear(NotInteger):
    """The layer computes integers, but no integers are near enough to its bias."""


@dataclass(frozen=True, slots=True)
class Weight:
    """A weight: stored values, what they mean, and whether the model stores them in 4 bits."""

    values: Array
    kind: TensorType
    is_int4: bool

    @property
    def quant(self) -> Quant:
        """What the values mean."""
        assert self.kind.quant is not None
        return self.kind.quant

    def centred(self) -> Array:
        """The values less the zero point, int64."""
        return self.values.astype(np.int64) - weight_zero(self.kind)


@dataclass(frozen=True, slots=True)
class Integers:
    """A layer's weight and bias as integers. ``bias`` is int32, or int64 for int16 data."""

    weight: Weight
    bias: Array


@dataclass(frozen=True, slots=True)
class _Sums:
    """The sums of a layer: the types of its data and of its output, the weight's axis of channels,
    its bias as floats, and what the model stores for the bias."""

    data: TensorType
    output: TensorType
    axis: int
    floats: Array
    stored: Stored | None

    def rounded(self, scales: Array) -> Array:
        """The bias in these scales, float64: the model's own integers if that is their scale."""
        if self.stored is not None and _is_in(self.stored.quant, scales):
            return self.stored.values.astype(np.float64)
        with np.errstate(all="ignore"):
            whole = np.rint(self.floats.astype(np.float64) / scales)
        return np.where(self.floats == 0, 0, whole)

    def fits(self, whole: Array, weight: Weight) -> Array:
        """Whether the sums of each channel fit their accumulator. int32 holds the biases of int64
        sums, too."""
        left = np.full(len(whole), float(np.iinfo(np.int32).max))
        if self.data.dtype is DType.INT8:
            limits = np.iinfo(np.int8)
            zero = self.data.zero_point
            farthest = max(int(limits.max) - zero, zero - int(limits.min))
            others = tuple(i for i in range(weight.values.ndim) if i != self.axis)
            left -= np.abs(weight.centred()).sum(axis=others) * farthest
        return np.asarray(np.abs(whole) <= left)

    def is_near(self, whole: Array, scales: Array) -> Array:
        """Whether each channel's results are where the bias puts them."""
        exact = self.floats.astype(np.float64)
        with np.errstate(all="ignore"):
            off = np.abs(whole * scales - exact)
            return np.asarray(off <= NEAR * self.output.scale + _ROUNDINGS * np.abs(exact))


def scales_of_sums(data: TensorType, weight: TensorType) -> Array:
    """The scale of sums of products, one for all or one for each channel, float32."""
    assert weight.quant is not None
    with np.errstate(all="ignore"):
        found: Array = np.float32(data.scale) * weight.quant.scales
    return found


def integers(
    rewriting: Rewriting, tensor: str, weight: str, layer: tuple[str, TensorType, TensorType]
) -> Integers:
    """Weight and bias of a layer. ``layer`` is its op and the types of its data and of its output.

    NotNear if no integers are near enough to the bias.
    """
    op, data, output = layer
    floats, axis = rewriting.graph.constants[tensor], CHANNELS[op]
    sums = _Sums(data, output, axis, floats, rewriting.stored.get(tensor))
    kind = rewriting.types[weight]
    given = Weight(rewriting.constants[weight], kind, weight in rewriting.int4)
    found, scales = _with_bias(sums, given), _scales(sums, given)
    if found is not None:
        return found
    whole = sums.rounded(scales)
    is_held = sums.fits(whole, given)
    if not is_held.all():
        raise NotNear(f'adds the bias "{tensor}", which int32 cannot hold in the scale of sums')
    is_near = sums.is_near(whole, scales)
    for finer in _finer(given, axis, ~is_near):
        found = _with_bias(sums, finer)
        if found is not None:
            return found
    widest = float(np.broadcast_to(scales, is_near.shape)[~is_near].max())
    raise NotNear(
        f'adds the bias "{tensor}", which sums in steps of {widest:g} cannot hold beside an output '
        f"in steps of {output.scale:g}"
    )


def _scales(sums: _Sums, weight: Weight) -> Array:
    return scales_of_sums(sums.data, weight.kind).astype(np.float64)


def _with_bias(sums: _Sums, weight: Weight) -> Integers | None:
    """The weight with the bias in the scale of its sums; None if that is not near enough."""
    scales = _scales(sums, weight)
    whole = sums.rounded(scales)
    if not (sums.fits(whole, weight) & sums.is_near(whole, scales)).all():
        return None
    is_wide = sums.data.dtype is DType.INT16
    return Integers(weight, whole.astype(np.int64 if is_wide else np.int32))


def _is_in(quant: Quant, scales: Array) -> bool:
    """Whether a bias has the scale of the sums; converters may compute it in double."""
    found = np.array(quant.scale)
    return not any(quant.zero_point) and bool((abs(found - scales) <= _SAME * scales).all())


def _finer(weight: Weight, axis: int, channels: Array) -> Iterator[Weight]:
    """The same weight in finer steps: in as few bits as the model stores it in, if they can be
    finer; with one scale, if it has one; otherwise in these channels only."""
    centred = weight.centred()
    others = tuple(i for i in range(centred.ndim) if i != axis)
    largest = np.maximum(np.abs(centred).max(axis=others), 1)
    for is_int4 in (True, False) if weight.is_int4 else (False,):
        factors = 2 ** np.floor(np.log2(np.maximum(_LARGEST[is_int4] // largest, 1)))
        if weight.quant.is_per_tensor:
            yield from _multiplied(weight, centred, (factors.min(keepdims=True), None), is_int4)
        yield from _multiplied(weight, centred, (np.where(channels, factors, 1), axis), is_int4)


def _multiplied(
    weight: Weight, centred: Array, by: tuple[Array, int | None], is_int4: bool
) -> Iterator[Weight]:
    """The weight with its values times powers of two, one for all or one for each index of an axis;
    nothing if values or scales do not fit."""
    factors, axis = by
    along = [1] * centred.ndim
    along[axis or 0] = -1
    values = centred * factors.reshape(along).astype(np.int64)
    scales = weight.quant.scales / factors.astype(np.float32)
    limits = np.iinfo(np.int8)
    if values.min() < limits.min or values.max() > limits.max:
        return
    if is_int4 and (values.min() < -_LARGEST[True] - 1 or values.max() > _LARGEST[True]):
        return
    if not (scales * factors == weight.quant.scales).all():
        return
    quant = Quant(tuple(map(float, scales)), (0,) * len(scales), axis)
    kind = TensorType(weight.kind.shape, DType.INT8, quant)
    yield Weight(values.astype(np.int8), kind, is_int4)
