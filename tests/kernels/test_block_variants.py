"""The portable and DSP variants of convolutions and dense: which cases they take and refuse."""

from pathlib import Path

import numpy as np
import pytest

from microgen import kernels
from microgen.base.errors import ProjectError
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import Array, ArrayType, Quant
from microgen.graph.ops.base import Padding
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs
from microgen.graph.ops.dense.dense import DenseAttrs
from microgen.graph.ops.depthwise.depthwise_conv2d import DepthwiseConv2DAttrs
from microgen.kernels.requantization import transforms
from tests.kernels.conformance import conformance as c

SAME: Padding = "SAME"


def _conv(
    seed: int,
    data: tuple[int, int, int, int],
    filters: tuple[int, int, int, int],
    *,
    padding: Padding = SAME,
    stride: int = 1,
    dilation: int = 1,
    times_scale: float = 1,
    activation: Activation = Activation.NONE,
) -> c.Case:
    rng = np.random.default_rng(seed)
    x = c.int8(rng, data, c.random_quant(rng))
    w = c.weight(rng, filters, 0)
    scale = times_scale * c.output_scale(x, w, int(np.prod(filters[1:])))
    offsets = c.bias(rng.integers(-9000, 9000, filters[0]))
    attrs = Conv2DAttrs((stride,) * 2, (1, dilation), padding, activation, Rounding.DOUBLE)
    out = c.quant(scale, int(rng.integers(-128, 128)))
    return c.Case(f"conv {seed}", "nn.conv2d", attrs, (x, w, offsets), out)


def _depthwise(seed: int, channels: int, multiplier: int = 1) -> c.Case:
    rng = np.random.default_rng(seed)
    x = c.int8(rng, (2, 6, 5, channels), c.random_quant(rng))
    w = c.weight(rng, (1, 3, 2, channels * multiplier), 3)
    offsets = c.bias(rng.integers(-9000, 9000, channels * multiplier))
    stride = int(rng.integers(1, 3))
    attrs = DepthwiseConv2DAttrs(
        (stride, stride), (1, 2), SAME, multiplier, Activation.NONE, Rounding.DOUBLE
    )
    out = c.quant(c.output_scale(x, w, 6), int(rng.integers(-128, 128)))
    return c.Case(f"depthwise {seed}", "nn.depthwise_conv2d", attrs, (x, w, offsets), out)


def _dense(seed: int, features: int, outputs: int, rounding: Rounding) -> c.Case:
    rng = np.random.default_rng(seed)
    x = c.int8(rng, (2, features), c.random_quant(rng))
    w = c.weight(rng, (outputs, features), None)
    offsets = c.bias(rng.integers(-9000, 9000, outputs))
    attrs = DenseAttrs(Activation.NONE, rounding, keep_num_dims=False)
    out = c.quant(c.output_scale(x, w, features), int(rng.integers(-128, 128)))
    return c.Case(f"dense {seed}", "nn.dense", attrs, (x, w, offsets), out)


def _without_weights(bias: int, scale: float = 1e-9) -> c.Case:
    """A case whose channel 1 has no weights, a tiny scale and a huge bias, as converters make
    it."""
    rng = np.random.default_rng(5)
    x = c.int8(rng, (1, 3, 3, 8), c.quant(0.02, -128))
    array = rng.integers(-128, 128, (5, 1, 1, 8)).astype(np.int8)
    array[1] = 0
    scales = tuple(float(np.float32(s)) for s in (0.01, scale, 0.01, 0.02, 0.01))
    w = c.Tensor(ArrayType(array.shape, x.type.dtype, Quant(scales, (0,) * 5, 0)), array, True)
    offsets = c.bias(np.array([100, bias, -9, 8, 7]))
    attrs = Conv2DAttrs((1, 1), (1, 1), SAME, Activation.NONE, Rounding.DOUBLE)
    return c.Case(f"bias {bias}", "nn.conv2d", attrs, (x, w, offsets), c.quant(0.1, 3))


