"""Cases of nn.conv2d and nn.depthwise_conv2d in int16 and float32, for both tests of each."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import tflite

from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import DType, Quant
from microgen.graph.ops.base import Padding, Pair
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs
from microgen.graph.ops.depthwise.depthwise_conv2d import DepthwiseConv2DAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.conformance import litert_oracle
from tests.support.tflite_builder import OptionValue

Attrs = Conv2DAttrs | DepthwiseConv2DAttrs


@dataclass(frozen=True)
class Geometry:
    """A convolution without its values.

    ``filters`` has the shape of the weight. It is depthwise if ``multiplier`` is not 0.
    """

    data: tuple[int, int, int, int] = (1, 5, 6, 4)
    filters: tuple[int, int, int, int] = (6, 3, 3, 4)
    multiplier: int = 0
    strides: Pair = (1, 1)
    dilation: Pair = (1, 1)
    padding: Padding = "SAME"
    activation: Activation = Activation.NONE
    per_channel: bool = True
    biased: bool = True

    @property
    def op(self) -> str:
        return "nn.depthwise_conv2d" if self.multiplier else "nn.conv2d"

    @property
    def axis(self) -> int:
        """The weight's axis of output channels."""
        return 3 if self.multiplier else 0

    @property
    def channels(self) -> int:
        return self.filters[self.axis]

    @property
    def products(self) -> int:
        """The number of products in one output."""
        _, height, width, depth = self.filters
        return height * width * (1 if self.multiplier else depth)

    def attrs(self, rounding: Rounding) -> Attrs:
        window = (self.strides, self.dilation, self.padding)
        if self.multiplier:
            return DepthwiseConv2DAttrs(*window, self.multiplier, self.activation, rounding)
        return Conv2DAttrs(*window, self.activation, rounding)


def random_geometry(seed: int, *, depthwise: bool, paddings: Sequence[str] = ()) -> Geometry:
    """A random geometry. Its padding is one of ``paddings``, or without them also explicit."""
    rng = np.random.default_rng(1000 + seed)
    groups, depth, per_group, multiplier = (int(n) for n in rng.integers(1, [4, 6, 7, 4]))
    kernel = tuple(int(n) for n in rng.integers(1, 5, 2))
    dilation = tuple(int(n) for n in rng.choice([1, 1, 2, 3], 2))
    room = [(k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True)]
    size = [int(n + extra) for n, extra in zip(room, rng.integers(0, 6, 2), strict=True)]
    top, left, bottom, right = (int(n) for n in rng.integers(0, 4, 4))
    known: list[Padding] = ["SAME", "VALID", (top, left, bottom, right)]
    chosen = [p for p in known if not paddings or p in paddings]
    channels = groups * depth
    ordinary = (groups * per_group, kernel[0], kernel[1], depth)
    return Geometry(
        data=(int(rng.integers(1, 3)), size[0], size[1], channels),
        filters=(1, *kernel, channels * multiplier) if depthwise else ordinary,
        multiplier=multiplier if depthwise else 0,
        strides=(int(rng.integers(1, 4)), int(rng.integers(1, 4))),
        dilation=(dilation[0], dilation[1]),
        padding=chosen[seed % len(chosen)],
        activation=list(Activation)[int(rng.integers(4))],
        per_channel=bool(rng.integers(2)),
        biased=bool(rng.integers(2)),
    )


def int16_case(
    seed: int,
    name: str,
    g: Geometry,
    rounding: Rounding = Rounding.REDUCED,
    *,
    largest_bias: float = 2.0**24,
    times_scale: float = 1.0,
) -> c.Case:
    """A case of int16.

    Its output scale is ``times_scale`` times one that spreads random sums over most of int16.
    """
    rng = np.random.default_rng(seed)
    x = c.int16(rng, g.data, 10 ** rng.uniform(-5, -2))
    w = c.weight(rng, g.filters, g.axis if g.per_channel else None)
    dtype = DType.INT32 if rounding is Rounding.DOUBLE else DType.INT64
    offsets = np.rint(rng.uniform(-largest_bias, largest_bias, g.channels))
    inputs = (x, w, _bias(x, w, c.bias(offsets, dtype))) if g.biased else (x, w)
    assert w.type.quant is not None
    usual = x.type.scale * max(w.type.quant.scale) * 40 * float(np.sqrt(g.products))
    out = c.quant(usual * times_scale)
    return c.Case(name, g.op, g.attrs(rounding), inputs, out, DType.INT16)


