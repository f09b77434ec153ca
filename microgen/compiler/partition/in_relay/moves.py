"""Operators that move values: reshape, transpose, concatenate, nn.pad."""

from __future__ import annotations

import numpy as np

from microgen.compiler.partition.in_relay.said import Said, call, reshaped
from microgen.graph.ir.graph import frozen
from microgen.relay.expr import Constant, Expr, Tuple


def _reshape(said: Said) -> Expr:
    return reshaped(said.operands[0], said.output.shape)


def _transpose(said: Said) -> Expr:
    return call("transpose", said.operands[0], axes=said.attrs.axes)


def _concatenate(said: Said) -> Expr:
    return call("concatenate", Tuple(said.operands), axis=said.attrs.axis)


def _pad(said: Said) -> Expr:
    value = Constant(frozen(np.array(said.attrs.value, said.output.dtype.numpy)))
    return call("nn.pad", said.operands[0], said.attrs.pads, value)


FORMS = {
    "reshape": _reshape,
    "transpose": _transpose,
    "concatenate": _concatenate,
    "nn.pad": _pad,
}
