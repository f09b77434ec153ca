"""Refuses nodes that CMSIS-NN does not compute bit for bit like the numpy references."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from microgen.compiler.codegens.cmsis_nn import numbers
from microgen.compiler.codegens.cmsis_nn.numbers import multipliers
from microgen.graph.arithmetic.int8 import softmax_parameters
from microgen.graph.arithmetic.terms import Rounding
from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs
from microgen.graph.ops.dense.dense import DenseAttrs
from microgen.graph.ops.depthwise.depthwise_conv2d import DepthwiseConv2DAttrs
from microgen.graph.ops.elementwise import product
from microgen.graph.ops.pooling.pooling import AvgPool2DAttrs
from microgen.graph.ops.reductions.softmax import SoftmaxAttrs
from microgen.kernels import base, weights
from microgen.kernels.requantization.sums import largest_sums

_INT32 = 2**31
_LARGEST_SIZE = 2**15 - 1  # CMSIS-NN has sizes in int16_t and uint16_t
_LARGEST_SUM = 2**16 - 1  # the most terms, which CMSIS-NN counts in uint16_t
_LARGEST_PRODUCT = 255 * 255  # of two int8 values minus their zero points
_ONCE = "its sums are rounded once, but CMSIS-NN rounds them twice (as --numerics tflm does)"


def refusal(node: Node, graph: Graph) -> str | None:
    """Why CMSIS-NN does not take the node, or None."""
    rule = _RULES.get(node.op)
    if rule is None:
        return f"cmsis-nn has no {node.op}"
    # Checked for all ops: the attribute belongs to several of them.
    if getattr(node.attrs, "in_float32", False):
        return "it is computed in float32, but CMSIS-NN computes in fixed point"
    return base.only(DType.INT8)(node, graph) or rule(node, graph)


def _convolution(node: Node, graph: Graph, axis: int) -> str | None:
    return _weighted(node, graph, axis) or _sizes(node, graph)


def _weighted(node: Node, graph: Graph, axis: int) -> str | None:
    """Refusal unless rounding and constants are right, and no sum exceeds int32 unrounded."""
    assert isinstance(node.attrs, Conv2DAttrs | DepthwiseConv2DAttrs | DenseAttrs)
    if node.attrs.rounding is Rounding.SINGLE:
        return _ONCE
    return weights.constant_weights(
        node, graph, axis=axis, roundings=(Rounding.DOUBLE,)
    ) or _shifted_sums(node, graph, axis)


def _shifted_sums(node: Node, graph: Graph, axis: int) -> str | None:
    _, shifts = multipliers(node, graph)
    sums = largest_sums(node, graph, axis).sum(axis=0)
    # CMSIS-NN shifts the sums left in int32 before it multiplies them.
    worst = int((sums << np.maximum(shifts, 0).astype(np.int64)).max())
    if worst < _INT32:
        return None
    return f"sums shifted left may reach {worst}, but CMSIS-NN's int32 holds only {_INT32 - 1}"


def _sizes(node: Node, graph: Graph) -> str | None:
    w = numbers.of(node, graph)
    padded = (w.data[1] + w.pads[0] + w.pads[2], w.data[2] + w.pads[1] + w.pads[3])
    largest = max(*padded, *w.data, *w.output, *w.strides, *w.dilation)
    if largest > _LARGEST_SIZE:
        return f"a size is {largest}, but CMSIS-NN takes up to {_LARGEST_SIZE}"
    terms = w.kernel[0] * w.kernel[1] * w.depth
    if terms > _LARGEST_SUM:
        return f"{terms} products are summed, but CMSIS-NN counts up to {_LARGEST_SUM}"
    return None


def _average(node: Node, graph: Graph) -> str | None:
    assert isinstance(node.attrs, AvgPool2DAttrs)
    if node.attrs.ties_upward:
        return "its halves are rounded upwards, but CMSIS-NN rounds them away from zero"
    return _sizes(node, graph)


def _elementwise(node: Node, graph: Graph) -> str | None:
    sizes = {graph.types[name].size for name in (*node.inputs, *node.outputs)}
    if len(sizes) == 1:
        return None
    shapes = " and ".join(str(graph.types[name]) for name in node.inputs)
    return f"{shapes} are broadcast, but CMSIS-NN needs operands of the output's size"


def _multiply(node: Node, graph: Graph) -> str | None:
    assert isinstance(node.attrs, product.MultiplyAttrs)
    lhs, rhs, output = graph.type_of((*node.inputs, *node.outputs))
    _, shift = product.multiply_parameters(node.attrs, lhs, rhs, output)
    # A positive shift is to the left, before the rounding.
    if _LARGEST_PRODUCT << max(shift, 0) >= _INT32:
        return f"products are shifted left by {shift}, which may leave CMSIS-NN's int32"
    return _elementwise(node, graph)


def _softmax(node: Node, graph: Graph) -> str | None:
    assert isinstance(node.attrs, SoftmaxAttrs)
    shift = softmax_parameters(graph.types[node.inputs[0]], node.attrs.beta).input_left_shift
    limit = "differences are shifted left by 31, but CMSIS-NN can shift them only by 30"
    return limit if shift > 30 else None


_RULES: Mapping[str, Callable[[Node, Graph], str | None]] = {
    "nn.conv2d": partial(_convolution, axis=0),
    "nn.depthwise_conv2d": partial(_convolution, axis=3),
    "nn.dense": partial(_weighted, axis=0),
    "nn.max_pool2d": _sizes,
    "nn.avg_pool2d": _average,
    "nn.softmax": _softmax,
    "add": _elementwise,
    "multiply": _multiply,
}
