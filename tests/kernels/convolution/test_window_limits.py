"""Windows with the largest sizes, dilations, strides and padding, and refusals of larger ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from microgen.graph import ops
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import ArrayType, DType
from microgen.graph.ops.base import Padding, Pair
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs, Conv2DHybridAttrs
from microgen.graph.ops.convolution.conv2d_transpose import Conv2DTransposeAttrs
from microgen.graph.ops.geometry import MOST, output_size, resolve
from tests.kernels.conformance import conformance as c
from tests.kernels.conformance import dtypes
from tests.kernels.convolution import convolving, hybrids

NONE, DOUBLE = Activation.NONE, Rounding.DOUBLE
PADS: Padding = (MOST, 0, MOST, 0)
HUGE = (MOST + 1, 715_827_883, 2**30 - 1, 2**31 - 1)
ATTRS: dict[str, dict[str, Any]] = {
    "nn.conv2d": {"rounding": DOUBLE},
    "nn.conv2d_hybrid": {},
    "nn.depthwise_conv2d": {"rounding": DOUBLE, "depth_multiplier": 1},
    "nn.depthwise_conv2d_hybrid": {"depth_multiplier": 1},
    "nn.conv2d_transpose": {"rounding": DOUBLE, "size": (5, 5)},
    "nn.avg_pool2d": {"pool_size": (5, 5)},
    "nn.max_pool2d": {"pool_size": (5, 5)},
}


def _shape_of(op: str, **changes: Any) -> tuple[int, ...]:
    """The output shape that the op infers for a 5x5 window over a 5x5 image of one channel."""
    kind = ops.registry()[op].attrs
    fields = {"strides": (1, 1), "padding": "SAME", "activation": NONE, **ATTRS[op]}
    if hasattr(kind, "dilation"):
        fields["dilation"] = (1, 1)
    image = ArrayType((1, 5, 5, 1), DType.FLOAT32)
    inputs = [image] if "pool" in op else [image, image]
    (shape,) = ops.registry()[op].infer(kind(**fields | changes), inputs)
    return shape


@pytest.mark.parametrize("op", ATTRS)
def test_the_usual_is_inferred(op: str) -> None:
    assert _shape_of(op) == (1, 5, 5, 1)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("huge", HUGE)
@pytest.mark.parametrize("op", ATTRS)
def test_what_the_kernels_of_tflite_cannot_hold_is_refused(op: str, huge: int, axis: int) -> None:
    pair = (huge, 1) if axis == 0 else (1, huge)
    with pytest.raises(ValueError, match=f"strides .*{huge}.* must be at most 32767"):
        _shape_of(op, strides=pair)
    if hasattr(ops.registry()[op].attrs, "dilation"):
        with pytest.raises(ValueError, match=f"dilation .*{huge}.* must be at most 32767"):
            _shape_of(op, dilation=pair)
    pads = (huge, 0, 0, 0) if axis == 0 else (0, 0, 0, huge)
    with pytest.raises(ValueError, match=f"padding .*{huge}.* must be at most 32767"):
        _shape_of(op, padding=pads)


def test_same_padding_has_the_limit_too() -> None:
    with pytest.raises(ValueError, match=r"padding .* must be at most 32767"):
        _shape_of("nn.conv2d", dilation=(MOST, 1))


def test_int32_counts_from_one_tap_to_the_next() -> None:
    def inferred(width: int) -> tuple[int, ...]:
        attrs = Conv2DAttrs((1, 1), (MOST, 1), "VALID", NONE, DOUBLE)
        wide, one = (ArrayType((1, 1, n, 1), DType.INT8) for n in (width, 1))
        (shape,) = ops.registry()["nn.conv2d"].infer(attrs, [wide, one])
        return shape

    assert inferred(65538) == (1, 1, 65538, 1)
    with pytest.raises(ValueError, match="taps are 2147516413 values apart"):
        inferred(65539)


def test_a_padded_image_leaves_room_for_a_dilation() -> None:
    attrs = Conv2DAttrs((1, 1), (1, 1), PADS, NONE, DOUBLE)
    tall, one = (ArrayType((1, n, 1, 1), DType.INT8) for n in (2**31 - 100_000, 1))
    with pytest.raises(ValueError, match="the padded input is 2147449182x1; kernels allow"):
        ops.registry()["nn.conv2d"].infer(attrs, [tall, one])


# At the limits


def _turned(pair: Pair) -> Pair:
    return pair[1], pair[0]


def _convolutions() -> Iterator[c.Case]:
    """Three taps, at most one of which is in the image. The others are far before or after it."""
    far = convolving.Geometry(
        data=(1, 3, 2, 4), filters=(5, 3, 1, 4), dilation=(MOST, 1), padding=PADS
    )
    apart = replace(far, dilation=(1, 1), strides=(MOST, 1))
    for tall in (far, apart):
        wide = replace(
            tall,
            data=(1, 2, 3, 4),
            filters=(5, 1, 3, 4),
            dilation=_turned(tall.dilation),
            strides=_turned(tall.strides),
            padding=(0, MOST, 0, MOST),
        )
        for g in (tall, wide):
            yield from _of_dtypes(g)
            yield from _of_dtypes(replace(g, filters=(1, *g.filters[1:3], 4), multiplier=1))
            yield from _of_dtypes(replace(g, filters=(1, *g.filters[1:3], 8), multiplier=2))


def _of_dtypes(g: convolving.Geometry) -> Iterator[c.Case]:
    rng = np.random.default_rng(1)
    yield from convolving.of_dtype(g)
    x, w = c.int8(rng, g.data, c.random_quant(rng)), c.weight(rng, g.filters, g.axis)
    quant = c.quant(c.output_scale(x, w, g.products))
    yield c.Case(f"int8 {g}", g.op, g.attrs(DOUBLE), (x, w), quant)
    if not g.multiplier:
        attrs = Conv2DHybridAttrs(g.strides, g.dilation, g.padding, NONE)
        made = hybrids.inputs(rng, g.data, g.filters, 0, per_channel=True)
        yield c.Case(f"hybrid {g}", "nn.conv2d_hybrid", attrs, made, None, DType.FLOAT32)


def _transposed() -> Iterator[c.Case]:
    attrs = Conv2DTransposeAttrs((MOST, 1), "VALID", (MOST + 2, 2), NONE, DOUBLE)
    rng = np.random.default_rng(2)
    x, weights = c.float32(rng, (1, 2, 2, 3)), c.float_weights(rng, (2, 2, 1, 3), 0)
    yield c.Case("float32", "nn.conv2d_transpose", attrs, (x, *weights), None, DType.FLOAT32)
    i, w = c.int8(rng, (1, 2, 2, 3), c.random_quant(rng)), c.weight(rng, (2, 2, 1, 3), 0)
    quant = c.quant(c.output_scale(i, w, 3))
    yield c.Case("int8", "nn.conv2d_transpose", attrs, (i, w), quant)


def _pools() -> Iterator[c.Case]:
    """Windows of which the image covers only a corner."""
    for op in ("nn.avg_pool2d", "nn.max_pool2d"):
        attrs = ops.registry()[op].attrs((MOST + 1, 1), (MOST, 1), PADS, NONE)  # type: ignore[call-arg]
        for dtype in (DType.INT8, DType.INT16, DType.FLOAT32):
            data = dtypes.kernel_data(np.random.default_rng(3), dtype, (1, 3, 2, 2))
            yield c.Case(f"{op} {dtype}", op, attrs, (data,), data.type.quant, dtype)


@pytest.mark.parametrize("make", [_convolutions, _transposed, _pools])
def test_kernels_equal_the_reference_at_the_limits(make: Any, tmp_path: Path) -> None:
    c.check(list(make()), tmp_path)


# Intermediate results of microgen/window.h and microgen/convolution/conv2d_window.h


def _intermediates(size: int, kernel: int, stride: int, dilation: int, pads: Pair) -> Iterator[int]:
    """The intermediate results for the first and the last window along one axis."""
    outputs = (size + sum(pads) - (kernel - 1) * dilation - 1) // stride + 1
    for y in (0, outputs - 1):
        origin = y * stride - pads[0]
        yield from (y * stride, origin, kernel * dilation - dilation)
        if origin < 0:
            yield dilation - 1 - origin
        if size > origin:
            yield from (dilation - 1 + size, dilation - 1 + size - origin)
        yield origin + (kernel - 1) * dilation


def test_whatever_is_accepted_stays_within_int32() -> None:
    rng = np.random.default_rng(4)
    ends = np.array([1, 2, 3, 5, 1000, MOST - 1, MOST, MOST + 1, 2**16, 2**30, 2**31 - 2**17])
    accepted = 0
    for _ in range(20_000):
        size, kernel, stride, dilation = (int(n) for n in rng.choice(ends, 4))
        before, after = (int(n) - 1 for n in rng.choice(ends, 2))
        choices: tuple[Padding, ...] = ("SAME", "VALID", (before, 0, after, 0))
        padding = choices[int(rng.integers(3))]
        window = ((size, 1), (kernel, 1), (stride, 1), (dilation, 1))
        try:
            output_size(padding, *window)
        except ValueError:
            continue
        top, _, bottom, _ = resolve(padding, *window)
        found = list(_intermediates(size, kernel, stride, dilation, (top, bottom)))
        assert -(2**31) <= min(found) <= max(found) < 2**31, (padding, window)
        accepted += 1
    assert accepted > 1000