def _bias(x: c.Tensor, w: c.Tensor, bias: c.Tensor) -> c.Tensor:
    """The bias with the accumulator's scales, which LiteRT checks."""
    assert w.type.quant is not None
    scales = tuple(float(np.float32(x.type.scale) * np.float32(s)) for s in w.type.quant.scale)
    axis = None if len(scales) == 1 else 0
    quant = Quant(scales, (0,) * len(scales), axis)
    return dataclasses.replace(bias, type=dataclasses.replace(bias.type, quant=quant))


def float_case(seed: int, name: str, g: Geometry) -> c.Case:
    rng = np.random.default_rng(seed)
    x = c.float32(rng, g.data)
    w = c.float32(rng, g.filters, is_constant=True)
    b = c.float32(rng, (g.channels,), is_constant=True)
    inputs = (x, w, b) if g.biased else (x, w)
    attrs = g.attrs(Rounding.DOUBLE)
    return c.Case(name, g.op, attrs, inputs, None, DType.FLOAT32)


def random_int16(seed: int, g: Geometry, rounding: Rounding) -> c.Case:
    """A random case. Some scales are up to 2**12 off, some biases up to 2**46 with scales to
    suit."""
    rng = np.random.default_rng(seed)
    times = 2.0 ** (rng.uniform(-12, 12) if rng.random() < 0.3 else 0)
    most = 2**31 - 1 if rounding is Rounding.DOUBLE else 2.0 ** rng.uniform(24, 46)
    if rng.random() < 0.3:
        scale = times * most / 2**24
        return int16_case(seed, f"{seed}", g, rounding, largest_bias=most, times_scale=scale)
    return int16_case(seed, f"{seed}", g, rounding, times_scale=times)


def random_cases(seed: int, *, depthwise: bool) -> tuple[c.Case, ...]:
    """A geometry in int16, with one of the two roundings, and in float32."""
    g = random_geometry(seed, depthwise=depthwise)
    rounding = Rounding.DOUBLE if seed % 3 == 0 else Rounding.REDUCED
    return random_int16(seed, g, rounding), float_case(seed, f"float32 {seed}", g)


def int16_corners(base: Geometry) -> tuple[c.Case, ...]:
    """Large biases, extreme scales, values and sums, all with the geometry ``base``."""
    unbiased = dataclasses.replace(base, biased=False, per_channel=False)
    extreme = [2.0**k for k in range(-16, 40, 5)]
    wide, double = Rounding.REDUCED, Rounding.DOUBLE
    scales = (0.5, 2.0**-4, 1.0, 0.5 - 2.0**-20, 0.25 - 2.0**-26, 1.0 - 2.0**-17)
    return (
        *(tied(base, scale, rounding) for scale in scales for rounding in (wide, double)),
        int16_case(1, "bias of 2**46", base, largest_bias=2.0**46, times_scale=2.0**20),
        int16_case(2, "bias of 2**31", base, double, largest_bias=2.0**31 - 1),
        int16_case(3, "no bias, per tensor", unbiased),
        *(int16_case(4, f"scale {k:g}", base, wide, times_scale=k) for k in extreme),
        *(int16_case(5, f"double, scale {k:g}", base, double, times_scale=k) for k in extreme),
    )


def tied(g: Geometry, scale: float, rounding: Rounding = Rounding.REDUCED) -> c.Case:
    """Sums that are scaled by a power of two, so that halves occur, or nearly by one."""
    case = int16_case(10, f"{rounding.value}, scaled by {scale!r}", g, rounding, largest_bias=500)
    x, w, *bias = case.inputs
    x = c.int16(np.random.default_rng(10), g.data, 1.0)
    w = dataclasses.replace(w, type=dataclasses.replace(w.type, quant=c.quant(scale)))
    x = dataclasses.replace(x, array=x.array >> 11)
    biases = [_bias(x, w, b) for b in bias]
    return dataclasses.replace(case, inputs=(x, w, *biases), output_quant=c.quant(1.0))


