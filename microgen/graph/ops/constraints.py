"""Constraints of ops on the types of their operands: each returns a sentence if it is violated.

There are three families of dtypes: quantized int8 and int16, and float32. A node is of one family,
unless its op changes it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import numpy.typing as npt

from microgen.graph.arithmetic.int8 import weight_scales
from microgen.graph.arithmetic.int16 import SCALE_LIMIT
from microgen.graph.arithmetic.terms import Rounding
from microgen.graph.ir.graph import ArrayType, Attrs, DType, Types

INT8 = (DType.INT8,)
ALL_FAMILIES = (DType.INT8, DType.INT16, DType.FLOAT32)
INTEGERS = tuple(d for d in DType if d.numpy.kind in "iu")  # as plain numbers, modulo 2**n
EVERY_DTYPE = tuple(DType)  # for ops that move values and compute nothing

_SCALE_LIMIT = 2.0**30 - 1  # rounds to no more than the largest multiplier

# The least and the greatest zero point of each quantized dtype. int16 has none in TFLite, so its
# kernels do not subtract one.
_ZERO_POINTS = {DType.INT8: (-128, 127), DType.UINT8: (0, 255), DType.INT16: (0, 0)}


def first_of(sentences: Iterable[str | None]) -> str | None:
    """The first sentence, if there is one."""
    return next(filter(None, sentences), None)


def refused(compute: Callable[..., object], *arguments: object) -> str | None:
    """The message of the ValueError that ``compute`` raises for the arguments; None if it raises
    none."""
    try:
        compute(*arguments)
    except ValueError as error:
        return str(error)
    return None


def too_large_ratio(compute: Callable[..., object], *arguments: object) -> str | None:
    """The fixed point must hold the ratios of scales from which ``compute`` makes multipliers."""
    reason = refused(compute, *arguments)
    return f"the output's scale is too small for the input's: {reason}" if reason else None


def dtype_constraint(
    role: str, tensor: ArrayType, accepted: Sequence[DType], *, is_plural: bool = False
) -> str | None:
    """The tensor must be of an accepted dtype. ``role`` may be a plural."""
    if tensor.dtype in accepted:
        return None
    verb, pronoun = ("are", "they") if is_plural else ("is", "it")
    names = " or ".join(dtype.value for dtype in accepted)
    return f"the {role} {verb} {tensor}; {pronoun} must be {names}"


def activation_constraint(
    role: str, tensor: ArrayType, accepted: Sequence[DType] = INT8, *, may_be_dead: bool = False
) -> str | None:
    """An activation must be of an accepted dtype. If it is quantized, it must have one usable scale
    and zero point (0 for int16); if it is float32, it must have no quantization. An activation that
    ``may_be_dead`` may have the scale 0.
    """
    sentence = dtype_constraint(role, tensor, accepted)
    if sentence or tensor.dtype not in _ZERO_POINTS:
        return sentence or plain_constraint(role, tensor)
    return _quant_constraint(role, tensor, may_be_dead=may_be_dead)


def _quant_constraint(
    role: str, tensor: ArrayType, *, may_be_dead: bool = False, any_zero_point: bool = False
) -> str | None:
    """One usable scale, or 0 if the tensor ``may_be_dead``, and one zero point, which may be any of
    the dtype's values or is limited as ``_ZERO_POINTS`` says."""
    sentence = one_quant_constraint(role, tensor)
    if sentence or tensor.quant is None:
        return sentence
    quant = tensor.quant
    if not 0 <= quant.scale[0] < math.inf or not (quant.scale[0] or may_be_dead):
        return f"the {role}'s scale is {quant.scale[0]}; it must be positive and finite"
    low, high = _ZERO_POINTS.get(tensor.dtype, (0, 0))
    if any_zero_point:
        limits = np.iinfo(tensor.dtype.numpy)
        low, high = int(limits.min), int(limits.max)
    if not low <= quant.zero_point[0] <= high:
        expected = "0" if low == high else f"{low} to {high}"
        return (
            f"the {role}'s zero point is {quant.zero_point[0]}; for {tensor.dtype.value} it must "
            f"be {expected}"
        )
    return None


def one_quant_constraint(role: str, tensor: ArrayType) -> str | None:
    """The tensor must have one scale and one zero point, of any values."""
    if tensor.quant and tensor.quant.is_per_tensor and len(tensor.quant.scale) == 1:
        return None
    return f"the {role} {tensor} must have one scale and one zero point"


