"""Operators of two tensors that are broadcast to each other."""

from __future__ import annotations

import numpy as np

from tests.differential import stock
from tests.differential.makers import ALL, Maker
from tests.differential.network import QUANTIZED, Network, Shape

# Operator -> its options table, and whether that has a fused activation.
_OPTIONS = {
    "ADD": ("AddOptions", True),
    "DIV": ("DivOptions", True),
    "MAXIMUM": ("MaximumMinimumOptions", False),
    "MINIMUM": ("MaximumMinimumOptions", False),
    "MUL": ("MulOptions", True),
    "SQUARED_DIFFERENCE": ("SquaredDifferenceOptions", False),
    "SUB": ("SubOptions", True),
}


def other_operand(net: Network, lhs: str, *, same: bool = False) -> str:
    """Another tensor that can be broadcast to ``lhs``: computed, fed or constant.

    With ``same`` it has the same quantization.
    """
    dtype, shape = net.dtype(lhs), net.shape(lhs)
    if net.chance(0.4):
        equal = (lambda name: net.quantization(name) == net.quantization(lhs)) if same else _any
        quantization = net.quantization(lhs) if same else None
        return net.pick(dtype, None, equal, shape=shape, quantization=quantization)
    kept = tuple(n if net.chance(0.7) else 1 for n in shape)
    kept = kept[int(net.rng.integers(len(kept) + 1)) :] if net.chance(0.2) else kept
    if same or dtype not in QUANTIZED:
        return net.constant_like(lhs, kept)
    return net.constant(stock.sample(net.rng, dtype, kept), stock.quantization(net.rng, dtype))


def _any(_name: str) -> bool:
    return True


def _binary(net: Network, code: str, dtype: str) -> None:
    lhs = net.pick(dtype)
    same = code in ("MAXIMUM", "MINIMUM")
    rhs = other_operand(net, lhs, same=same)
    table, is_fused = _OPTIONS[code]
    options = {"fusedActivationFunction": net.fused(dtype)} if is_fused else {}
    if dtype == "int16" and code in ("ADD", "SUB"):
        options["potScaleInt16"] = int(net.chance(0.7))
    operands = [lhs, rhs] if net.chance(0.5) else [rhs, lhs]
    shape = _broadcast(net, lhs, rhs)
    net.add(code, operands, net.output(dtype, shape, like=lhs if same else ""), table, options)


def _add_n(net: Network, code: str, dtype: str) -> None:
    first = net.pick(dtype)
    others = [net.pick(dtype, shape=net.shape(first)) for _ in range(int(net.rng.integers(1, 4)))]
    operands = [first, *others, *([net.constant_like(first, net.shape(first))] * net.chance(0.3))]
    net.add(code, operands, net.output(dtype, net.shape(first)), "AddNOptions")


def _square(net: Network, code: str, dtype: str) -> None:
    data = net.pick(dtype)
    net.add(code, [data], net.output(dtype, net.shape(data)), "SquareOptions")


def _broadcast(net: Network, lhs: str, rhs: str) -> Shape:
    return np.broadcast_shapes(net.shape(lhs), net.shape(rhs))


def _divide(net: Network, code: str, dtype: str) -> None:
    """A DIV whose divisors are constants without a 0, or tensors that happen to have none."""
    lhs = net.pick(dtype)
    rhs = net.pick(dtype, None, lambda name: _is_divisor(net, name), shape=net.shape(lhs), low=1)
    if net.chance(0.5):
        rhs = _divisor(net, lhs)
    options = {"fusedActivationFunction": net.fused(dtype)}
    net.add(code, [lhs, rhs], net.output(dtype, net.shape(lhs)), "DivOptions", options)


def _floor_division(net: Network, code: str, dtype: str) -> None:
    """Both operands are exact, because the results have steps."""
    lhs = net.pick(dtype, fits=lambda name: name not in net.shaken)
    table = "FloorDivOptions" if code == "FLOOR_DIV" else "FloorModOptions"
    net.add(code, [lhs, _divisor(net, lhs)], net.output(dtype, net.shape(lhs)), table)


def _is_divisor(net: Network, name: str) -> bool:
    least = 0.1 if net.dtype(name) == "float32" else 1
    zero = net.zero(name)
    return all(bool((np.abs(v.astype(np.float64) - zero) >= least).all()) for v in net.values[name])


def _divisor(net: Network, lhs: str) -> str:
    dtype = net.dtype(lhs)
    kept = tuple(n if net.chance(0.7) else 1 for n in net.shape(lhs))
    quantization = stock.quantization(net.rng, dtype) if dtype in QUANTIZED else None
    zero = quantization[1] if quantization else 0
    values = stock.sample(net.rng, dtype, kept)
    near = np.abs(values.astype(np.float64) - zero) < (0.1 if dtype == "float32" else 1)
    return net.constant(np.where(near, 1 if zero != 1 else 2, values).astype(dtype), quantization)


MAKERS = (
    Maker(("ADD", "SUB", "MUL"), (*ALL, "int32", "int64"), _binary, often=2),
    Maker(("MAXIMUM", "MINIMUM"), (*ALL, "int32"), _binary),
    Maker(("SQUARED_DIFFERENCE",), ("int8", "float32", "int32"), _binary),
    Maker(("ADD_N",), ("float32", "int32"), _add_n),
    Maker(("SQUARE",), ("float32",), _square),
    Maker(("FLOOR_DIV", "FLOOR_MOD"), ("float32", "int32"), _floor_division),
    Maker(("DIV",), ("int8", "uint8", "int16", "float32", "int32"), _divide),
)