CONVOLUTIONS = (
    *(_conv(n, (2, 3, 4, n), (13 - n, 1, 1, n)) for n in range(1, 13)),
    *(_conv(20 + n, (1, 5, 4, n), (n + 2, 3, 2, n), stride=1 + n % 2) for n in range(1, 10)),
    *(_conv(40 + n, (1, 3, 3, 4), (4, 1, 1, 4), times_scale=10.0**n) for n in range(9)),
    _conv(60, (1, 9, 9, 3), (8, 3, 3, 3), padding=(4, 5, 1, 2), activation=Activation.RELU6),
    _without_weights(2**30),
    _without_weights(-(2**30) - 128),
)
OTHERS = (
    *(_depthwise(n, n) for n in range(1, 13)),
    *(_dense(n, n, 1 + n % 9, list(Rounding)[n % 2]) for n in range(1, 20)),
)


def _symbols(case: c.Case) -> set[str]:
    return {call.kernel.symbol for call in c.calls_of(case)}


def _refusal(symbol: str, case: c.Case) -> str | None:
    (kernel,) = [k for k in kernels.registry()[case.op] if k.symbol == symbol]
    return kernel.refusal(case.node, case.graph)


@pytest.mark.parametrize("cases", [CONVOLUTIONS, OTHERS], ids=["convolutions", "others"])
def test_variants_equal_the_reference(cases: tuple[c.Case, ...], tmp_path: Path) -> None:
    for case in cases:
        loops = {name.replace("_twice", "").rsplit("_", 1)[1] for name in _symbols(case)}
        assert loops >= {"dsp", "portable", "s8"}
    c.check(cases, tmp_path)


def test_inlined_variants_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*CONVOLUTIONS[::3], *OTHERS[::3]], tmp_path)


@pytest.mark.parametrize(
    ("symbol", "case", "why"),
    [
        ("conv2d_1x1_s8_dsp", _conv(1, (1, 3, 3, 4), (4, 3, 3, 4)), "must be 1x1"),
        ("conv2d_1x1_s8_dsp", _conv(1, (1, 3, 3, 4), (4, 1, 1, 4), stride=2), "must be 1"),
        ("conv2d_s8_dsp", _conv(1, (1, 3, 3, 4), (4, 3, 3, 2)), "2 groups"),
        ("conv2d_s8_dsp", _conv(1, (1, 5, 5, 4), (4, 3, 3, 4), dilation=2), "dilated by 2"),
        ("conv2d_s8_dsp", _conv(1, (1, 3, 3, 4), (4, 1, 1, 4), times_scale=1e-5), "less than 0.5"),
        ("conv2d_s8_dsp", _without_weights(2**31 - 1, 1e-7), "may reach 2147483647"),
        ("depthwise_conv2d_s8_dsp", _depthwise(1, 4, multiplier=2), "depth multiplier is 2"),
    ],
)
def test_what_variants_refuse(symbol: str, case: c.Case, why: str) -> None:
    for variant in (symbol, symbol.replace("dsp", "portable")):
        assert why in str(_refusal(f"mg_{variant}", case))


def test_rounding_shifts_are_those_of_scales_below_a_half() -> None:
    scales: Array = np.array([0.25, 0.1, 1e-20], np.float32)
    arguments: dict[str, float | int | str] = {
        "input_scale": 1.0,
        "output_scale": 1.0,
        "rule": "conv",
        "channels": 3,
    }
    shifts = transforms.apply("requantize_rounding_shift", [scales], arguments)
    assert shifts.tolist() == [0, 2, 0]
    with pytest.raises(ProjectError, match="1/2 or more"):
        transforms.apply("requantize_rounding_shift", [scales * 2], arguments)


def test_clamp_keeps_the_dtype() -> None:
    clamped = transforms.apply("clamp", [np.array([-9, 2, 9], np.int32)], {"low": -5, "high": 5})
    assert clamped.dtype == np.int32
    assert clamped.tolist() == [-5, 2, 5]
