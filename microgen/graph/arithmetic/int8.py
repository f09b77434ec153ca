"""Integer arithmetic of quantized networks: the twin of
``crt/include/microgen/requantization/requantize.h``.

Scales are float32 in the model file and used as such. If TFLite computes in float32
rather than double, this module does, too. "TFLite" means ``tensorflow/lite/kernels``.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from microgen.graph.arithmetic import in_float32
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import Array, ArrayType, DType, Quant, frozen

RELAY = (Rounding.UPWARD, Rounding.NEAREST)
_ADD_LEFT_SHIFTS = {DType.INT8: 20, DType.INT16: 15}
SOFTMAX_INTEGER_BITS = 5  # kScaledDiffIntegerBits: exp's argument is fixed point Q5.26

_RANGES: dict[Activation, tuple[float, float]] = {
    Activation.NONE: (-math.inf, math.inf),
    Activation.UNLIMITED: (-math.inf, math.inf),
    Activation.RELU_UNLIMITED: (0, math.inf),
    Activation.RELU: (0.0, math.inf),
    Activation.RELU6: (0.0, 6.0),
    Activation.RELU_N1_TO_1: (-1.0, 1.0),
    Activation.RELU_0_TO_1: (0.0, 1.0),
}


def _round_half_away(value: float) -> int:
    """C's ``round``: the nearest integer, halves away from zero."""
    magnitude = math.floor(abs(value))
    # math.floor(x + 0.5) is wrong for the number just below 0.5, whose sum rounds up to 1.
    magnitude += abs(value) - magnitude >= 0.5
    return int(math.copysign(magnitude, value))


def rounded_away(x: Array | np.float64) -> Array:
    """``_round_half_away`` of each value, in the same dtype."""
    whole = np.trunc(x)
    # np.rint would round ties to even. The difference is exact, because whole is next to x.
    fraction = x - whole
    return np.asarray(whole + (fraction >= 0.5) - (fraction <= -0.5))


def quantize_multiplier(real: float) -> tuple[int, int]:
    """``per_channel_multipliers`` for one scale, as (multiplier, shift)."""
    multipliers, shifts = per_channel_multipliers(np.array([real]))
    return int(multipliers[0]), int(shifts[0])


def per_channel_multipliers(
    scales: npt.NDArray[np.float64],
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int8]]:
    """Each scale as int32 multiplier and int8 shift: about multiplier * 2**(shift - 31).

    multiplier is 0 or in [2**30, 2**31); shift is in [-31, 30].
    Source: TFLite quantization_util.cc, QuantizeMultiplier. ValueError if a scale is negative,
    not finite, or too large for that shift. The arrays are read-only.
    """
    return _multipliers(np.asarray(scales, np.float64).tobytes(), scales.shape)


@functools.lru_cache(maxsize=1024)  # layers: many kernels scale each one
def _multipliers(
    values: bytes, shape: tuple[int, ...]
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int8]]:
    scales = np.frombuffer(values).reshape(shape)
    wrong = ~((scales >= 0) & (scales < math.inf))
    if wrong.any():
        raise ValueError(f"the multiplier {scales[wrong][0]} is negative or not finite")
    fractions, shifts = np.frexp(scales)
    multipliers = np.floor(fractions * 2.0**31 + 0.5)  # exact: halves go up
    # A fraction just below 1 rounds up to 2**31, which int32 does not hold: half of it, and one
    # shift more.
    shifts = shifts + (multipliers == 2**31)
    multipliers = np.where(multipliers == 2**31, 2**30, multipliers)
    if (shifts > 30).any():
        raise ValueError(f"the multiplier {scales[shifts > 30][0]} is 2**30 or more")
    # TFLite makes 0 of scales whose shift is below -31.
    is_seen = shifts >= -31
    made = (multipliers * is_seen).astype(np.int32), (shifts * is_seen).astype(np.int8)
    return frozen(made[0]), frozen(made[1])


def _wrap32(x: Array) -> Array:
    """int64 values reduced to int32 as two's complement does, kept in int64."""
    return np.asarray(x.astype(np.int64).astype(np.int32).astype(np.int64))


def rounding_doubling_high_mul(a: Array, b: Array | int) -> Array:
    """High half of 2*a*b for int32 values, rounded to nearest; int64 array.

    Source: gemmlowp fixedpoint.h, SaturatingRoundingDoublingHighMul. Its division truncates, so
    halves go up for positive products and towards zero for negative ones.
    """
    product = np.asarray(a, np.int64) * np.asarray(b, np.int64)
    positive = (product + (1 << 30)) >> 31
    negative = -((-product + (1 << 30) - 1) >> 31)
    # Saturation: only -2**31 times itself exceeds int32.
    return np.minimum(np.where(product >= 0, positive, negative), 2**31 - 1)


