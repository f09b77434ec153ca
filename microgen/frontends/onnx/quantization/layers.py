"""Layers that integers compute: their operands are integers, and their results become integers."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

import numpy as np

from microgen.arithmetic.terms import Activation, Rounding
from microgen.frontends.numerics import PROFILES
from microgen.frontends.onnx.quantization.rewriting import NotInteger, Rewriting
from microgen.ir.graph import Array, Attrs, DType, Node, Quant, TensorType
from microgen.ops.rescale import RescaleAttrs

Layer = Callable[[Rewriting, Node, TensorType, str, Activation], str]
"""The integers of a node's result, as a tensor of that type and name, with that activation."""

_ONNX = PROFILES["onnx"]
_SHARES, _WIDE_SHARES = Quant((2.0**-8,), (-128,)), Quant((2.0**-16,), (-(2**15),))


def sums(
    rewriting: Rewriting, node: Node, kind: TensorType, name: str, activation: Activation
) -> str:
    """Sums of products with a constant weight."""
    data = rewriting.integers(node.inputs[0])
    weight = rewriting.weight(node.inputs[1])
    inputs = [data, weight]
    if len(node.inputs) > 2:
        inputs.append(_bias(rewriting, node.inputs[2], data, weight))
    attrs = _replaced(node, rounding=_ONNX.rounding[node.op], activation=activation)
    return rewriting.emit(node.op, attrs, inputs, kind, name, node.origin)


def _bias(rewriting: Rewriting, tensor: str, data: str, weight: str) -> str:
    """The bias in the scale of the sums: the model's own integers if that is their scale."""
    if tensor not in rewriting.graph.constants:
        raise NotInteger(f'reads the bias "{tensor}", which is computed')
    scales = scales_of_sums(rewriting.types[data], rewriting.types[weight])
    stored, floats = rewriting.stored.get(tensor), rewriting.graph.constants[tensor]
    if stored is not None and _is_in(stored.quant, scales):
        values = stored.values.astype(np.int32)
    else:
        values = _in_scale(floats, scales)
    if rewriting.types[data].dtype is DType.INT16:
        values = values.astype(np.int64)
    return rewriting.constant(f"{tensor}#stored", values, None)


def scales_of_sums(data: TensorType, weight: TensorType) -> Array:
    """The scale of sums of products, one for all or one for each channel, float32."""
    assert weight.quant is not None
    with np.errstate(all="ignore"):
        found: Array = np.float32(data.scale) * weight.quant.scales
    return found


def _is_in(quant: Quant, scales: Array) -> bool:
    """Whether a bias has the scale of the sums; converters may compute it in double."""
    found, wanted = np.array(quant.scale), scales.astype(np.float64)
    return not any(quant.zero_point) and bool((abs(found - wanted) <= 1e-6 * wanted).all())


def _in_scale(floats: Array, scales: Array) -> Array:
    """Numbers as int32 in a scale; 0 if the scale is 0."""
    with np.errstate(all="ignore"):
        whole = np.rint(floats.astype(np.float64) / scales.astype(np.float64))
    limits = np.iinfo(np.int32)
    found: Array = np.clip(np.nan_to_num(whole), limits.min, limits.max).astype(np.int32)
    return found


def softmax(
    rewriting: Rewriting, node: Node, kind: TensorType, name: str, activation: Activation
) -> str:
    """Softmax over the last axis. The op has an int8 form for one scale; for others the shares are
    computed in int16 and scaled."""
    assert activation is Activation.NONE, "the op has none"
    data, origin = rewriting.integers(node.inputs[0]), node.origin
    if kind.dtype is DType.INT8 and kind.quant == _SHARES:
        return rewriting.emit(node.op, node.attrs, (data,), kind, name, origin)
    wide = TensorType(kind.shape, DType.INT16, _WIDE_SHARES)
    inner = rewriting.fresh(f"{name}#int16")
    data = rewriting.emit(node.op, node.attrs, (data,), wide, inner, origin)
    ends = wide.scale, wide.zero_point, kind.scale, kind.zero_point
    attrs = RescaleAttrs(0, *ends, Rounding.UPWARD)
    return rewriting.emit("qnn.rescale", attrs, (data,), kind, name, origin)


def in_float32(
    rewriting: Rewriting, node: Node, kind: TensorType, name: str, activation: Activation
) -> str:
    """What has a form for numbers that are computed in float32 and stored: in_float32 of two
    matrices, results of two elements, and means."""
    inputs = [rewriting.integers(each) for each in node.inputs]
    attrs = _replaced(node, in_float32=True, activation=activation)
    return rewriting.emit(node.op, attrs, inputs, kind, name, node.origin)


def _replaced(node: Node, *, activation: Activation, **changes: object) -> Attrs:
    """The node's attributes with others for integers. ``activation`` is NONE if it has none."""
    own = getattr(node.attrs, "activation", None)
    if own is not None:
        if own.clamps:
            raise NotInteger("has a fused activation of its own")
        changes["activation"] = activation
    return dataclasses.replace(node.attrs, **changes)


LAYERS: Mapping[str, Layer] = {
    "add": in_float32,
    "mean": in_float32,
    "multiply": in_float32,
    "nn.avg_pool2d": in_float32,
    "nn.batch_matmul": in_float32,
    "nn.conv2d": sums,
    "nn.conv2d_transpose": sums,
    "nn.dense": sums,
    "nn.depthwise_conv2d": sums,
    "nn.softmax": softmax,
    "subtract": in_float32,
}
