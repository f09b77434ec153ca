"""Scales and zero points in all formats: the checks of declared values, and their meaning for
stored values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microgen.base.errors import ModelError
from microgen.frontends.operators import Operator
from microgen.graph.arithmetic.int8 import activation_range
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import Array, ArrayType, DType, Quant
from microgen.graph.ops.moves.views import ReinterpretAttrs

STORED = (DType.INT8, DType.INT16, DType.INT32)
ZERO_POINTS = {
    "int4": (-8, 7),
    "int8": (-128, 127),
    "uint8": (0, 255),
    **dict.fromkeys(("int16", "int32", "int64"), (0, 0)),
}
"""Dtypes that may have a scale -> the least and the greatest zero point."""

SMALLEST_SCALE = float(np.finfo(np.float32).tiny)  # below it float32 is denormal
NORMAL_SCALE = "a positive, finite, normal float32 is expected"
CALIBRATE = "convert the model with samples on which this layer's outputs differ"
_SOFTMAX = ("int16", -(2**15))  # a zero point that only int16 outputs of an int8 SOFTMAX have


@dataclass(frozen=True, slots=True)
class DeclaredTensor:
    """A tensor as a file declares it."""

    called: str  # for errors, as ``where``
    shape: tuple[int, ...]
    dtype: str  # a key of ZERO_POINTS
    is_constant: bool
    where: str
    may_be_dead: bool = False  # the operators that read it decide whether its scale may be 0

    def quant(self, scale: Array, zero_point: Array, axis: int) -> Quant:
        """The tensor's quantization. It has one scale, or one for each index of ``axis``, and one
        zero point, one for each scale, or none, which means 0.

        Scales are float32 values as Python floats. ModelError if a value or a length is impossible.
        """
        # A tensor of one dimension has one axis: converters give a bias the axis of its weights.
        axis = 0 if len(self.shape) == 1 else axis
        self._check_lengths(scale, zero_point, axis)
        scales = self._scales(scale)
        zero_points = self._zero_points(zero_point, len(scales))
        return Quant(scales, zero_points, None if len(scales) == 1 else axis)

    def _check_lengths(self, scale: Array, zero_point: Array, axis: int) -> None:
        if scale.size > 1 and not 0 <= axis < len(self.shape):
            raise self._error(
                f"{self.called} is quantized along axis {axis}, but has {len(self.shape)} axes"
            )
        if scale.size > 1 and scale.size != self.shape[axis]:
            raise self._error(
                f"{self.called} has {scale.size} scales; 1, or {self.shape[axis]} for axis "
                f"{axis}, are expected"
            )
        if zero_point.size not in (0, 1, scale.size):
            raise self._error(
                f"{self.called} has {scale.size} scales but {zero_point.size} zero points"
            )

    def _scales(self, scale: Array) -> tuple[float, ...]:
        values = tuple(float(value) for value in scale)
        # A scale of a constant may be 0, or so small that float32 is denormal: such channels are
        # dead, and their sums are treated as 0. Scales of computed tensors may be so only if
        # ``may_be_dead``.
        least = 0.0 if self.is_constant or self.may_be_dead else SMALLEST_SCALE
        for index, value in enumerate(values):
            # The comparison is false for NaN, too.
            if not least <= value < float("inf"):
                raise self._error(
                    f"scale {index} of {self.called} is {value:g}; {NORMAL_SCALE}",
                    hint="" if self.is_constant else CALIBRATE,
                )
        return values

    def _zero_points(self, zero_point: Array, count: int) -> tuple[int, ...]:
        values = tuple(int(value) for value in zero_point) or (0,)
        low, high = ZERO_POINTS[self.dtype]
        for index, value in enumerate(values):
            if not low <= value <= high and (self.dtype, value) != _SOFTMAX:
                expected = str(low) if low == high else f"{low} to {high}"
                raise self._error(
                    f"zero point {index} of {self.called} is {value}; {expected} is expected "
                    f"for {self.dtype}"
                )
        return values if len(values) == count else values * count

    def _error(self, what: str, hint: str = "") -> ModelError:
        return ModelError(what, where=self.where, hint=hint)


def reinterpreted(operator: Operator, tensor: BuiltTensor, meaning: Quant | None) -> BuiltTensor:
    """The tensor whose stored values have that scale and zero point: a view, unless it already has
    them."""
    if tensor.type.quant == meaning:
        return tensor
    # The values of a constant do not change, so no node is needed.
    if tensor.value is not None:
        return operator.constant(tensor.value, "values", meaning)
    attrs = ReinterpretAttrs(tensor.shape)
    return operator.emit("qnn.reinterpret", attrs, (tensor,), quant=meaning)


def activation_of(data: ArrayType, low: float, high: float) -> Activation | None:
    """The activation that clamps stored int8 values to these bounds, if there is one."""
    if data.dtype is not DType.INT8 or data.quant is None:
        return None
    limits = np.iinfo(np.int8)
    # Bounds outside of the dtype do not clamp anything.
    bounds = (max(low, limits.min), min(high, limits.max))
    for activation in (Activation.RELU, Activation.RELU6, Activation.RELU_N1_TO_1):
        if activation_range(activation, data.quant, data.dtype) == bounds:
            return activation
    return None
