"""Activations and other functions of one tensor."""

from __future__ import annotations

import numpy as np

from tests.differential import stock
from tests.differential.makers import ALL, SIGNED, Maker
from tests.differential.network import QUANTIZED, Network, UnfitError

# The only scale and zero point that an output may have, by operator and dtype.
_FIXED = {
    ("LOGISTIC", "int8"): (1 / 256, -128),
    ("LOGISTIC", "int16"): (1 / 32768, 0),
    ("TANH", "int8"): (1 / 128, 0),
    ("TANH", "int16"): (1 / 32768, 0),
    ("LOG_SOFTMAX", "int8"): (16 / 256, 127),
    ("SOFTMAX", "int8"): (1 / 256, -128),
    ("SOFTMAX", "int16"): (1 / 32768, 0),
    ("SOFTMAX", "wider"): (1 / 65536, -32768),
    ("L2_NORMALIZATION", "int8"): (1 / 128, 0),
}
_KEEPING = ("NEG",)  # stored values are negated, so the quantization is kept
_TABLES = {
    "LEAKY_RELU": "LeakyReluOptions",
    "SOFTMAX": "SoftmaxOptions",
    "L2_NORMALIZATION": "L2NormOptions",
}


def _unary(net: Network, code: str, dtype: str) -> None:
    data = net.pick(dtype, fits=lambda name: dtype != "float32" or net.greatest(name) < 20)
    _add(net, code, data)


def _rounded(net: Network, code: str, dtype: str) -> None:
    """Functions with steps, so their data must be exact."""
    _add(net, code, net.pick(dtype, fits=lambda name: name not in net.shaken))


def _rows(net: Network, code: str, dtype: str) -> None:
    """Functions of rows along the last axis."""
    data = net.pick(dtype, fits=lambda name: len(net.shape(name)) > 0)
    if not net.shape(data):
        raise UnfitError("a scalar")
    _add(net, code, data)


def _positive(net: Network, code: str, dtype: str) -> None:
    """Functions that are not defined for negative values; some are not defined for 0, either."""
    low, quantization = 1, None
    if dtype in ("int8", "int16"):
        quantization = stock.quantization(net.rng, dtype)
        quantization = (quantization[0], -128 if dtype == "int8" else 0)
        low = quantization[1] + 1
    least = 0.1 if dtype == "float32" else 1
    data = net.pick(
        dtype,
        fits=lambda name: net.least(name) - net.zero(name) >= least,
        low=low,
        quantization=quantization,
    )
    if net.least(data) - net.zero(data) < least:
        raise UnfitError("values that are not positive")
    _add(net, code, data)


def _add(net: Network, code: str, data: str) -> None:
    dtype, table = net.dtype(data), _TABLES.get(code, "")
    options: dict[str, int | float | bool] = {}
    if code == "LEAKY_RELU":
        options["alpha"] = float(np.float32(net.rng.uniform(-0.5, 1.2)))
    if code == "SOFTMAX":
        options["beta"] = float(net.one_of([1.0, 0.5, 2.0]))
    like = data if code in _KEEPING or (code.startswith("RELU") and net.chance(0.5)) else ""
    is_wider = (code, dtype) == ("SOFTMAX", "int8") and net.chance(0.3)
    fixed = _fixed(code, "wider" if is_wider else dtype)
    output = net.output("int16" if is_wider else dtype, net.shape(data), like, fixed)
    net.add(code, [data], output, table, options)


def _fixed(code: str, dtype: str) -> stock.Quantization | None:
    if dtype != "uint8":
        return _FIXED.get((code, dtype))
    signed = _FIXED.get((code, "int8"))
    return signed and (signed[0], signed[1] + 128)


def _prelu(net: Network, code: str, dtype: str) -> None:
    data = net.pick(dtype, fits=lambda name: len(net.shape(name)) > 1)
    shape = net.shape(data)
    if len(shape) < 2:
        raise UnfitError("no channels")
    kept = (*(n if net.chance(0.3) else 1 for n in shape[1:-1]), shape[-1])
    alphas = "int8" if dtype == "int16" else dtype  # LiteRT reads int16 ones as int8
    values = stock.sample(net.rng, alphas, kept)
    quantization = (float(np.float32(2.0 ** net.rng.uniform(-9, -5))), int(net.rng.integers(-9, 9)))
    if alphas == "uint8":
        quantization = (quantization[0], quantization[1] + 128)
    scaled = quantization if alphas in QUANTIZED else None
    alpha = net.constant(values, (scaled[0], 0) if scaled and dtype == "int16" else scaled)
    net.add(code, [data, alpha], net.output(dtype, shape))


MAKERS = (
    Maker(("RELU", "RELU6"), ALL, _unary),
    Maker(("RELU_N1_TO_1",), ("int8", "uint8", "float32"), _unary),
    Maker(("LEAKY_RELU", "LOGISTIC", "TANH"), ALL, _unary),
    Maker(("ABS", "EXP", "NEG"), SIGNED, _unary),
    Maker(("HARD_SWISH",), ("int8", "uint8", "float32"), _unary),
    Maker(("ELU",), ("int8", "float32"), _unary),
    Maker(("SOFTMAX",), ALL, _rows),
    Maker(("LOG_SOFTMAX",), ("int8", "uint8", "float32"), _rows),
    Maker(("L2_NORMALIZATION",), ("int8", "float32"), _rows),
    Maker(("LOG", "RSQRT", "SQRT"), SIGNED, _positive),
    Maker(("PRELU",), ALL, _prelu),
    Maker(("CEIL", "FLOOR", "ROUND"), ("float32",), _rounded),
    Maker(("COS", "SIN"), ("float32",), _unary),
)
