"""Operators that change how values are stored."""

from __future__ import annotations

import numpy as np

from tests.differential import stock
from tests.differential.makers import EVERY, Maker
from tests.differential.network import QUANTIZED, Network

_BECOMES = {
    "int8": ("int8", "uint8", "int16"),
    "uint8": ("int8", "uint8", "int16"),
    "int16": ("int8", "int16", "int32"),
    "int32": ("int8", "int16"),
    "float32": ("int8", "uint8", "int16"),
}


def _scale(net: Network) -> stock.Quantization:
    return float(np.float32(2.0 ** net.rng.uniform(-16, -4))), 0


def _quantize(net: Network, code: str, dtype: str) -> None:
    data = net.pick(dtype, quantization=_scale(net) if dtype == "int32" else None)
    to = str(net.one_of(_BECOMES[dtype]))
    quantization = _scale(net) if to == "int32" else None
    net.add(code, [data], net.output(to, net.shape(data), quantization=quantization))


def _dequantize(net: Network, code: str, dtype: str) -> None:
    data = net.pick(dtype)
    net.add(code, [data], net.output("float32", net.shape(data)))


def _cast(net: Network, code: str, dtype: str) -> None:
    """A CAST. A quantized output has a scale or none: its reader decides what it means."""
    data = net.pick(dtype)
    to = str(net.one_of([other for other in EVERY if other != dtype]))
    output = net.output(to, net.shape(data))
    net.add(code, [data], output)


MAKERS = (
    Maker(("QUANTIZE",), (*QUANTIZED, "int32", "float32"), _quantize, often=2),
    Maker(("DEQUANTIZE",), QUANTIZED, _dequantize, often=2),
    Maker(("CAST",), EVERY, _cast),
)
