"""Rewrites layers so that they compute in integers: their operands and their results are
integers."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from microgen.graph.arithmetic.int8 import activation_range, float_range
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import ArrayType, Attrs, DType, Node, Quant
from microgen.graph.ops.detection import resize2d
from microgen.graph.ops.detection.resize2d import Resize2DAttrs
from microgen.graph.ops.elementwise.addition import AddAttrs
from microgen.graph.ops.elementwise.product import MultiplyAttrs
from microgen.graph.ops.quantization.conversions import CastAttrs, QuantizeAttrs
from microgen.graph.ops.quantization.rescale import RescaleAttrs
from microgen.graph.qdq import biases, functions
from microgen.graph.qdq.biases import NotNear
from microgen.graph.qdq.moves import VIEWS
from microgen.graph.qdq.rewriting import NotInteger, Rewriting

SumsLayer = Callable[[Rewriting, Node, ArrayType, str, Activation], str]
"""The integers of a node's result, as a tensor of that type and name, with that activation."""

_ROUNDING = Rounding.FLOAT  # of such networks: sums are scaled in float32, halves go to even
_SHARES, _WIDE_SHARES = Quant((2.0**-8,), (-128,)), Quant((2.0**-16,), (-(2**15),))


def sums(
    rewriting: Rewriting, node: Node, kind: ArrayType, name: str, activation: Activation
) -> str:
    """Sums of products with a constant weight."""
    data = rewriting.integers(node.inputs[0])
    weight = rewriting.weight(node.inputs[1])
    inputs = [data, weight]
    attrs = _replaced(node, rounding=_ROUNDING, activation=activation)
    if len(node.inputs) > 2:
        if node.inputs[2] not in rewriting.graph.constants:
            raise NotInteger(f'reads the bias "{node.inputs[2]}", which is computed')
        try:
            inputs = [data, *_weight_and_bias(rewriting, node, data, weight, kind)]
        except NotNear as reason:
            return _with_floats(rewriting, node, inputs, (kind, name, activation), reason)
    return rewriting.emit(node.op, attrs, inputs, kind, name, node.origin)


def _weight_and_bias(
    rewriting: Rewriting, node: Node, data: str, weight: str, kind: ArrayType
) -> tuple[str, str]:
    """The constants of a layer. NotNear if no integers are near enough to its bias."""
    tensor = node.inputs[2]
    floats, stored = rewriting.graph.constants[tensor], rewriting.stored.get(tensor)
    layer = biases.SumsLayer(node.op, rewriting.types[data], kind, floats, stored)
    rounded = biases.integers(rewriting, layer, weight, tensor)
    if rounded.weight.kind != rewriting.types[weight]:
        finer = rounded.weight
        weight = rewriting.constant(f"{node.inputs[1]}#finer", finer.values, finer.quant)
        if finer.is_int4:
            rewriting.int4.add(weight)
    return weight, rewriting.constant(f"{tensor}#stored", rounded.bias, None)


def _with_floats(
    rewriting: Rewriting,
    node: Node,
    inputs: Sequence[str],
    result: tuple[ArrayType, str, Activation],
    reason: NotNear,
) -> str:
    """A layer whose sums are computed in integers, and whose scale, bias, activation and conversion
    are computed in floats. NotInteger if the sums are wider than int32, or the op has no such form.
    """
    kind, name, activation = result
    data, weight = (rewriting.types[each] for each in inputs)
    if data.dtype is not DType.INT8 or not _is_the_same_in_floats(activation, kind):
        raise reason
    attrs = _replaced(node, rounding=_ROUNDING, activation=Activation.NONE)
    plain, floats = ArrayType((), DType.INT32), ArrayType((), DType.FLOAT32)
    scales = rewriting.constant(f"{name}#scale", biases.scales_of_sums(data, weight), None)
    steps: tuple[tuple[str, str, Attrs, Sequence[str], ArrayType], ...] = (
        ("sums", node.op, attrs, inputs, plain),
        ("floats", "cast", CastAttrs(), (), floats),
        ("scaled", "multiply", MultiplyAttrs(Activation.UNLIMITED), (scales,), floats),
        ("biased", "add", AddAttrs(activation), (node.inputs[2],), floats),
    )
    tensors: tuple[str, ...] = ()
    for hint, op, own, others, type_ in steps:
        made = rewriting.fresh(f"{name}#{hint}")
        rewriting.reasons[made] = str(reason)
        tensors = (rewriting.emit(op, own, (*tensors, *others), type_, made, node.origin),)
    return rewriting.emit("qnn.quantize", QuantizeAttrs(True), tensors, kind, name, node.origin)


def _is_the_same_in_floats(activation: Activation, kind: ArrayType) -> bool:
    """Whether limits of floats, when stored, become the limits of stored integers."""
    assert kind.quant is not None
    bounds = functions.Clamp(*float_range(activation)).stored(kind)
    return bounds == activation_range(activation, kind.quant, kind.dtype)