def rounding_divide_by_pot(x: Array, exponent: Array | int) -> Array:
    """``x / 2**exponent`` rounded to nearest, halves away from zero; int64 array.

    Source: gemmlowp fixedpoint.h, RoundingDivideByPOT.
    """
    x = np.asarray(x, np.int64)
    mask = (np.int64(1) << np.asarray(exponent, np.int64)) - 1
    threshold = (mask >> 1) + (x < 0)
    return np.asarray((x >> exponent) + ((x & mask) > threshold))


def multiply_by_quantized_multiplier(
    x: Array, multiplier: Array | int, shift: Array | int, rounding: Rounding
) -> Array:
    """``x * multiplier * 2**(shift - 31)``, rounded; int32 array of the broadcast shape.

    ``x`` holds int32 values; multiplier and shift are results of ``quantize_multiplier``. DOUBLE is
    TFLite's common.h MultiplyByQuantizedMultiplier: shift left (wrapping), doubling high multiply,
    rounding shift right. SINGLE and NEAREST round the 64-bit product once, halves away from zero,
    then wrap; UPWARD rounds halves up. FLOAT multiplies in float32. The sources of these are next
    to their code.
    """
    x = np.asarray(x, np.int64)
    shift = np.asarray(shift, np.int64)
    if rounding in (Rounding.SINGLE, *RELAY):
        # UPWARD's source is TVM v0.14, src/target/intrin_rule.cc, QMultiplyShift: the product,
        # shifted left before if the shift is positive, plus 2**(r - 1), shifted right by r = 31 -
        # min(shift, 0). Subtracting a left shift from r instead gives the same result. So does its
        # shortcut for powers of two (q_multiply_shift's default.FLegalize), as long as that does
        # not overflow int32. NEAREST's source is src/relay/qnn/utils.cc,
        # FixedPointMultiplyToNearest: there 2**(r - 1) - 1 is added to negative products. SINGLE's
        # source is measurement: int8 FULLY_CONNECTED of ai-edge-litert 2.3.0 (BUILTIN_REF) equals
        # C's round(x * scale) in double. The 31-bit multiplier is within 2**-31 of the scale, so
        # the two differ only if a result of at most 8 bits lies within 2**-24 of a half without
        # being one. For a tie of negative products, half - 1 sends it down, away from zero.
        less = np.zeros_like(x) if rounding is Rounding.UPWARD else (x < 0).astype(np.int64)
        return _multiply_rounding_once(x, np.asarray(multiplier, np.int64), 31 - shift, less)
    if rounding is Rounding.FLOAT:
        # float32 holds such a multiplier: it has 24 bits if its scale is one of float32.
        scales = np.ldexp(np.asarray(multiplier, np.float64), shift - 31)
        return in_float32.scaled(x, scales).astype(np.int32)
    # A left shift comes before the multiplication, so that both roundings see its bits.
    shifted = _wrap32(x << np.maximum(shift, 0))
    high = rounding_doubling_high_mul(shifted, multiplier)
    return rounding_divide_by_pot(high, np.maximum(-shift, 0)).astype(np.int32)


def _multiply_rounding_once(x: Array, multiplier: Array, right_shift: Array, less: Array) -> Array:
    half = np.int64(1) << (right_shift - 1)
    rounded: Array = (x * multiplier + half - less) >> right_shift
    return rounded.astype(np.int32)


def float_range(activation: Activation) -> tuple[float, float]:
    """Least and greatest value of a float32 output with that fused activation.

    Infinities become the largest finite values, as in TFLite kernel_util.h,
    CalculateActivationRange, unless the activation is unlimited.
    """
    low, high = _RANGES[activation]
    if activation in (Activation.UNLIMITED, Activation.RELU_UNLIMITED):
        return low, high
    # So a sum that overflows becomes the largest finite number, not an infinity.
    most = float(np.finfo(np.float32).max)
    return max(low, -most), min(high, most)


def int32_range(activation: Activation) -> tuple[int, int]:
    """Like ``float_range``, for an output of plain int32 numbers."""
    low, high = _RANGES[activation]
    limits = np.iinfo(np.int32)
    return int(max(low, limits.min)), int(min(high, limits.max))


@functools.lru_cache(maxsize=4096)  # every kernel of a layer asks for it
def activation_range(activation: Activation, quant: Quant, dtype: DType) -> tuple[int, int]:
    """Least and greatest stored value of an output with that fused activation.

    ``quant`` is the output's quantization, which is per tensor. Source: TFLite kernel_util.cc,
    CalculateActivationRangeQuantized, whose division is float32.
    """
    limits = np.iinfo(dtype.numpy)
    low, high = (_quantize(real, quant) for real in _RANGES[activation])
    return int(max(limits.min, low)), int(min(limits.max, high))