def quantized_constraint(
    role: str, tensor: ArrayType, accepted: Sequence[DType], *, any_zero_point: bool = False
) -> str | None:
    """The tensor must be stored integers of an accepted dtype, with one usable scale and zero
    point (0, except for int8 and uint8, or unless it may have ``any_zero_point``)."""
    return dtype_constraint(role, tensor, accepted) or _quant_constraint(
        role, tensor, any_zero_point=any_zero_point
    )


def plain_constraint(role: str, tensor: ArrayType) -> str | None:
    """Plain numbers must have no scale."""
    return f"the {role} {tensor} has a scale; it must have none" if tensor.quant else None


def activations_constraint(
    data: ArrayType,
    output: ArrayType,
    accepted: Sequence[DType] = INT8,
    *,
    may_be_dead: bool = False,
) -> str | None:
    """``activation_constraint`` for an op's input, which ``may_be_dead``, and its output. They must
    be of one dtype."""
    return (
        activation_constraint("input", data, accepted, may_be_dead=may_be_dead)
        or same_dtype_constraint(data, output)
        or activation_constraint("output", output, accepted)
    )


def same_dtype_constraint(data: ArrayType, output: ArrayType) -> str | None:
    """Input and output must be of one dtype."""
    if data.dtype is output.dtype:
        return None
    return f"the input is {data}, the output {output}; they must be of one dtype"


def unchanged_constraint(
    data: ArrayType, output: ArrayType, accepted: Sequence[DType] = INT8
) -> str | None:
    """Input and output must be of one dtype and equal quantization, so that stored values keep
    their meaning. Plain numbers have no quantization and may be of any accepted dtype."""
    if sentence := dtype_constraint("input", data, accepted):
        return sentence
    if data.dtype is not output.dtype or data.quant is None or output.quant is None:
        return same_dtype_constraint(data, output) or _both_plain(data, output)
    pair = (("input", data), ("output", output))
    if sentence := first_of(_quant_constraint(*each, may_be_dead=True) for each in pair):
        return sentence
    if (data.scale, data.zero_point) != (output.scale, output.zero_point):
        return (
            f"the input's scale and zero point are {data.scale:g} and {data.zero_point}, the "
            f"output's {output.scale:g} and {output.zero_point}; they must be equal"
        )
    return None


def unchanged(_attrs: Attrs, inputs: Types, outputs: Types) -> str | None:
    """Dtype and quantization unchanged."""
    return unchanged_constraint(inputs[0], outputs[0], EVERY_DTYPE)


def all_unchanged(data: Types, output: ArrayType) -> str | None:
    """``unchanged_constraint`` for each of several inputs, of any dtype."""
    return first_of(unchanged_constraint(each, output, EVERY_DTYPE) for each in data)


def _both_plain(data: ArrayType, output: ArrayType) -> str | None:
    if data.quant is None and output.quant is None:
        return None
    return "one of input and output has a scale, the other none; both or neither must"


def quant_constraint(
    output: ArrayType, steps: int, zero_point: int, *, tolerance: float = 0.0
) -> str | None:
    """The output's scale must be 1 / ``steps``, up to a relative tolerance."""
    is_near = abs(output.scale - 1 / steps) <= tolerance / steps
    if is_near and output.zero_point == zero_point:
        return None
    return (
        f"the output's scale and zero point are {output.scale:g} and {output.zero_point}; "
        f"they must be 1/{steps} and {zero_point}"
    )


def depth_constraint(data: ArrayType, most: int) -> str | None:
    """The rows over the last axis must be short enough for their sum to fit the accumulator."""
    if data.shape[-1] <= most:
        return None
    return f"the last axis has {data.shape[-1]} values; the sum holds up to {most}"


def weight_constraint(weight: ArrayType, axis: int, *, any_zero: bool = False) -> str | None:
    """A weight must be int8, with one scale or one per index of ``axis``. It must be symmetric;
    with ``any_zero``, a weight with one scale may have any zero point."""
    if sentence := dtype_constraint("weight", weight, INT8):
        return sentence
    quant = weight.quant
    if quant is None:
        return f"the weight {weight} is not quantized"
    count = 1 if quant.is_per_tensor else weight.shape[axis]
    if quant.axis not in (None, axis) or len(quant.scale) != count:
        return (
            f"the weight {weight} has {len(quant.scale)} scales along axis {quant.axis}; there "
            f"must be one, or {weight.shape[axis]} along axis {axis}"
        )
    if any(quant.zero_point) and not (any_zero and quant.is_per_tensor):
        return f"a zero point of the weight is {max(quant.zero_point, key=abs)}; all must be 0"
    if not all(0 <= scale < math.inf for scale in quant.scale):
        return "a scale of the weight is negative or not finite"
    return None


