"""Operators of one or two values at a time, and softmax."""

from __future__ import annotations

from microgen.compiler.partition.in_relay.said import NoFormError, Said, activated, call
from microgen.graph.ir.graph import DType
from microgen.relay.expr import Expr

_UNARY = ("abs", "exp", "log", "negative", "rsqrt", "sigmoid", "sqrt", "tanh")


def _plain(said: Said) -> Expr:
    """An operator without attributes, whose name is the op's."""
    return call(said.op, *said.operands)


def _arithmetic(said: Said) -> Expr:
    return activated(_plain(said), said.attrs.activation)


def _divide(said: Said) -> Expr:
    if said.output.dtype is not DType.FLOAT32:
        raise NoFormError("a division of integers by zero stops the network, but Relay's does not")
    return _arithmetic(said)


def _clip(said: Said) -> Expr:
    return activated(said.operands[0], said.attrs.activation)


def _leaky_relu(said: Said) -> Expr:
    return call("nn.leaky_relu", said.operands[0], alpha=said.attrs.alpha)


def _softmax(said: Said) -> Expr:
    beta = getattr(said.attrs, "beta", 1.0)
    if beta != 1.0:
        raise NoFormError(f"its beta is {beta:g}; Relay's softmax has no beta and computes with 1")
    return call(said.op, said.operands[0], axis=len(said.output.shape) - 1)


FORMS = {
    **dict.fromkeys(_UNARY, _plain),
    **dict.fromkeys(("maximum", "minimum"), _plain),
    **dict.fromkeys(("add", "subtract", "multiply"), _arithmetic),
    **dict.fromkeys(("nn.softmax", "nn.log_softmax"), _softmax),
    "divide": _divide,
    "clip": _clip,
    "nn.leaky_relu": _leaky_relu,
}
