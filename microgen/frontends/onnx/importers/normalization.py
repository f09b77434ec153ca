"""Normalizations, as compositions."""

from __future__ import annotations

import math

import numpy as np

from microgen.frontends.layouts import along
from microgen.frontends.onnx import composing, pool_nodes, windows
from microgen.frontends.onnx.composing import binary
from microgen.frontends.onnx.importers import arguments
from microgen.frontends.onnx.nodes import EVAL, OnnxNode
from microgen.graph.builder import BuiltTensor, Value
from microgen.graph.ir.graph import DType
from microgen.graph.ops.elementwise.choices import MaximumAttrs
from microgen.graph.ops.reductions.reduction import MeanAttrs
from microgen.graph.ops.unary.roots import RsqrtAttrs, SqrtAttrs

_LEAST = float(np.finfo(np.float32).tiny)  # for a norm of 0, whose data is 0


def _floats(node: OnnxNode, *positions: int) -> BuiltTensor:
    """The first operand. UnsupportedError if it or an operand at ``positions`` is not float32."""
    for position in (0, *positions):
        node.optional(position, DType.FLOAT32)
    return node.tensor(0)


def _mean(node: OnnxNode, data: BuiltTensor, axes: tuple[int, ...]) -> BuiltTensor:
    return node.emit("mean", MeanAttrs(axes, keep_dims=True), (data,))


def _inverse_root(node: OnnxNode, data: BuiltTensor) -> BuiltTensor:
    """1 / sqrt(data + epsilon)."""
    epsilon = float(node.attr("epsilon", 1e-5))
    return node.emit("rsqrt", RsqrtAttrs(), (binary(node, "add", data, epsilon),))


def _moments(
    node: OnnxNode, data: BuiltTensor, axes: tuple[int, ...]
) -> tuple[BuiltTensor, BuiltTensor, BuiltTensor]:
    """The mean over some axes, the data minus the mean, and the variance."""
    mean = _mean(node, data, axes)
    centred = binary(node, "subtract", data, mean)
    # Differences are squared, because the mean of squares less the square of the mean would cancel.
    return mean, centred, _mean(node, binary(node, "multiply", centred, centred), axes)


def _standardized(
    node: OnnxNode, data: BuiltTensor, axes: tuple[int, ...]
) -> tuple[BuiltTensor, BuiltTensor, BuiltTensor]:
    """(data - mean) / sqrt(variance + epsilon) over some axes, the mean, and the inverse of the
    root."""
    mean, centred, variance = _moments(node, data, axes)
    inverse = _inverse_root(node, variance)
    return binary(node, "multiply", centred, inverse), mean, inverse


def _last_axes(node: OnnxNode, data: BuiltTensor) -> tuple[int, ...]:
    """The axes from the attribute ``axis`` on."""
    rank = len(data.shape)
    return tuple(range(arguments.axis(node, rank, -1), rank))


def _scaled(
    node: OnnxNode, data: BuiltTensor, factor: BuiltTensor, offset: BuiltTensor | None
) -> BuiltTensor:
    product = binary(node, "multiply", data, factor)
    return product if offset is None else binary(node, "add", product, offset)


def _affine(node: OnnxNode, data: BuiltTensor, axis: int) -> BuiltTensor:
    """The data times the scale plus the offset, which have one value per index of the axis."""
    scale, offset = (along(node, node.tensor(i), axis, len(data.shape)) for i in (1, 2))
    return _scaled(node, data, scale, offset)


def _batch(node: OnnxNode) -> Value:
    """(data - mean) / sqrt(variance + epsilon) * scale + offset as data * factor - mean * factor +
    offset, with one factor and one offset per channel."""
    data = _floats(node, 1, 2, 3, 4)
    scale, offset, mean, variance = (node.tensor(i) for i in range(1, 5))
    rank, axis = len(data.shape), min(1, len(data.shape) - 1)
    if any(t.shape != (data.shape[axis],) for t in (scale, offset, mean, variance)):
        raise node.invalid(f"has {scale.type} for {data.type}; one value per channel is expected")
    if node.attr("training_mode", 0):
        if not any(node.outputs[1:]):
            what = "takes mean and variance from its own input, as in training"
            raise node.unsupported(what, hint=EVAL)
        return _training(node, data, axis)
    if any(node.outputs[1:]):
        raise node.unsupported("has statistics as outputs", supported="inference with one output")
    # All four are usually constants, so factor and shift are folded.
    factor = binary(node, "multiply", _inverse_root(node, variance), scale)
    shift = binary(node, "multiply", mean, factor)
    if shift.value is None:
        shift = binary(node, "subtract", offset, shift)
        return _scaled(node, data, along(node, factor, axis, rank), along(node, shift, axis, rank))
    # Passes put both offsets into a convolution right before, or make one sum of them. Here they
    # are two, because they may cancel each other: then the error of implementations is larger than
    # the sum suggests.
    product = binary(node, "multiply", data, along(node, factor, axis, rank))
    centred = binary(node, "subtract", product, along(node, shift, axis, rank))
    return binary(node, "add", centred, along(node, offset, axis, rank))


