"""Expresses nodes of the kernel graph in Relay: the inverse of frontends/relay.

float32 nodes have a form in Relay, and so do int32 nodes without quantization, because both compute
the same numbers. Quantized nodes have none, because TFLite does not round as Relay's qnn does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from microgen.graph.arithmetic.int8 import float_range
from microgen.graph.arithmetic.terms import RELUS, Activation
from microgen.graph.ir.graph import ArrayType, DType, Graph, Node, frozen
from microgen.graph.ops.base import Pair
from microgen.graph.ops.geometry import explicit
from microgen.graph.ops.window import spatial
from microgen.relay.builder import build
from microgen.relay.expr import Constant, Expr, Function, TensorType, Tuple, Var
from microgen.relay.infer_type import infer_type
from microgen.relay.module import IRModule


class NoFormError(Exception):
    """The reason why a node has no form in Relay, as a sentence."""


@dataclass(frozen=True, slots=True)
class Said:
    """The parts of a node from which its form in Relay is made: ``attrs`` of its op, ``types`` of
    its inputs, the type ``output`` of its output, and ``operands``, the expressions of its inputs.
    """

    op: str
    attrs: Any
    types: tuple[ArrayType, ...]
    output: ArrayType
    operands: tuple[Expr, ...]


Form = Callable[[Said], Expr]


def call(name: str, *operands: Any, **attrs: Any) -> Expr:
    """A call of an operator with one result, made by the builder."""
    made = build(name, *operands, **attrs)
    assert isinstance(made, Expr), "operators of several results are no form's"
    return made


def activated(value: Expr, activation: Activation) -> Expr:
    """A value clamped like a fused activation."""
    if not activation.clamps:
        return value
    if activation in RELUS:
        return call("nn.relu", value)
    low, high = float_range(activation)
    return call("clip", value, a_min=low, a_max=high)


def reshaped(value: Expr, shape: Sequence[int]) -> Expr:
    """A value with another shape. A constant becomes a constant of that shape."""
    if isinstance(value, Constant):
        return Constant(frozen(value.data.reshape(shape)))
    return call("reshape", value, newshape=tuple(shape))


def biased(said: Said, sums: Expr, rank: int) -> Expr:
    """Sums of products with the node's bias, if it has one, and its activation. Channels are the
    last of ``rank`` axes."""
    if len(said.operands) > 2:
        sums = call("nn.bias_add", sums, said.operands[2], axis=rank - 1)
    return activated(sums, said.attrs.activation)


# Operators of one or two values at a time, and softmax.

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


# Operators that move values: reshape, transpose, concatenate, nn.pad.


def _reshape(said: Said) -> Expr:
    return reshaped(said.operands[0], said.output.shape)


def _transpose(said: Said) -> Expr:
    return call("transpose", said.operands[0], axes=said.attrs.axes)


def _concatenate(said: Said) -> Expr:
    return call("concatenate", Tuple(said.operands), axis=said.attrs.axis)


def _pad(said: Said) -> Expr:
    value = Constant(frozen(np.array(said.attrs.value, said.output.dtype.numpy)))
    return call("nn.pad", said.operands[0], said.attrs.pads, value)


# Pools and reductions. The mean over a whole image is a pool in Relay.

_IMAGE = (1, 2)  # the axes of height and width


def _pool(said: Said) -> Expr:
    """A pool that ignores padding, as Relay's pools do by default."""
    attrs = said.attrs
    found = call(
        said.op,
        said.operands[0],
        pool_size=attrs.pool_size,
        strides=attrs.strides,
        padding=explicit(attrs.padding),
        layout="NHWC",
    )
    return activated(found, attrs.activation)


def _reduction(said: Said) -> Expr:
    if not said.attrs.axes:
        raise NoFormError("it has no axes, which means all of them in Relay")
    if getattr(said.attrs, "from_infinity", False):
        raise NoFormError("Relay's begins at a finite value")
    axes, keeps = said.attrs.axes, said.attrs.keep_dims
    return call(said.op, said.operands[0], axis=axes, keepdims=keeps)


def _mean(said: Said) -> Expr:
    is_image = len(said.types[0].shape) == 4 and said.attrs.axes == _IMAGE
    if is_image and said.attrs.keep_dims:
        return call("nn.global_avg_pool2d", said.operands[0], layout="NHWC")
    return _reduction(said)


# nn.conv2d, nn.depthwise_conv2d, nn.dense, nn.batch_matmul.

_RANK = 3  # of Relay's nn.batch_matmul


def _conv2d(said: Said) -> Expr:
    data, weight = said.types[:2]
    groups = data.shape[3] // weight.shape[3]
    return _convolution(said, said.operands[1], spatial(weight.shape), groups, "OHWI")


