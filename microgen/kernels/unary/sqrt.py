"""Kernels for sqrt."""

from __future__ import annotations

import math

import numpy as np

from microgen.graph.ir.graph import DType, Graph, Node
from microgen.kernels import base
from microgen.kernels.unary import unary

OP_NAME = "sqrt"


def _params(node: Node, graph: Graph) -> base.Fields:
    (data,), output = base.types(node, graph)
    return (
        *unary.size(node, graph),
        *_significand("input", data.scale),
        *_significand("output", output.scale),
    )


def _significand(name: str, scale: float) -> base.Fields:
    """A float32 number as 24 bits and a power of two."""
    fraction, exponent = math.frexp(float(np.float32(scale)))
    significand = int(fraction * 2**24)
    return ((f"{name}_significand", significand), (f"{name}_exponent", exponent - 24))


IMPLEMENTATIONS = (
    unary.kernel("sqrt", DType.INT16, _params),
    unary.kernel("sqrt", DType.FLOAT32),
)
