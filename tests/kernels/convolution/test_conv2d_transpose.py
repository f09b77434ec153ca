import dataclasses
from pathlib import Path

import numpy as np

from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import DType
from microgen.graph.ops.base import Padding, Pair
from microgen.graph.ops.convolution.conv2d_transpose import Conv2DTransposeAttrs
from tests.kernels.conformance import conformance as c


def _case(
    seed: int,
    name: str,
    data: tuple[int, int, int, int] = (1, 4, 3, 4),
    filters: tuple[int, int, int, int] = (3, 3, 3, 4),
    strides: Pair = (2, 2),
    padding: Padding = "VALID",
    size: Pair = (9, 7),
    activation: Activation = Activation.NONE,
    per_channel: bool = True,
    biased: bool = True,
) -> c.Case:
    rng = np.random.default_rng(seed)
    x = c.int8(rng, data, c.random_quant(rng))
    w = c.weight(rng, filters, 0 if per_channel else None)
    products = int(np.prod(filters[1:]))
    inputs = (x, w, c.bias(rng.integers(-9000, 9000, filters[0]))) if biased else (x, w)
    out = c.quant(c.output_scale(x, w, products), int(rng.integers(-128, 128)))
    attrs = Conv2DTransposeAttrs(strides, padding, size, activation, Rounding.DOUBLE)
    return c.Case(name, "nn.conv2d_transpose", attrs, inputs, out)


def _int16(
    case: c.Case,
    rounding: Rounding,
    *,
    largest_bias: float = 2.0**24,
    times_scale: float = 1.0,
) -> c.Case:
    """The geometry of an int8 case with int16 data.

    Biases have the dtype that the rounding requires. The output's scale spreads random sums over
    most of int16.
    """
    assert isinstance(case.attrs, Conv2DTransposeAttrs)
    _, w, *biases = case.inputs
    assert w.type.quant is not None
    rng = np.random.default_rng(len(case.name))
    x = c.int16(rng, case.input_types[0].shape, 10 ** rng.uniform(-5, -2))
    dtype = DType.INT32 if rounding is Rounding.DOUBLE else DType.INT64
    offsets = np.rint(rng.uniform(-largest_bias, largest_bias, w.type.shape[0]))
    inputs = (x, w, c.bias(offsets, dtype)) if biases else (x, w)
    products = float(np.prod(w.type.shape[1:]))
    usual = x.type.scale * max(w.type.quant.scale) * 40 * products**0.5
    attrs = dataclasses.replace(case.attrs, rounding=rounding)
    name = f"int16 {rounding.value}, {case.name}"
    return c.Case(name, case.op, attrs, inputs, c.quant(usual * times_scale), DType.INT16)


def float_case(case: c.Case) -> c.Case:
    """The geometry of an int8 case in float32."""
    rng = np.random.default_rng(len(case.name))
    data, filters, *biases = case.input_types
    weights = c.float_weights(rng, filters.shape, 0, biased=bool(biases))
    inputs = (c.float32(rng, data.shape), *weights)
    return c.Case(f"float32 {case.name}", case.op, case.attrs, inputs, None, DType.FLOAT32)


def _sums(case: c.Case) -> c.Case:
    """An int8 case whose outputs are the sums."""
    attrs = dataclasses.replace(case.attrs, activation=Activation.NONE)  # type: ignore[call-arg]
    return c.Case(f"sums, {case.name}", case.op, attrs, case.inputs, None, DType.INT32)


def _of_other_dtypes(case: c.Case) -> tuple[c.Case, ...]:
    return _int16(case, Rounding.DOUBLE), _int16(case, Rounding.REDUCED), float_case(case)


def _size_and_padding(
    rng: np.random.Generator, full: list[int], strides: Pair
) -> tuple[Pair, Padding]:
    """Part of the full result, and as many cells beyond it as the stride allows."""
    before = [int(rng.integers(n)) for n in full]
    after = [int(rng.integers(n - b)) for n, b in zip(full, before, strict=True)]
    beyond = [int(rng.integers(s)) for s in strides]
    height, width = (n - b - a + e for n, b, a, e in zip(full, before, after, beyond, strict=True))
    return (height, width), (before[0], before[1], after[0], after[1])