def softmax(
    rewriting: Rewriting, node: Node, kind: ArrayType, name: str, activation: Activation
) -> str:
    """Softmax over the last axis. The op has an int8 form for one scale; for others the shares are
    computed in int16 and scaled. NotInteger if that may be off by a step of the output or more.

    The sum is of numbers that are rounded to 2**-19, so it is off by 2**-20 for each. Other
    roundings are off by less than a step of int16, 2**-16.
    """
    assert activation is Activation.NONE, "the op has none"
    data, origin = rewriting.integers(node.inputs[0]), node.origin
    if kind.dtype is DType.INT8 and kind.quant == _SHARES:
        return rewriting.emit(node.op, node.attrs, (data,), kind, name, origin)
    off = kind.shape[-1] * 2.0**-20 + _WIDE_SHARES.scale[0]
    if kind.scale < off:
        raise NotInteger(
            f"computes shares that are off by up to {off:g}, but its output has steps of "
            f"{kind.scale:g}"
        )
    wide = ArrayType(kind.shape, DType.INT16, _WIDE_SHARES)
    inner = rewriting.fresh(f"{name}#int16")
    data = rewriting.emit(node.op, node.attrs, (data,), wide, inner, origin)
    ends = wide.scale, wide.zero_point, kind.scale, kind.zero_point
    attrs = RescaleAttrs(0, *ends, Rounding.UPWARD)
    return rewriting.emit("qnn.rescale", attrs, (data,), kind, name, origin)


def resized(
    rewriting: Rewriting, node: Node, kind: ArrayType, name: str, activation: Activation
) -> str:
    """An image that is resized linearly. The op's positions are rounded to 2**-10 pixels.
    NotInteger if this moves results by more than half a step, or if the scale changes."""
    assert activation is Activation.NONE, "the op has none"
    integers = rewriting.integers(node.inputs[0])
    data = rewriting.types[integers]
    if (data.dtype, data.quant) != (kind.dtype, kind.quant):
        raise NotInteger("resizes an image and changes its scale or zero point")
    assert isinstance(node.attrs, Resize2DAttrs)
    off = resize2d.positions_off(node.attrs, data)
    limits = np.iinfo(data.dtype.numpy)
    if off * (limits.max - limits.min) > 1 / 2:
        raise NotInteger(
            f"resizes an image at positions that are up to {off:.2g} pixels off in integers"
        )
    return rewriting.emit(node.op, node.attrs, (integers,), kind, name, node.origin)


def in_float32(
    rewriting: Rewriting, node: Node, kind: ArrayType, name: str, activation: Activation
) -> str:
    """The ops that have a form that computes in float32 and stores integers: in_float32 of two
    matrices, functions of two elements, and means.
    """
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


_IN_FLOAT32 = ("add", "mean", "multiply", "nn.avg_pool2d", "nn.batch_matmul", "subtract")
_SUMS = ("nn.conv2d", "nn.conv2d_transpose", "nn.dense", "nn.depthwise_conv2d")
LAYERS: Mapping[str, SumsLayer] = {
    **dict.fromkeys(_IN_FLOAT32, in_float32),
    **dict.fromkeys(_SUMS, sums),
    "image.resize2d": resized,
    "nn.softmax": softmax,
}


def plain_sums(rewriting: Rewriting, node: Node) -> bool:
    """Compute the result of a conversion to int32 by a layer of integers, if the converted floats
    are sums of integers.

    The importers of ConvInteger and MatMulInteger make floats of integers with the scale 1, a layer
    of floats, and a conversion to int32. A layer of integers gives the same sums, without the limit
    of 2**24 that floats have.
    """
    if node.op != "cast" or rewriting.graph.types[node.outputs[0]].dtype is not DType.INT32:
        return False
    layer, moves = _before(rewriting, node.inputs[0])
    if layer is None or not _has_scale_1(rewriting, layer):
        return False
    nodes = len(rewriting.nodes)
    try:
        _sum(rewriting, layer, moves, node.outputs[0])
    except NotInteger as reason:
        rewriting.back_to(nodes)
        rewriting.reasons[layer.outputs[0]] = str(reason)
        return False
    return True


def _before(rewriting: Rewriting, tensor: str) -> tuple[Node | None, list[Node]]:
    """The layer of sums before a tensor, and the moves between them, the last move first."""
    moves: list[Node] = []
    node = rewriting.producers.get(tensor)
    while node is not None and node.op in VIEWS:
        moves.append(node)
        node = rewriting.producers.get(node.inputs[0])
    is_layer = node is not None and LAYERS.get(node.op) is sums and len(node.inputs) == 2
    return (node if is_layer else None), moves


def _has_scale_1(rewriting: Rewriting, layer: Node) -> bool:
    data, weight = layer.inputs
    integers, stored = rewriting.meaning.get(data), rewriting.stored.get(weight)
    if integers is None or stored is None:
        return False
    quant = rewriting.types[integers].quant
    return quant is not None and {*quant.scale, *stored.quant.scale} == {1.0}


def _sum(rewriting: Rewriting, layer: Node, moves: list[Node], output: str) -> None:
    kind = ArrayType(rewriting.graph.types[layer.outputs[0]].shape, DType.INT32)
    name = rewriting.fresh(f"{output}#sums") if moves else output
    tensor = sums(rewriting, layer, kind, name, Activation.NONE)
    for each in reversed(moves):
        name = output if each is moves[0] else rewriting.fresh(f"{output}#{each.op}")
        kind = dataclasses.replace(kind, shape=rewriting.graph.types[each.outputs[0]].shape)
        tensor = rewriting.emit(each.op, each.attrs, (tensor,), kind, name, each.origin)
