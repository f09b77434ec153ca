"""Operators that compare, that operate on bool, or that choose by a condition."""

from __future__ import annotations

import numpy as np

from tests.differential import stock
from tests.differential.makers import EVERY, Maker
from tests.differential.makers.elementwise import other_operand
from tests.differential.network import Network, UnfitError

_ORDERED = ("int8", "uint8", "int16", "float32", "int32", "int64")


def _options(code: str) -> str:
    return "".join(word.capitalize() for word in code.split("_")) + "Options"


def _compare(net: Network, code: str, dtype: str) -> None:
    lhs = net.pick(dtype, fits=lambda name: (*net.tensors[name].scale, 0)[0] < 1)
    if net.chance(0.5):
        rhs = _partly_equal(net, lhs)
    else:
        rhs = other_operand(net, lhs, same=dtype == "int16" or net.chance(0.3))
    operands = [lhs, rhs] if net.chance(0.5) else [rhs, lhs]
    shape = np.broadcast_shapes(net.shape(lhs), net.shape(rhs))
    net.add(code, operands, net.output("bool", shape), _options(code))


def _partly_equal(net: Network, lhs: str) -> str:
    """A constant that shares some values with a sample."""
    own = net.values[lhs][-1]
    others = stock.sample(net.rng, net.dtype(lhs), own.shape)
    chosen = np.where(net.rng.random(own.shape) < 0.5, own, others)
    return net.constant_like(lhs, own.shape, chosen)


def _not(net: Network, code: str, dtype: str) -> None:
    data = net.pick(dtype)
    net.add(code, [data], net.output(dtype, net.shape(data)), _options(code))


def _select_v2(net: Network, code: str, dtype: str) -> None:
    lhs = net.pick(dtype)
    shape = net.shape(lhs)
    rhs = other_operand(net, lhs, same=True)
    kept = tuple(n if net.chance(0.7) else 1 for n in shape)
    condition = net.pick("bool", shape=shape if net.chance(0.5) else kept)
    chosen = [lhs, rhs] if net.chance(0.5) else [rhs, lhs]
    shape = np.broadcast_shapes(net.shape(condition), shape, net.shape(rhs))
    net.add(code, [condition, *chosen], net.output(dtype, shape, like=lhs), _options(code))


def _select(net: Network, code: str, dtype: str) -> None:
    """A SELECT whose condition has the same shape, only the first dimension, or no dimension."""
    lhs = net.pick(dtype)
    shape = net.shape(lhs)
    if not shape:
        raise UnfitError("a scalar")
    rhs = net.constant_like(lhs, shape)
    condition = net.pick("bool", shape=net.one_of([shape, shape[:1], ()]))
    net.add(code, [condition, lhs, rhs], net.output(dtype, shape, like=lhs), "SelectOptions")


MAKERS = (
    Maker(("LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL"), _ORDERED, _compare),
    Maker(("EQUAL", "NOT_EQUAL"), EVERY, _compare),
    Maker(("LOGICAL_AND", "LOGICAL_OR"), ("bool",), _compare, often=2),
    Maker(("LOGICAL_NOT",), ("bool",), _not),
    Maker(("SELECT_V2",), EVERY, _select_v2),
    Maker(("SELECT",), EVERY, _select),
)
