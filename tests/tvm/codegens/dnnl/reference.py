"""The runtime's computation in numpy, which specifies the C runtime.

Everything is float32. A composite function computes its operators one after another, and each
rounds to float32. A bias is part of the sum of products.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import Array, ArrayType, Attrs, DType
from microgen.graph.ops import floats, registry
from microgen.graph.ops.base import Operands, Pads
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs
from microgen.graph.ops.dense.batch_matmul import BatchMatmulAttrs
from microgen.graph.ops.dense.dense import DenseAttrs
from microgen.graph.ops.pooling.pooling import AvgPool2DAttrs, MaxPool2DAttrs
from microgen.graph.ops.reductions.reduction import MeanAttrs
from microgen.graph.ops.reductions.softmax import SoftmaxAttrs
from microgen.graph.ops.unary.activations import LeakyReluAttrs
from microgen.graph.ops.unary.functions import ExpAttrs, LogAttrs
from microgen.graph.ops.unary.roots import RsqrtAttrs, SqrtAttrs
from microgen.graph.ops.unary.sigmoid import SigmoidAttrs, TanhAttrs
from microgen.tvm.codegens.dnnl import composites
from microgen.tvm.codegens.json_graph import JSONGraph, JSONNode

Compute = Callable[..., Sequence[Array]]  # of a node, and its operands


def evaluate(
    graph: JSONGraph, inputs: Sequence[Array], constants: Sequence[Array]
) -> tuple[Array, ...]:
    """The value of each head. ``inputs`` and ``constants`` are in the order of their nodes.

    Raises ValueError for an operator that the runtime does not support.
    """
    leaves = {"input": iter(inputs), "const": iter(constants)}
    values: list[Sequence[Array]] = []
    for node in graph.nodes:
        if node.op == "kernel":
            operands = [values[i][output] for i, output, _ in node.inputs]
            values.append(_kernel(node)(node, *operands))
        else:
            values.append((next(leaves[node.op]),))
    return tuple(values[i][output] for i, output, _ in graph.heads)


def _kernel(node: JSONNode) -> Compute:
    if node.name in _KERNELS:
        return _KERNELS[node.name]
    if composites.parse(node.name) is None:
        raise ValueError(f"the runtime has no operator {node.name}")
    return _composite


def _op(name: str, attrs: Attrs, shape: Sequence[int], *values: Array) -> Array:
    """One of microgen's operators on float32 values, with a result of this shape."""
    types = tuple(ArrayType(value.shape, DType.FLOAT32) for value in values)
    operands = Operands(values, types, (ArrayType(tuple(shape), DType.FLOAT32),))
    return registry()[name].reference(attrs, operands)[0]


def _ints(node: JSONNode, name: str) -> tuple[int, ...]:
    return tuple(map(int, node.attrs[name]))


def _pair(node: JSONNode, name: str) -> tuple[int, int]:
    first, second = _ints(node, name)
    return first, second


def _pads(node: JSONNode) -> Pads:
    top, left, bottom, right = _ints(node, "padding")
    return top, left, bottom, right


def _number(node: JSONNode, name: str) -> np.float32:
    (text,) = node.attrs[name]
    return np.float32(float(text))


def _is_set(node: JSONNode, name: str) -> bool:
    return node.attrs[name] == ("1",)


def _moved(values: Array, layout: str, wanted: str) -> Array:
    return values.transpose([layout.index(axis) for axis in wanted])


def _conv2d(node: JSONNode, data: Array, weight: Array, *bias: Array) -> Array:
    """A convolution. The weight's I channels are the channels of one group."""
    (layout,), (kernel_layout,) = node.attrs["data_layout"], node.attrs["kernel_layout"]
    strides, dilation = _pair(node, "strides"), _pair(node, "dilation")
    attrs = Conv2DAttrs(strides, dilation, _pads(node), Activation.NONE, Rounding.DOUBLE)
    operands = (_moved(data, layout, "NHWC"), _moved(weight, kernel_layout, "OHWI"))
    return _moved(_op("nn.conv2d", attrs, (), *operands, *map(np.ravel, bias)), "NHWC", layout)


def _dense(_node: JSONNode, data: Array, weight: Array, *bias: Array) -> Array:
    attrs = DenseAttrs(Activation.NONE, Rounding.DOUBLE, keep_num_dims=True)
    shape = (*data.shape[:-1], len(weight))
    return _op("nn.dense", attrs, shape, data, weight, *map(np.ravel, bias))


def _batch_matmul(node: JSONNode, lhs: Array, rhs: Array) -> Sequence[Array]:
    attrs = BatchMatmulAttrs(_is_set(node, "transpose_a"), _is_set(node, "transpose_b"))
    return (_op("nn.batch_matmul", attrs, (), lhs, rhs),)


def _max_pool2d(node: JSONNode, data: Array) -> Sequence[Array]:
    (layout,) = node.attrs["layout"]
    pool, strides = _pair(node, "pool_size"), _pair(node, "strides")
    attrs = MaxPool2DAttrs(pool, strides, _pads(node), Activation.NONE)
    found = _op("nn.max_pool2d", attrs, (), _moved(data, layout, "NHWC"))
    return (_moved(found, "NHWC", layout),)