def random_case(seed: int) -> c.Case:
    rng = np.random.default_rng(2000 + seed)
    height, width, *kernel, depth, filters = (int(n) for n in rng.integers(1, 6, 6))
    strides = (int(rng.integers(1, 4)), int(rng.integers(1, 4)))
    full = [(n - 1) * s + k for n, s, k in zip((height, width), strides, kernel, strict=True)]
    size, padding = _size_and_padding(rng, full, strides)
    return _case(
        seed,
        f"random {seed}",
        data=(int(rng.integers(1, 3)), height, width, depth),
        filters=(filters, kernel[0], kernel[1], depth),
        strides=strides,
        padding=padding,
        size=size,
        activation=list(Activation)[int(rng.integers(4))],
        per_channel=bool(rng.integers(2)),
        biased=bool(rng.integers(2)),
    )


def _near_int32_limits(sign: int) -> c.Case:
    rng = np.random.default_rng(3)
    x = c.int8(rng, (1, 3, 3, 8), c.quant(0.1, 127))
    w = c.weight(rng, (2, 3, 3, 8), 0)
    limit = sign * (2**31 - 1 - 72 * 255 * 128)
    inputs = (x, w, c.bias(np.array([limit, limit])))
    attrs = Conv2DTransposeAttrs((1, 1), "SAME", (3, 3), Activation.NONE, Rounding.DOUBLE)
    name = f"sums near {sign} * 2**31"
    return c.Case(name, "nn.conv2d_transpose", attrs, inputs, c.quant(20000, 3))


def _with_scale(times_least: float) -> c.Case:
    rng = np.random.default_rng(4)
    x, w = c.int8(rng, (1, 4, 4, 3), c.quant(0.05, -128)), c.weight(rng, (5, 2, 2, 3), 0)
    attrs = Conv2DTransposeAttrs((1, 1), "VALID", (5, 5), Activation.NONE, Rounding.DOUBLE)
    out = c.quant(times_least * c.least_output_scale(x, w, 12), 5)
    name = f"{times_least:g} times the least output scale"
    return c.Case(name, "nn.conv2d_transpose", attrs, (x, w), out)


CORNERS = (
    _case(1, "one pixel", data=(1, 1, 1, 4), size=(3, 3)),
    _case(2, "one of everything", data=(1, 1, 1, 1), filters=(1, 1, 1, 1), size=(1, 1)),
    _case(3, "one channel", data=(2, 4, 3, 1), filters=(1, 3, 3, 1)),
    _case(4, "stride over kernel: outputs without products", strides=(5, 4), size=(18, 11)),
    _case(5, "output beyond the full result", strides=(9, 8), size=(38, 26)),
    _case(6, "one row of the middle", padding=(4, 0, 4, 0), size=(1, 8)),
    _case(7, "same", padding="SAME", size=(7, 6)),
    _case(8, "no bias, per tensor", biased=False, per_channel=False),
    _case(9, "the largest stride", (1, 1, 1, 4), strides=(2**15 - 1, 2**15 - 1), size=(3, 4)),
    _case(10, "relu6", activation=Activation.RELU6),
    _near_int32_limits(1),
    _near_int32_limits(-1),
    *map(_with_scale, (1, 10, 1e3, 1e6, 1e9, 1e15)),
)


def test_usual_nodes_are_computed_by_every_variant() -> None:
    called = {call.kernel.symbol for call in c.calls_of(CORNERS[2])}
    name = "mg_conv2d_transpose_s8"
    assert called == {name, f"{name}_portable", f"{name}_dsp"}


OTHERS = (
    *(case for corner in CORNERS[:10] for case in _of_other_dtypes(corner)),
    _int16(CORNERS[2], Rounding.REDUCED, largest_bias=2.0**46, times_scale=2.0**20),
    _int16(CORNERS[2], Rounding.DOUBLE, largest_bias=2.0**31 - 1),
    *(_int16(CORNERS[2], Rounding.REDUCED, times_scale=2.0**k) for k in range(-16, 40, 5)),
)


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*CORNERS, *map(random_case, range(150))], tmp_path)


def test_sums_equal_the_reference(tmp_path: Path) -> None:
    cases = [_sums(case) for case in (*CORNERS[:12], *map(random_case, range(20)))]
    called = {call.kernel.symbol for case in cases for call in c.calls_of(case)}
    assert called == {"mg_conv2d_transpose_s8_s32"}
    c.check(cases, tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*CORNERS, *map(random_case, range(6))], tmp_path)


def test_int16_and_float_kernels_equal_the_reference(tmp_path: Path) -> None:
    random = [case for seed in range(80) for case in _of_other_dtypes(random_case(seed))]
    c.check([*OTHERS, *random], tmp_path)


def test_inlined_int16_and_float_bodies_equal_the_reference(tmp_path: Path) -> None:
    random = [case for seed in range(4) for case in _of_other_dtypes(random_case(seed))]
    c.check_inlined([*OTHERS, *random], tmp_path)
