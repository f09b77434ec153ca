"""Operators with one value per channel: nn.bias_add, nn.batch_norm, nn.prelu."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from microgen.frontends import layouts
from microgen.frontends.relay.calls import RelayCall
from microgen.frontends.relay.importers import arguments
from microgen.frontends.relay.importers.elementwise import added
from microgen.frontends.sums import PendingSums
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.builder import BuiltTensor, Value
from microgen.graph.ir.graph import Array, DType
from microgen.graph.ops.elementwise.addition import AddAttrs, SubtractAttrs
from microgen.graph.ops.elementwise.product import MultiplyAttrs, PReluAttrs
from microgen.graph.ops.unary.roots import RsqrtAttrs


def _bias_add(call: RelayCall) -> BuiltTensor:
    data, bias = call.tensor(0), call.tensor(1)
    axis = arguments.axis(call, data)
    sums = call.sums_of(data)
    if sums is not None and sums.bias is None and sums.axis == axis:
        return call.emit_sums(dataclasses.replace(sums, bias=bias))
    return added(call, data, layouts.along(call, bias, axis, len(data.shape)))


def _batch_norm(call: RelayCall) -> Value:
    """Batch normalization at inference: (data - mean) / sqrt(variance + epsilon) * gamma + beta."""
    # It is one factor and one offset per channel. A convolution of constant weights right before it
    # absorbs both.
    # Source: TVM v0.14, relay/transforms/simplify_inference.cc, BatchNormToInferUnpack;
    # fold_scale_axis.cc.
    data, gamma, beta, mean, variance = (call.tensor(i) for i in range(5))
    call.expect(data, DType.FLOAT32)
    axis = arguments.axis(call, data)
    scale = _scale(call, gamma, variance)
    shift = _shift(call, beta, mean, scale)
    folded = _folded(call, data, axis, scale, shift)
    if folded is None:
        rank = len(data.shape)
        factors = layouts.along(call, scale, axis, rank)
        product = call.emit("multiply", MultiplyAttrs(Activation.NONE), (data, factors))
        folded = _plus(call, product, layouts.along(call, shift, axis, rank))
    return folded, mean, variance


def _scale(call: RelayCall, gamma: BuiltTensor, variance: BuiltTensor) -> BuiltTensor:
    epsilon = call.constant(np.array([call.attrs["epsilon"]], np.float32), "epsilon")
    scale = call.emit("rsqrt", RsqrtAttrs(), (_plus(call, variance, epsilon),))
    if not call.attrs["scale"]:
        return scale
    return call.emit("multiply", MultiplyAttrs(Activation.NONE), (scale, gamma))


def _shift(
    call: RelayCall, beta: BuiltTensor, mean: BuiltTensor, scale: BuiltTensor
) -> BuiltTensor:
    if not call.attrs["center"]:
        beta = call.constant(np.zeros(mean.shape, np.float32), "zeros")
    product = call.emit("multiply", MultiplyAttrs(Activation.NONE), (mean, scale))
    return call.emit("subtract", SubtractAttrs(Activation.NONE), (beta, product))


def _plus(call: RelayCall, lhs: BuiltTensor, rhs: BuiltTensor) -> BuiltTensor:
    return call.emit("add", AddAttrs(Activation.NONE), (lhs, rhs))


def _folded(
    call: RelayCall, data: BuiltTensor, axis: int, scale: BuiltTensor, shift: BuiltTensor
) -> BuiltTensor | None:
    """The convolution that computes the data, now also scaled and shifted. None if the data is not
    from a convolution, or if its weights or a factor are computed at run time."""
    sums = call.sums_of(data)
    if sums is None or sums.axis != axis:
        return None
    bias = np.zeros(sums.channels, np.float32) if sums.bias is None else sums.bias.value
    weight, factors, offsets = sums.weight.value, scale.value, shift.value
    if weight is None or bias is None or factors is None or offsets is None:
        return None
    scaled = _scaled(sums, weight, factors)
    if not np.isfinite(scaled).all():  # for example for a variance of 0 without epsilon
        return None
    return call.emit_sums(
        dataclasses.replace(
            sums,
            weight=call.constant(scaled, "weight"),
            bias=call.constant(bias * factors + offsets, "bias"),
        )
    )


def _scaled(sums: PendingSums, weight: Array, factors: Array) -> Array:
    shape = [1] * weight.ndim
    shape[sums.weight_axis] = math.prod(factors.shape)
    # The caller keeps the convolution if a product is not finite.
    with np.errstate(over="ignore", invalid="ignore"):
        scaled: Array = weight * factors.reshape(shape)
    return scaled


def _prelu(call: RelayCall) -> BuiltTensor:
    data = call.tensor(0, DType.FLOAT32)
    axis = arguments.axis(call, data)
    alpha = layouts.along(call, call.tensor(1), axis, len(data.shape))
    return call.emit("nn.prelu", PReluAttrs(), (data, alpha))


IMPORTERS = {"nn.bias_add": _bias_add, "nn.batch_norm": _batch_norm, "nn.prelu": _prelu}