def bias_constraint(
    bias: ArrayType,
    data: ArrayType,
    weight: ArrayType,
    output: ArrayType,
    accepted: Sequence[DType] = (DType.INT32,),
) -> str | None:
    """A bias must be of an accepted dtype and, if the weight has one scale, have about the
    accumulator's scale."""
    if sentence := dtype_constraint("bias", bias, accepted):
        return sentence
    if bias.quant is None or len(bias.quant.scale) != 1 or len(weight_scales(weight)) != 1:
        return None
    # TFLite compares the scales (GetQuantizedConvolutionMultipler), which may differ by 2 % of the
    # output's. With several scales of the weight it does not compare, so we do not either.
    expected = float(np.float32(data.scale) * np.float32(weight_scales(weight)[0]))
    if abs(expected - bias.quant.scale[0]) / output.scale <= 0.02:
        return None
    return (
        f"the bias's scale is {bias.quant.scale[0]:g}; it must be the input's times the "
        f"weight's, {expected:g}"
    )


def float_weights_constraint(weight: ArrayType, *bias: ArrayType) -> str | None:
    """Weight and bias of float32 data must be float32."""
    for role, tensor in zip(("weight", "bias"), (weight, *bias), strict=False):
        if tensor.dtype is not DType.FLOAT32:
            return f"the {role} is {tensor}; of float32 data it must be float32"
    return None


def rounding_constraint(
    data: ArrayType, rounding: Rounding, accepted: Sequence[Rounding]
) -> str | None:
    """The rounding of sums must be one that the data's dtype allows."""
    if rounding in accepted:
        return None
    known = " or ".join(r.value for r in accepted)
    return f"{data.dtype.value} sums are rounded {rounding.value!r}; it must be {known}"


def weight_zero(weight: ArrayType) -> int:
    """The zero point of a weight; 0 if it has a scale per channel, or none."""
    quant = weight.quant
    return quant.zero_point[0] if quant is not None and quant.is_per_tensor else 0


def accumulator_constraint(
    data: ArrayType, products: int, scales: npt.NDArray[np.float64], zero: int = 0
) -> str | None:
    """A sum of ``products`` terms must fit int32 after scaling; for int8 data also before. ``zero``
    is the weight's zero point.
    """
    # The bound is products * max|x - zero point| * max|w|, and does not depend on the values. It
    # includes neither the bias nor, before scaling, the weight's zero point: kernels know the
    # values, and refuse weights that are too large.
    bound = largest_sum(data, products)
    if bound >= 2**31 and data.dtype is DType.INT8:
        return (
            f"{products} products are summed, which may reach {bound}; the int32 accumulator "
            f"holds {2**31 - 1}"
        )
    # TFLite's own behaviour is undefined for scaled sums that exceed int32.
    if leaves_int32(data, products, scales, zero):
        return (
            f"the output's scale is too small: sums of up to {bound}, scaled by {max(scales):g}, "
            "exceed int32"
        )
    return None


def largest_sum(data: ArrayType, products: int, zero: int = 0) -> int:
    """The largest magnitude of a sum of ``products`` products of stored data with int8 weights
    whose zero point is ``zero``."""
    # The second factor is the largest distance of an int8 weight from its zero point.
    return products * farthest(data) * max(127 - zero, 128 + zero)


def farthest(tensor: ArrayType) -> int:
    """The largest distance of a stored integer from the zero point."""
    limits = np.iinfo(tensor.dtype.numpy)
    return max(int(limits.max) - tensor.zero_point, tensor.zero_point - int(limits.min))


def leaves_int32(
    data: ArrayType, products: int, scales: npt.NDArray[np.float64], zero: int = 0
) -> bool:
    """Whether a sum of ``products`` products may exceed int32 after scaling."""
    # 256 leaves room for the zero point, which kernels add to the scaled sum in int32.
    return bool(largest_sum(data, products, zero) * max(scales) >= 2**31 - 256)


def multiplier_constraint(scales: npt.NDArray[np.float64]) -> str | None:
    """The fixed point must hold the scales; results that exceed int32 are taken modulo 2**32."""
    if max(scales) < _SCALE_LIMIT:
        return None
    return (
        f"the output's scale is too small: sums are scaled by {max(scales):g}; it must be less "
        "than 2**30"
    )


def scale_constraint16(scales: npt.NDArray[np.float64]) -> str | None:
    """Scales of the accumulators of int16 activations must be below ``SCALE_LIMIT``."""
    if max(scales) < SCALE_LIMIT:
        return None
    return (
        f"the output's scale is too small: sums are scaled by {max(scales):g}; it must be less "
        f"than {SCALE_LIMIT:g}"
    )