def _training(node: OnnxNode, data: BuiltTensor, axis: int) -> Value:
    """The data standardized by its own mean and variance, and the running mean and variance."""
    rank, momentum = len(data.shape), float(node.attr("momentum", 0.9))
    axes = tuple(a for a in range(rank) if a != axis)
    scale, offset = (along(node, node.tensor(i), axis, rank) for i in (1, 2))
    result, mean, _ = _standardized(node, data, axes)
    centred = binary(node, "subtract", data, mean)
    variance = _mean(node, binary(node, "multiply", centred, centred), axes)
    running = []
    for position, own in ((3, mean), (4, variance)):
        old = node.tensor(position)
        # running = running * momentum + own * (1 - momentum)
        kept = binary(node, "multiply", old, momentum)
        added = binary(node, "multiply", node.reshaped(own, old.shape), 1 - momentum)
        running.append(binary(node, "add", kept, added))
    return _scaled(node, result, scale, offset), *running


def _instance(node: OnnxNode) -> BuiltTensor:
    """Each channel of each image standardized by itself."""
    data = _floats(node, 1, 2)
    arguments.spatial_rank(node, data)
    result, _, _ = _standardized(node, data, tuple(range(2, len(data.shape))))
    return _affine(node, result, 1)


def _layer(node: OnnxNode) -> Value:
    """Source: ONNX's specification of LayerNormalization; the mean and the inverse of the
    deviation are outputs, too."""
    data = _floats(node, 1, 2)
    result, mean, inverse = _standardized(node, data, _last_axes(node, data))
    return _scaled(node, result, node.tensor(1), node.optional(2)), mean, inverse


def _rms(node: OnnxNode) -> BuiltTensor:
    """Data / sqrt(mean of squares + epsilon) * scale."""
    data = _floats(node, 1)
    squares = _mean(node, binary(node, "multiply", data, data), _last_axes(node, data))
    result = binary(node, "multiply", data, _inverse_root(node, squares))
    return _scaled(node, result, node.tensor(1), None)


def _group(node: OnnxNode) -> BuiltTensor:
    """Channels in groups, each standardized. Scale and offset are per channel, and per group before
    opset 21."""
    data = _floats(node, 1, 2)
    arguments.spatial_rank(node, data)
    groups, shape = int(node.attr("num_groups")), data.shape
    if groups < 1 or shape[1] % groups:
        raise node.invalid(f"has {groups} groups for {shape[1]} channels")
    split = node.reshaped(data, (shape[0], groups, math.prod(shape[1:]) // groups))
    result, _, _ = _standardized(node, split, (2,))
    # If there are as many groups as channels, both readings are the same.
    if node.tensor(1).shape == (groups,) != (shape[1],):
        return node.reshaped(_affine(node, result, 1), shape)
    return _affine(node, node.reshaped(result, shape), 1)


def _lp(node: OnnxNode) -> BuiltTensor:
    """Each row along an axis divided by its 1-norm or 2-norm."""
    data, p = _floats(node), int(node.attr("p", 2))
    if p not in (1, 2):
        raise node.invalid(f"has the p {p}; 1 or 2 is expected")
    axis = arguments.axis(node, len(data.shape), -1)
    total = composing.total(node, composing.magnitude(node, data, p), (axis,), True)
    norm = composing.root(node, total, p)
    # A row of zeros remains zero.
    least = node.constant(np.array([_LEAST], np.float32), "least")
    return binary(node, "divide", data, node.emit("maximum", MaximumAttrs(), (norm, least)))


def _mean_variance(node: OnnxNode) -> BuiltTensor:
    """Source: ONNX's specification of MeanVarianceNormalization: 1e-9 is added to the root."""
    data = _floats(node)
    axes = tuple(sorted(arguments.axes(node, node.ints("axes", (0, 2, 3)), len(data.shape))))
    _, centred, variance = _moments(node, data, axes)
    deviation = node.emit("sqrt", SqrtAttrs(), (variance,))
    return binary(node, "divide", centred, binary(node, "add", deviation, 1e-9))


def _local_response(node: OnnxNode) -> BuiltTensor:
    """Data / (bias + alpha * mean of squares over neighbouring channels) ** beta, where channels
    that do not exist are 0."""
    data = _floats(node)
    size, shape = int(node.attr("size")), data.shape
    if size < 1 or len(shape) < 2:
        raise node.invalid(f"has the size {size} for {data.type}")
    squares = binary(node, "multiply", data, data)
    # The channels are the rows of an image, so the means are a pool.
    image = node.reshaped(squares, (shape[0], shape[1], math.prod(shape[2:]), 1))
    before, after = ((size - 1) // 2, 0), ((size - 1) - (size - 1) // 2, 0)
    window = windows.OnnxWindow((size, 1), (1, 1), (1, 1), before, after, (0, 0), image.shape[1:3])
    means = pool_nodes.mean(node, image, window, counts_padding=True)
    scaled = binary(node, "multiply", means, float(node.attr("alpha", 1e-4)))
    base = binary(node, "add", scaled, float(node.attr("bias", 1.0)))
    divisor = composing.power(node, base, -float(node.attr("beta", 0.75)))
    return binary(node, "multiply", data, node.reshaped(divisor, shape))


IMPORTERS = {
    "BatchNormalization": _batch,
    "GroupNormalization": _group,
    "InstanceNormalization": _instance,
    "LRN": _local_response,
    "LayerNormalization": _layer,
    "LpNormalization": _lp,
    "MeanVarianceNormalization": _mean_variance,
    "RMSNormalization": _rms,
}
