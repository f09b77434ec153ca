"""Stored values of one scale in another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgen.graph.arithmetic.int8 import (
    RELAY,
    multiply_by_quantized_multiplier,
    offset_and_clamp,
    per_channel_multipliers,
    quantize_multiplier,
)
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import Array, Arrays, ArrayType, Attrs, DType, Types
from microgen.graph.ops import bounds
from microgen.graph.ops.base import (
    EXACT,
    Bound,
    Inexact,
    OpDefinition,
    Operands,
    Shapes,
    expect_axis,
    expect_inputs,
    like_input,
)
from microgen.graph.ops.constraints import (
    dtype_constraint,
    first_of,
    quantized_constraint,
    too_large_ratio,
)

# Unlike qnn.requantize, which is TFLite's, qnn.rescale rounds once. Scales and zero points are
# attributes. The quantization of the tensors is ignored, but int8 and int16 outputs get these
# values as theirs.

DTYPES = (DType.INT8, DType.INT16, DType.INT32)


@dataclass(frozen=True, slots=True)
class RescaleAttrs(Attrs):
    """qnn.rescale: Relay's qnn.requantize: quantized values in another scale, zero point or dtype.

    Inputs: int8, int16 or int32 data; if ``input_scale`` is None, also its float32 scales, one for
    each index of ``axis``, which is counted from the front.
    """

    axis: int
    input_scale: float | None
    input_zero_point: int
    output_scale: float
    output_zero_point: int
    rounding: Rounding


def _rescale_infer(attrs: RescaleAttrs, inputs: Types) -> Shapes:
    """The input's shape."""
    expected = 1 if attrs.input_scale is not None else 2
    expect_inputs(inputs, expected, str(expected), by="qnn.rescale")
    data = inputs[0]
    if expected == 2:
        expect_axis(attrs.axis, data)
        if inputs[1].shape != (data.shape[attrs.axis],):
            raise ValueError(
                f"the scales are {inputs[1]}; one for each of {data.shape[attrs.axis]} is expected"
            )
    return (data.shape,)


def rescale_multiplier(attrs: RescaleAttrs) -> tuple[int, int]:
    """(multiplier, shift) if there is one scale; (0, 0) if there are several.

    Source: TVM v0.14, src/relay/qnn/op/requantize.cc, RequantizeLowerInt: float32 scales, their
    quotient in double.
    """
    if attrs.input_scale is None:
        return 0, 0
    return ratio(attrs.input_scale, attrs.output_scale)


def ratio(scale: float, over: float) -> tuple[int, int]:
    """(multiplier, shift) of the quotient of two float32 scales."""
    return quantize_multiplier(float(np.float32(scale)) / float(np.float32(over)))


def _rescale_check(attrs: RescaleAttrs, inputs: Types, outputs: Types) -> str | None:
    """int8, int16 and int32, in all combinations, and a ratio of scales that the fixed point can
    hold."""
    sentence = dtype_constraint("input", inputs[0], DTYPES) or dtype_constraint(
        "output", outputs[0], DTYPES
    )
    scales = (dtype_constraint("scales", t, (DType.FLOAT32,), is_plural=True) for t in inputs[1:])
    return sentence or first_of(scales) or _attrs_constraint(attrs)


def _attrs_constraint(attrs: RescaleAttrs) -> str | None:
    if attrs.rounding not in RELAY:
        known = " or ".join(repr(r.value) for r in RELAY)
        return f"values are rounded {attrs.rounding.value!r}; it must be {known}"
    scales = [attrs.output_scale] + ([] if attrs.input_scale is None else [attrs.input_scale])
    return scales_constraint(scales) or too_large_ratio(rescale_multiplier, attrs)


def scales_constraint(scales: Sequence[float]) -> str | None:
    """Scales must be positive and finite."""
    wrong = [scale for scale in scales if not 0 < scale < float("inf")]
    return f"a scale is {wrong[0]:g}; it must be positive and finite" if wrong else None