def unreachable_bound(activation: Activation, quant: Quant) -> float | None:
    """A bound of the activation that exceeds int32 in the scale of ``quant``, which is per tensor.
    None if all bounds fit.
    """
    # TFLite refuses such a bound (kernel_util.cc, Quantize), or still converts it to int32
    # (activations.cc, pooling.cc), which C++ leaves undefined: on x86 all values become the bound.
    finite = (real for real in _RANGES[activation] if not math.isinf(real))
    is_dead = quant.scale[0] == 0
    return next((real for real in finite if is_dead or abs(_ratio(real, quant)) >= 2**31), None)


def _quantize(real: float, quant: Quant) -> float:
    ratio = _ratio(real, quant)
    return ratio if math.isinf(ratio) else quant.zero_point[0] + _round_half_away(ratio)


def _ratio(real: float, quant: Quant) -> float:
    with np.errstate(over="ignore"):
        return float(np.float32(real) / np.float32(quant.scale[0]))


def weight_scales(weight: ArrayType) -> npt.NDArray[np.float64]:
    """The scales of a weight in the file, one or one per channel; ValueError if there are none."""
    if weight.quant is None:
        raise ValueError(f"the weight {weight} is not quantized")
    return weight.quant.scales.astype(np.float64)


def conv_scales(data: ArrayType, weight: ArrayType, output: ArrayType) -> npt.NDArray[np.float64]:
    """Accumulator scale over output scale: one per channel, or one for all.

    Source: TFLite kernel_util.cc, PopulateConvolutionQuantizationParams (all in double).
    """
    scale_in, scale_out = float(np.float32(data.scale)), float(np.float32(output.scale))
    return np.asarray(scale_in * weight_scales(weight) / scale_out)


def sum_scales(_data: ArrayType, weight: ArrayType, output: ArrayType) -> npt.NDArray[np.float64]:
    """The scales of the sums, which equal the weight's scales, divided by the output's scale.

    Source: TVM v0.14, src/relay/qnn/op/requantize.cc, RequantizeLowerInt: the quotient of two
    float32 values in double.
    """
    return weight_scales(weight) / float(np.float32(output.scale))


def scales_of_sums(
    data: ArrayType, weight: ArrayType, output: ArrayType, rounding: Rounding
) -> npt.NDArray[np.float64]:
    """``conv_scales``; ``dense_scales`` for PRODUCT; ``in_float32.scale_of_sums`` for FLOAT;
    ``sum_scales`` for sums that are rounded as in Relay."""
    if rounding is Rounding.PRODUCT:
        return dense_scales(data, weight, output)
    if rounding is Rounding.FLOAT:
        return in_float32.scale_of_sums(data, weight, output)
    rule = sum_scales if rounding in RELAY else conv_scales
    return rule(data, weight, output)


def dense_scales(data: ArrayType, weight: ArrayType, output: ArrayType) -> npt.NDArray[np.float64]:
    """Like ``conv_scales``, but a single weight scale is multiplied by the input's in float32.

    This is the rule of TFLite Micro's dense, which rounds DOUBLE, and of convolutions that are
    uint8 in the file. LiteRT's dense, which rounds SINGLE, uses ``conv_scales``. Source: TFLite
    kernel_util.cc, GetQuantizedConvolutionMultipler.
    """
    if weight.quant is None or not weight.quant.is_per_tensor:
        return conv_scales(data, weight, output)
    product = np.float32(data.scale) * np.float32(weight.scale)
    return np.array([float(product) / float(np.float32(output.scale))])


def scale_of_products(data: ArrayType, weight: ArrayType, result: ArrayType) -> float:
    """The scale of the products of two tensors divided by the scale of the result. It is computed
    in float32 throughout, as in TFLite's recurrent operators. Inf if the computation overflows.
    """
    scales = (np.float32(t.scale) for t in (data, weight, result))
    with np.errstate(over="ignore"):
        left, right, over = scales
        return float(left * right / over)


def clip_multiplier(data: ArrayType, output: ArrayType) -> tuple[int, int]:
    """(multiplier, shift) from the input's scale to the output's; (0, 0) if they are equal.

    Source: TFLite activations.cc, ReluPrepare, whose division is float32.
    """
    scale_in, scale_out = np.float32(data.scale), np.float32(output.scale)
    if scale_in == scale_out and data.zero_point == output.zero_point:
        return 0, 0
    multiplier, shift = quantize_multiplier(float(scale_in / scale_out))
    # In TFLite, ratios below about 2**-32 have the multiplier 0, which means here that the scales
    # are equal. So they get 2**-32, which also turns every int8 and int16 value into 0.
    return (multiplier, shift) if multiplier else (2**30, -31)


