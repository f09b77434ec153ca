"""Cases of int8 and int16 operators that are computed in float32, as ONNX specifies them."""

from __future__ import annotations

import dataclasses

import numpy as np

from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import Array, ArrayType, DType, Quant
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs
from microgen.graph.ops.convolution.conv2d_transpose import Conv2DTransposeAttrs
from microgen.graph.ops.dense.dense import DenseAttrs
from microgen.graph.ops.depthwise.depthwise_conv2d import DepthwiseConv2DAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.convolution.convolving import Geometry, random_geometry

FLOAT = Rounding.FLOAT
Weighted = Conv2DAttrs | Conv2DTransposeAttrs | DenseAttrs | DepthwiseConv2DAttrs
SPECIAL = (  # for which there are kernels of their own
    Geometry(data=(1, 8, 8, 8), filters=(8, 3, 3, 8)),
    Geometry(data=(1, 9, 8, 4), filters=(1, 3, 3, 4), multiplier=1),
    Geometry(data=(1, 9, 8, 4), filters=(1, 3, 3, 4), multiplier=1, strides=(2, 2)),
    Geometry(data=(1, 9, 8, 4), filters=(1, 3, 3, 4), multiplier=1, padding="VALID"),
    Geometry(data=(1, 5, 5, 8), filters=(9, 1, 1, 8), padding="VALID"),
    Geometry(data=(1, 6, 6, 16), filters=(1, 3, 3, 16), multiplier=1),
    Geometry(data=(1, 10, 9, 3), filters=(8, 3, 3, 3), strides=(2, 2)),
    Geometry(data=(1, 9, 9, 8), filters=(6, 3, 3, 4), padding="VALID"),
    Geometry(data=(1, 8, 8, 8), filters=(8, 3, 3, 4), activation=Activation.RELU),
)


def weight(rng: np.random.Generator, shape: tuple[int, ...], axis: int | None) -> c.Tensor:
    """A weight whose scales are powers of two (whose products have ties), or any."""
    made = c.weight(rng, shape, axis)
    quant = made.type.quant
    assert quant is not None
    if rng.integers(3) == 0:
        scales = tuple(2.0 ** int(n) for n in rng.integers(-10, -5, len(quant.scale)))
        quant = dataclasses.replace(quant, scale=scales)
    return dataclasses.replace(made, type=dataclasses.replace(made.type, quant=quant))


def with_zero(of: c.Tensor, zero: int) -> c.Tensor:
    """The weight, with one scale and that zero point."""
    assert of.type.quant is not None
    quant = Quant(of.type.quant.scale[:1], (zero,))
    return dataclasses.replace(of, type=dataclasses.replace(of.type, quant=quant))


def _output(rng: np.random.Generator, x: c.Tensor, w: c.Tensor, products: int) -> Quant:
    scale = c.output_scale(x, w, products)
    if rng.integers(3) == 0:
        scale = 2.0 ** round(float(np.log2(scale)))
    return c.quant(scale, int(rng.integers(-128, 128)))


def convolution(seed: int, g: Geometry, *, zero: int = 0, most: int = 9000) -> c.Case:
    """A case of the geometry. Every third data scale is a power of two."""
    rng = np.random.default_rng(abs(seed))
    quant = c.random_quant(rng)
    x = c.int8(rng, g.data, c.quant(0.25, quant.zero_point[0]) if rng.integers(3) == 0 else quant)
    w = weight(rng, g.filters, g.axis if g.per_channel and not zero else None)
    w = with_zero(w, zero) if zero else w
    biases = (c.bias(rng.integers(-most, most, g.channels)),) if g.biased else ()
    name = f"convolution {seed}, zero {zero}"
    return c.Case(name, g.op, g.attrs(FLOAT), (x, w, *biases), _output(rng, x, w, g.products))


def random_convolution(seed: int) -> c.Case:
    """Every fifth one with a zero point of the weights, every seventh pointwise."""
    g = random_geometry(seed, depthwise=seed % 2 == 0)
    if seed % 7 == 0 and not g.multiplier:
        shape = {"data": (*g.data[:3], 6), "filters": (5, 1, 1, 6)}
        g = dataclasses.replace(g, **shape, strides=(1, 1), padding="VALID")  # type: ignore[arg-type]
    return convolution(seed, g, zero=(seed % 256 - 128) if seed % 5 == 0 else 0)


def dense(seed: int, *, zero: int = 0) -> c.Case:
    rng = np.random.default_rng(seed)
    rows, depth, units = (int(n) for n in rng.integers(1, 12, 3))
    x = c.int8(rng, (rows, depth), c.random_quant(rng))
    w = weight(rng, (units, depth), 0 if rng.integers(2) and not zero else None)
    w = with_zero(w, zero) if zero else w
    biases = (c.bias(rng.integers(-9000, 9000, units)),) if rng.integers(2) else ()
    attrs = DenseAttrs(list(Activation)[int(rng.integers(4))], FLOAT, keep_num_dims=False)
    out = _output(rng, x, w, depth)
    return c.Case(f"dense {seed}, zero {zero}", "nn.dense", attrs, (x, w, *biases), out)


def as_float(case: c.Case) -> c.Case:
    """A case of weights and sums, rounded in float32."""
    assert isinstance(case.attrs, Weighted)
    attrs = dataclasses.replace(case.attrs, rounding=FLOAT)
    return dataclasses.replace(case, name=f"float {case.name}", attrs=attrs)


def near_ties(seed: int) -> c.Case:
    """A dense layer whose sums, of up to 2**30, are within a few units of ties, so that each of the
    three roundings matters."""
    rng = np.random.default_rng(seed)
    ties = np.arange(-100, 100) + 0.5
    x = c.Tensor(ArrayType((1, 1), DType.INT8, c.quant(0.1, 5)), np.array([[5]], np.int8))
    w = c.weight(rng, (ties.size * 16, 1), 0)
    assert w.type.quant is not None
    out = c.quant(x.type.scale * min(w.type.quant.scale) * 10.0 ** rng.uniform(4, 7), 0)
    scales = x.type.scale * np.array(w.type.quant.scale) / out.scale[0]
    sums = np.rint(np.repeat(ties, 16) / scales) + np.tile(np.arange(-8, 8), ties.size)
    attrs = DenseAttrs(Activation.NONE, FLOAT, keep_num_dims=False)
    return c.Case(f"ties {seed}", "nn.dense", attrs, (x, w, c.bias(sums)), out)


def expected(sums: Array, scales: Array, zero: int) -> Array:
    """The formula, written down once more: int8 outputs of exact sums."""
    product = sums.astype(np.float32) * scales.astype(np.float32)
    stored: Array = np.clip(np.rint(product.astype(np.float64)) + zero, -128, 127).astype(np.int8)
    return stored