def _depthwise(said: Said) -> Expr:
    _, height, width, filters = said.types[1].shape
    channels = said.types[0].shape[3]
    # In Relay, O counts the data's channels and I the outputs of each channel.
    shape, layout = (height, width, channels, filters // channels), "HWOI"
    # With one channel there is one group, and O counts its outputs.
    if channels == 1:
        shape, layout = (height, width, 1, filters), "HWIO"
    weight = reshaped(said.operands[1], shape)
    return _convolution(said, weight, (height, width), channels, layout)


def _convolution(said: Said, weight: Expr, kernel: Pair, groups: int, layout: str) -> Expr:
    attrs = said.attrs
    sums = call(
        "nn.conv2d",
        said.operands[0],
        weight,
        strides=attrs.strides,
        padding=explicit(attrs.padding),
        dilation=attrs.dilation,
        groups=groups,
        channels=said.output.shape[3],
        kernel_size=kernel,
        data_layout="NHWC",
        kernel_layout=layout,
    )
    return biased(said, sums, 4)


def _dense(said: Said) -> Expr:
    data, weight = said.types[:2]
    units, features = weight.shape
    rows = (data.size // features, features)
    is_plain = said.attrs.keep_num_dims or data.shape == rows
    value = said.operands[0] if is_plain else reshaped(said.operands[0], rows)
    sums = call("nn.dense", value, said.operands[1], units=units)
    return biased(said, sums, len(said.output.shape))


def _batch_matmul(said: Said) -> Expr:
    ranks = [len(tensor.shape) for tensor in said.types]
    if ranks != [_RANK, _RANK]:
        raise NoFormError(f"its operands have {ranks[0]} and {ranks[1]} axes; in Relay both have 3")
    transposed = {name: getattr(said.attrs, name) for name in ("transpose_a", "transpose_b")}
    return call("nn.batch_matmul", *said.operands, **transposed)


FORMS: Mapping[str, Form] = {
    **dict.fromkeys(_UNARY, _plain),
    **dict.fromkeys(("maximum", "minimum"), _plain),
    **dict.fromkeys(("add", "subtract", "multiply"), _arithmetic),
    **dict.fromkeys(("nn.softmax", "nn.log_softmax"), _softmax),
    "divide": _divide,
    "clip": _clip,
    "nn.leaky_relu": _leaky_relu,
    "reshape": _reshape,
    "transpose": _transpose,
    "concatenate": _concatenate,
    "nn.pad": _pad,
    "nn.max_pool2d": _pool,
    "nn.avg_pool2d": _pool,
    "mean": _mean,
    **dict.fromkeys(("sum", "max", "min"), _reduction),
    "nn.conv2d": _conv2d,
    "nn.depthwise_conv2d": _depthwise,
    "nn.dense": _dense,
    "nn.batch_matmul": _batch_matmul,
}


_DTYPES = (DType.FLOAT32, DType.INT32)  # Relay computes the same numbers as the model's format


def supported() -> tuple[str, ...]:
    """Names of the ops that have a form, sorted."""
    return tuple(sorted(FORMS))


def tensor_type(tensor: ArrayType) -> TensorType:
    """Relay's type of a tensor."""
    return TensorType(tensor.shape, tensor.dtype.value)


def module(node: Node, graph: Graph) -> IRModule:
    """A module whose @main is the node, with its types. The parameters are the inputs that are not
    constant, each once, with the tensors' names. Raises NoFormError with the reason."""
    types = graph.type_of((*node.inputs, *node.outputs))
    for tensor in types:
        _check(tensor)
    form = FORMS.get(node.op)
    if form is None:
        raise NoFormError(f"{node.op} has no form in Relay")
    operands = {name: _operand(name, graph) for name in node.inputs}
    inputs = graph.type_of(node.inputs)
    said = Said(node.op, node.attrs, inputs, types[-1], tuple(operands[n] for n in node.inputs))
    params = [value for value in operands.values() if isinstance(value, Var)]
    return infer_type(IRModule.from_expr(Function(params, form(said))))


def _check(tensor: ArrayType) -> None:
    if tensor.quant is not None:
        raise NoFormError("it is quantized, and TFLite's rounding has no form in Relay")
    if tensor.dtype not in _DTYPES:
        raise NoFormError(f"{tensor} is neither float32 nor plain int32")
    if tensor.size == 0:
        raise NoFormError(f"{tensor} is empty")


def _operand(name: str, graph: Graph) -> Expr:
    if name in graph.constants:
        return Constant(graph.constants[name])
    return Var(name, tensor_type(graph.types[name]))
