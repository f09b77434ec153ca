"""Biases as integers in the scale of the sums that they are added to.

A bias of floats, or of integers with another scale, is rounded to that scale. If this moves results
by more than ``NEAR`` of a step of the output, the weights are multiplied by powers of two, which
makes the steps of the sums finer and changes nothing else. Results that are still moved by more
than ``FAR`` need a bias of floats.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from microgen.frontends.onnx.quantization.rewriting import NotInteger, Rewriting
from microgen.frontends.tensors import Stored
from microgen.ir.graph import Array, DType, Quant, TensorType
from microgen.ops.constraints import weight_zero

NEAR, FAR = 1 / 16, 1 / 2  # of a step of the output
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
    """The layer computes integers, but no integers are near its bias."""


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

    def by_channel(self, axis: int) -> Array:
        """The same [channels, the others]. ``axis`` is that of the output's channels."""
        return np.moveaxis(self.centred(), axis, 0).reshape(self.values.shape[axis], -1)


@dataclass(frozen=True, slots=True)
class Integers:
    """A layer's weight and bias as integers. ``bias`` is int32, or int64 for int16 data. ``off`` is
    by how much each channel's results are moved, in steps of the output."""

    weight: Weight
    bias: Array
    off: Array

    @property
    def most(self) -> float:
        """The largest of these moves."""
        return float(self.off.max())


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

    def with_bias(self, weight: Weight) -> Integers | None:
        """A weight and the bias in the scale of its sums; None if the sums do not fit."""
        scales = scales_of_sums(self.data, weight.kind).astype(np.float64)
        whole, exact = self.rounded(scales), self.floats.astype(np.float64)
        if not (np.abs(whole) <= self._left(weight)).all():
            return None
        off = np.maximum(np.abs(whole * scales - exact) - _ROUNDINGS * np.abs(exact), 0)
        is_wide = self.data.dtype is DType.INT16
        bias = whole.astype(np.int64 if is_wide else np.int32)
        return Integers(weight, bias, off / self.output.scale)

    def _left(self, weight: Weight) -> Array:
        """How large the bias of each channel may be. int32 holds the biases of int64 sums, too."""
        left = np.array(np.iinfo(np.int32).max)
        if self.data.dtype is not DType.INT8:
            return left
        farthest = max(127 - self.data.zero_point, self.data.zero_point + 128)
        return np.asarray(left - farthest * np.abs(weight.by_channel(self.axis)).sum(axis=1))


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

    NotNear if the sums do not fit int32, or results would be moved by more than ``FAR``.
    """
    op, data, output = layer
    floats, axis = rewriting.graph.constants[tensor], CHANNELS[op]
    sums = _Sums(data, output, axis, floats, rewriting.stored.get(tensor))
    kind = rewriting.types[weight]
    given = Weight(rewriting.constants[weight], kind, weight in rewriting.int4)
    found = sums.with_bias(given)
    if found is None:
        raise NotNear(f'adds the bias "{tensor}", which int32 cannot hold in the scale of sums')
    if found.most > NEAR:
        found = _nearer(sums, found)
    if found.most > FAR:
        steps = float((scales_of_sums(data, kind)).max())
        raise NotNear(
            f'adds the bias "{tensor}", which sums in steps of {steps:g} cannot hold beside an '
            f"output in steps of {output.scale:g}"
        )
    return found


def _nearer(sums: _Sums, given: Integers) -> Integers:
    """The same layer with finer weights, if they need no more bits or the bias is far; otherwise,
    or if they are not near, the layer as it is."""
    finer = _finer(given.weight, sums.axis, given.off > NEAR)
    made = [one for one in map(sums.with_bias, finer) if one is not None]
    is_far = given.most > FAR
    good = [one for one in made if is_far or one.weight.is_int4 == given.weight.is_int4]
    near = next((one for one in good if one.most <= NEAR), None)
    if near is not None or not is_far:
        return near or given
    return min((given, *good), key=lambda one: one.most)


def _is_in(quant: Quant, scales: Array) -> bool:
    """Whether a bias has the scale of the sums; converters may compute it in double."""
    found = np.array(quant.scale)
    return not any(quant.zero_point) and bool((abs(found - scales) <= _SAME * scales).all())


def _finer(weight: Weight, axis: int, channels: Array) -> Iterator[Weight]:
    """The same weight in finer steps: first in as few bits as the model stores it in, and with as
    few scales; otherwise in these channels only."""
    centred = weight.centred()
    largest = np.maximum(np.abs(weight.by_channel(axis)).max(axis=1), 1)
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
