"""Clamps between a layer and QuantizeLinear: they limit the stored integers instead.

Quantization is monotonic, so both ways give the same integers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from microgen.graph.arithmetic import in_float32
from microgen.graph.arithmetic.int8 import activation_range, float_range
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import Graph, Node, TensorType
from microgen.graph.ops.unary.activations import ClipAttrs
from microgen.graph.ops.unary.real_function import RealFunctionAttrs


@dataclass(frozen=True, slots=True)
class Clamp:
    """Numbers below ``low`` become ``low``, then those above ``high`` become ``high``."""

    low: float = -math.inf
    high: float = math.inf

    def after(self, first: Clamp) -> Clamp:
        """The clamp that applies ``first`` and then itself."""
        return Clamp(self(first.low), self(first.high))

    def __call__(self, value: float) -> float:
        """The clamped value."""
        return min(max(value, self.low), self.high)

    def stored(self, kind: TensorType) -> tuple[int, int]:
        """The least and the greatest integer of that type that the clamp leaves."""
        limits = np.iinfo(kind.dtype.numpy)
        ends = np.array([self.low, self.high], np.float32)
        low, high = np.clip(in_float32.stored(ends, kind), limits.min, limits.max)
        return int(low), int(high)


def of(graph: Graph, node: Node) -> Clamp | None:
    """The clamp that a node is; None if it is none."""
    if isinstance(node.attrs, ClipAttrs):
        return Clamp(*float_range(node.attrs.activation))
    if isinstance(node.attrs, RealFunctionAttrs):
        bounds = node.attrs.numbers[:2]
        return Clamp(*map(float, bounds)) if node.attrs.function == "bounded" else None
    if node.op not in ("maximum", "minimum"):
        return None
    numbers = [n for n in node.inputs if n in graph.constants and graph.types[n].size == 1]
    shape = graph.types[node.outputs[0]].shape
    if len(numbers) != 1 or graph.types[data(graph, node)].shape != shape:
        return None
    bound = float(graph.constants[numbers[0]].reshape(-1)[0])
    if math.isnan(bound):
        return None
    return Clamp(low=bound) if node.op == "maximum" else Clamp(high=bound)


def data(graph: Graph, node: Node) -> str:
    """The operand of a clamp that is clamped."""
    return next(name for name in node.inputs if name not in graph.constants)


def activation(bounds: tuple[int, int], kind: TensorType) -> Activation | None:
    """The activation that limits integers of that type to these bounds, if there is one."""
    assert kind.quant is not None
    return next(
        (each for each in Activation if activation_range(each, kind.quant, kind.dtype) == bounds),
        None,
    )