def _rescale_reference(attrs: RescaleAttrs, operands: Operands) -> Arrays:
    # Source: TVM v0.14, src/relay/qnn/op/requantize.cc, RequantizeLowerInt: int32 throughout, sums
    # modulo 2**32, then saturated. Ratios of 2**-32 or less, where TVM's shifts are undefined, are
    # 0.
    data, output = operands.inputs[0], operands.output_types[0]
    if attrs.input_scale is None:
        shape = [1] * data.ndim
        shape[attrs.axis] = -1
        # The quotient of two float32 numbers is in double, as in RequantizeLowerInt.
        scales = operands.inputs[1].astype(np.float64) / float(np.float32(attrs.output_scale))
        multipliers, shifts = (part.reshape(shape) for part in per_channel_multipliers(scales))
    else:
        multipliers, shifts = map(np.array, rescale_multiplier(attrs))
    centred = wrapped(data.astype(np.int64) - attrs.input_zero_point)
    scaled = multiply_by_quantized_multiplier(centred, multipliers, shifts, attrs.rounding)
    return (stored(scaled, attrs.output_zero_point, output.dtype),)


def wrapped(x: Array) -> Array:
    """int64 values modulo 2**32 in the range of int32, as int64."""
    return x.astype(np.int32).astype(np.int64)


def stored(scaled: Array, zero_point: int, dtype: DType) -> Array:
    """int32 values with the zero point added (modulo 2**32), saturated to the dtype."""
    limits = np.iinfo(dtype.numpy)
    whole = wrapped(scaled.astype(np.int64) + zero_point)
    clamped: Array = np.clip(whole, limits.min, limits.max)
    return clamped.astype(dtype.numpy)


def _rescale_bound(attrs: RescaleAttrs, inexact: Inexact) -> Arrays:
    # int32 numbers are modulo 2**32, so only the results of other dtypes never decrease.
    is_narrow = inexact.operands.inputs[0].dtype.itemsize < 4
    return (bounds.monotonic(_rescale_reference) if is_narrow else EXACT).of(attrs, inexact)


RESCALE = OpDefinition(
    "qnn.rescale",
    RescaleAttrs,
    _rescale_infer,
    _rescale_check,
    _rescale_reference,
    words=lambda *_: ("qnn_requantize",),
    bound=Bound("equal", _rescale_bound),
)


PAIRS = {  # the dtypes to which a dtype may be converted: TFLite quantize.cc, Prepare
    DType.INT8: (DType.INT8, DType.UINT8, DType.INT16),
    DType.UINT8: (DType.INT8, DType.UINT8),
    DType.INT16: (DType.INT8, DType.INT16, DType.INT32),
    DType.INT32: (DType.INT8, DType.INT16),
}


class RequantizeAttrs(Attrs):
    """qnn.requantize: quantized values converted to another scale, zero point or dtype.

    Input: int8, uint8, int16 or int32 data of any rank, with a scale.
    """


def requantize_multiplier(data: ArrayType, output: ArrayType) -> tuple[int, int]:
    """(multiplier, shift) from the input's scale to the output's.

    Source: TFLite quantize.cc, Prepare, whose division is in double. ValueError if the ratio
    of scales is 2**30 or more.
    """
    return ratio(data.scale, output.scale)


def _requantize_check(_attrs: RequantizeAttrs, inputs: Types, outputs: Types) -> str | None:
    """A pair of dtypes that TFLite has, and a ratio of scales that the fixed point can hold."""
    data, output = inputs[0], outputs[0]
    # TFLite has int16 data with a zero point, such as a softmax's, unless the output is int16, too.
    wide = data.dtype is DType.INT16 is not output.dtype
    sentence = quantized_constraint(
        "input", data, tuple(PAIRS), any_zero_point=wide
    ) or quantized_constraint("output", output, PAIRS[data.dtype])
    return sentence or too_large_ratio(requantize_multiplier, data, output)


def _requantize_reference(_attrs: RequantizeAttrs, operands: Operands) -> Arrays:
    # Source: TFLite reference/requantize.h, Requantize.
    data, output = operands.input_types[0], operands.output_types[0]
    centred = operands.inputs[0].astype(np.int64) - data.zero_point
    multiplier, shift = requantize_multiplier(data, output)
    scaled = multiply_by_quantized_multiplier(centred, multiplier, shift, Rounding.DOUBLE)
    return (offset_and_clamp(scaled, output, Activation.NONE),)


REQUANTIZE = OpDefinition(
    "qnn.requantize",
    RequantizeAttrs,
    like_input("qnn.requantize"),
    _requantize_check,
    _requantize_reference,
    bound=bounds.monotonic(_requantize_reference),
)


OPS = (RESCALE, REQUANTIZE)