@dataclass(frozen=True, slots=True)
class AddParameters:
    """Fixed-point parameters of an int8 or int16 addition. Shifts of operands are 0 or less."""

    left_shift: int
    lhs_multiplier: int
    lhs_shift: int
    rhs_multiplier: int
    rhs_shift: int
    output_multiplier: int
    output_shift: int


def add_parameters(
    lhs: ArrayType,
    rhs: ArrayType,
    output: ArrayType,
    width: type[np.float32 | np.float64] = np.float64,
) -> AddParameters:
    """The scaling of an addition: both operands are brought to twice the larger input scale over
    2**20 (int16: over 2**15), then added. Ratios of scales are computed in floats of that width.

    Source: TFLite add.cc, Prepare (QuantizeMultiplierSmallerThanOneExp), and TFLite Micro
    sub_common.cc, CalculateOpDataSub, whose width is float32. ValueError if these abort:
    the sum's scale must be less than that power of two times the output's.
    """
    left_shift = _ADD_LEFT_SHIFTS[output.dtype]
    scale_lhs, scale_rhs, scale_out = (width(np.float32(t.scale)) for t in (lhs, rhs, output))
    with np.errstate(over="ignore", divide="ignore"):
        twice_max = width(2) * max(scale_lhs, scale_rhs)
        factor = float(twice_max / (width(1 << left_shift) * scale_out))
    ratios = (float(scale_lhs / twice_max), float(scale_rhs / twice_max), factor)
    parts = [quantize_multiplier(ratio) for ratio in ratios]
    # A factor just below 1 may round up to a shift of 1, which aborts in TFLite, too.
    if factor >= 1 or parts[2][1] > 0:
        raise ValueError(
            f"the input scale {twice_max / 2:g} is 2**{left_shift - 1} times the output scale "
            f"{scale_out:g} or more; it must be less"
        )
    return AddParameters(left_shift, *parts[0], *parts[1], *parts[2])


@dataclass(frozen=True, slots=True)
class SoftmaxParameters:
    """Fixed-point parameters of an int8 softmax.

    Differences from the row's maximum below ``diff_min`` are treated as minus infinity.
    """

    input_multiplier: int
    input_left_shift: int
    diff_min: int


def softmax_parameters(data: ArrayType, beta: float) -> SoftmaxParameters:
    """The parameters. Source: TFLite quantization_util.cc, PreprocessSoftmaxScaling and
    CalculateInputRadius.

    ValueError if TFLite aborts: beta times the input's scale must exceed 2**-26.
    """
    fraction_bits = 31 - SOFTMAX_INTEGER_BITS
    real = float(np.float32(beta)) * float(np.float32(data.scale)) * (1 << fraction_bits)
    if not real > 1:
        raise ValueError(f"beta {beta:g} times the input scale {data.scale:g} must exceed 2**-26")
    # PreprocessSoftmaxScaling limits the multiplier to 2**31 - 1.
    multiplier, left_shift = _softmax_multiplier(min(real, 2.0**31 - 1))
    # The largest difference that the fixed point of exp holds.
    radius = ((1 << SOFTMAX_INTEGER_BITS) - 1) * (1 << fraction_bits) / (1 << left_shift)
    return SoftmaxParameters(multiplier, left_shift, -math.floor(radius))


def _softmax_multiplier(real: float) -> tuple[int, int]:
    """``quantize_multiplier`` for a multiplier that may reach 2**31 - 1 (shift 31)."""
    fraction, shift = math.frexp(real)
    multiplier = _round_half_away(fraction * (1 << 31))
    return (1 << 30, shift + 1) if multiplier == 1 << 31 else (multiplier, shift)


def requantize(
    accumulator: Array,
    scales: npt.NDArray[np.float64],
    rounding: Rounding,
    output: ArrayType,
    activation: Activation,
) -> Array:
    """int32 sums (channels last) scaled, offset and clamped to the stored values of ``output``."""
    multiplier, shift = per_channel_multipliers(scales)
    scaled = multiply_by_quantized_multiplier(accumulator, multiplier, shift, rounding)
    return offset_and_clamp(scaled, output, activation)


def offset_and_clamp(scaled: Array, output: ArrayType, activation: Activation) -> Array:
    """int32 values plus the output's zero point (wrapping), clamped by the activation."""
    # C adds the zero point in int32 before it clamps, so a sum beyond int32 wraps first.
    stored = _wrap32(np.asarray(scaled, np.int64) + output.zero_point)
    return clamp(stored, output, activation)


def clamp(stored: Array, output: ArrayType, activation: Activation) -> Array:
    """Integers clamped to the activation's range and the output's dtype."""
    if output.quant is None:
        raise ValueError(f"the output {output} is not quantized")
    low, high = activation_range(activation, output.quant, output.dtype)
    return np.clip(stored, low, high).astype(output.dtype.numpy)