def largest_sums(g: Geometry, value: int) -> c.Case:
    """Data of ``value`` and weights of -128: more than 511 products would overflow int32."""
    case = int16_case(9, f"largest sums, {value}", g, times_scale=100.0)
    x, w, *bias = case.inputs
    same = np.full_like(x.array, value), np.full_like(w.array, -128)
    extreme = [dataclasses.replace(t, array=array) for t, array in zip((x, w), same, strict=True)]
    return dataclasses.replace(case, inputs=(*extreme, *bias))


def of_dtype(g: Geometry) -> tuple[c.Case, ...]:
    """The geometry in int16, with both roundings, and in float32."""
    return (
        int16_case(6, f"{g}", g),
        int16_case(7, f"{g}", g, Rounding.DOUBLE),
        float_case(8, f"{g}", g),
    )


def assert_equals_litert(case: c.Case, g: Geometry) -> None:
    """Checks that the reference equals LiteRT's on a case with SAME or VALID padding."""
    options = _litert_options(g)
    if any(t.type.dtype is DType.INT32 for t in case.inputs):
        options["quantizedBiasType"] = tflite.TensorType.INT32
    oracle = litert_oracle.Case(
        case.op,
        case.attrs,
        case.input_types,
        [tensor.array for tensor in case.inputs],
        case.output_quant,
        *_litert_operator(g),
        options,
        constants=range(1, len(case.inputs)),
        version=5,
        output_dtype=case.output_dtype,
    )
    litert_oracle.assert_equal(oracle)


def random_int8(seed: int, *, depthwise: bool) -> litert_oracle.Case:
    """A random geometry with random values and scales, as LiteRT's operator and the reference's."""
    rng = np.random.default_rng(seed)
    g = _int8_geometry(rng, depthwise=depthwise)
    inputs = litert_oracle.random_weighted(
        rng, g.data, g.filters, axis=g.axis, products=g.products, has_bias=g.biased
    )
    return litert_oracle.Case(
        g.op,
        g.attrs(Rounding.DOUBLE),
        inputs.types,
        inputs.arrays,
        inputs.output_quant,
        *_litert_operator(g),
        _litert_options(g),
        constants=range(1, len(inputs.types)),
        version=3,
    )


def _int8_geometry(rng: np.random.Generator, *, depthwise: bool) -> Geometry:
    """A random geometry with SAME or VALID padding.

    With SAME the window may be larger than the data. LiteRT's CONV_2D requires a bias.
    """
    kernel_h, kernel_w, depth, per_group = (int(n) for n in rng.integers(1, 6, 4))
    groups = int(rng.choice([1, 1, 1, 2, 3]))
    channels, multiplier = int(rng.integers(1, 10)), int(rng.choice([1, 1, 2, 3, 8]))
    dilation_h, dilation_w = (int(n) for n in rng.choice([1, 1, 2, 3], 2))
    padding: Padding = "SAME" if rng.random() < 0.5 else "VALID"
    height, width = (int(n) for n in rng.integers(1, 12, 2))
    if padding == "VALID":
        height += (kernel_h - 1) * dilation_h
        width += (kernel_w - 1) * dilation_w
    each = (1, kernel_h, kernel_w, channels * multiplier)
    return Geometry(
        data=(int(rng.integers(1, 3)), height, width, channels if depthwise else depth * groups),
        filters=each if depthwise else (per_group * groups, kernel_h, kernel_w, depth),
        multiplier=multiplier if depthwise else 0,
        strides=(int(rng.integers(1, 4)), int(rng.integers(1, 4))),
        dilation=(dilation_h, dilation_w),
        padding=padding,
        activation=litert_oracle.random_activation_function(rng),
        biased=not depthwise or bool(rng.random() < 0.8),
    )


def _litert_operator(g: Geometry) -> tuple[str, str]:
    """The names of the operator and of its options."""
    if g.multiplier:
        return "DEPTHWISE_CONV_2D", "DepthwiseConv2DOptions"
    return "CONV_2D", "Conv2DOptions"


def _litert_options(g: Geometry) -> dict[str, OptionValue]:
    assert isinstance(g.padding, str)
    depth_multiplier: dict[str, OptionValue] = {"depthMultiplier": g.multiplier}
    return {
        "padding": litert_oracle.PADDING[g.padding],
        "strideH": g.strides[0],
        "strideW": g.strides[1],
        "dilationHFactor": g.dilation[0],
        "dilationWFactor": g.dilation[1],
        "fusedActivationFunction": litert_oracle.FUSED[g.activation],
        **(depth_multiplier if g.multiplier else {}),
    }