def _avg_pool2d(node: JSONNode, data: Array) -> Sequence[Array]:
    """An average pool. If padding is included, its values are zeros."""
    (layout,) = node.attrs["layout"]
    pool, strides, pads = _pair(node, "pool_size"), _pair(node, "strides"), _pads(node)
    image = _moved(data, layout, "NHWC")
    if _is_set(node, "count_include_pad"):
        top, left, bottom, right = pads
        # As elements of the image these zeros count in the average. The op's own padding does not.
        image = np.pad(image, ((0, 0), (top, bottom), (left, right), (0, 0)))
        pads = (0, 0, 0, 0)
    attrs = AvgPool2DAttrs(pool, strides, pads, Activation.NONE)
    return (_moved(_op("nn.avg_pool2d", attrs, (), image), "NHWC", layout),)


def _global_avg_pool2d(node: JSONNode, data: Array) -> Sequence[Array]:
    (layout,) = node.attrs["layout"]
    axes = (layout.index("H"), layout.index("W"))
    return (_op("mean", MeanAttrs(axes, True), node.shapes[0], data),)


def _batch_norm(
    node: JSONNode, data: Array, gamma: Array, beta: Array, mean: Array, variance: Array
) -> Sequence[Array]:
    """The data times a factor of its channel, plus an offset; then mean and variance as given.

    factor = gamma / sqrt(variance + epsilon), offset = beta - mean * factor, in float32 steps.
    Without ``scale`` gamma is 1, without ``center`` beta is 0.
    """
    shifted = variance + _number(node, "epsilon")
    factor = _op("rsqrt", RsqrtAttrs(), shifted.shape, shifted)
    factor = factor * gamma if _is_set(node, "scale") else factor
    offset = (beta if _is_set(node, "center") else np.float32(0)) - mean * factor
    shape = [1] * data.ndim
    shape[_ints(node, "axis")[0]] = -1
    return data * factor.reshape(shape) + offset.reshape(shape), mean, variance


def _softmax(node: JSONNode, data: Array) -> Sequence[Array]:
    axis = _ints(node, "axis")[0]
    moved = np.moveaxis(data, axis, -1)
    found = _op("nn.softmax", SoftmaxAttrs(1.0), moved.shape, moved)
    return (np.moveaxis(found, -1, axis),)


def _relu(_node: JSONNode, data: Array) -> Array:
    return floats.activated(data, Activation.RELU)[0]


def _clip(node: JSONNode, data: Array) -> Array:
    """A clip in which NaN remains NaN."""
    bounded: Array = np.clip(data, _number(node, "a_min"), _number(node, "a_max"))
    return bounded


def _leaky_relu(node: JSONNode, data: Array) -> Array:
    attrs = LeakyReluAttrs(float(_number(node, "alpha")))
    return _op("nn.leaky_relu", attrs, data.shape, data)


def _function(name: str, attrs: Attrs) -> Callable[[JSONNode, Array], Array]:
    return lambda _node, data: _op(name, attrs, data.shape, data)


_tanh, _sigmoid = _function("tanh", TanhAttrs()), _function("sigmoid", SigmoidAttrs())


def _swish(node: JSONNode, data: Array) -> Array:
    return data * _sigmoid(node, data)


_ACTIVATIONS: Mapping[str, Callable[[JSONNode, Array], Array]] = {
    "relu": _relu,
    "tanh": _tanh,
    "sigmoid": _sigmoid,
    "clip": _clip,
    "swish": _swish,
}
_ELEMENTWISE: Mapping[str, Callable[..., Array]] = {
    "nn.relu": _relu,
    "nn.leaky_relu": _leaky_relu,
    "clip": _clip,
    "tanh": _tanh,
    "sigmoid": _sigmoid,
    "exp": _function("exp", ExpAttrs()),
    "log": _function("log", LogAttrs()),
    "sqrt": _function("sqrt", SqrtAttrs()),
    "abs": lambda _node, data: np.abs(data),
    "add": lambda _node, lhs, rhs: lhs + rhs,
    "multiply": lambda _node, lhs, rhs: lhs * rhs,
}
_ROOTS: Mapping[str, Callable[..., Array]] = {"nn.conv2d": _conv2d, "nn.dense": _dense}


def _only(compute: Callable[..., Array]) -> Compute:
    return lambda node, *operands: (compute(node, *operands),)


_KERNELS: Mapping[str, Compute] = {
    **{name: _only(compute) for name, compute in (*_ELEMENTWISE.items(), *_ROOTS.items())},
    "nn.batch_matmul": _batch_matmul,
    "nn.batch_norm": _batch_norm,
    "nn.max_pool2d": _max_pool2d,
    "nn.avg_pool2d": _avg_pool2d,
    "nn.global_avg_pool2d": _global_avg_pool2d,
    "nn.softmax": _softmax,
}


OPERATORS = frozenset(_KERNELS)  # without composite functions


def _composite(node: JSONNode, *operands: Array) -> Sequence[Array]:
    made = composites.parse(node.name)
    assert made is not None, "_kernel has checked it"
    # Data, weight and bias: the bias is part of the sum of products, a summand is not.
    products = 2 + made.bias
    found = _ROOTS[made.root](node, *operands[:products])
    if made.sum:
        found = found + operands[products]
    if made.activation:
        found = _ACTIVATIONS[made.activation](node, found)
    return (found,)
