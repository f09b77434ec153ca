"""Requirements of the specialised kernels of convolutions and dense (``portable`` and ``dsp``,
which compute four output channels at a time), in addition to those of the reference."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from microgen.arithmetic import int8
from microgen.arithmetic.terms import Rounding
from microgen.ir.graph import Array, Graph, Node
from microgen.kernels import base
from microgen.ops.constraints import largest_sum, weight_zero
from microgen.ops.conv2d import Conv2DAttrs
from microgen.ops.depthwise_conv2d import DepthwiseConv2DAttrs
from microgen.target.cpu import Feature

DSP = frozenset({Feature.DSP})
SUM_LIMIT = 2**30 - 1  # of accumulators, so that they can be doubled


Constants = Callable[[Node, Graph], tuple[base.KernelConstant, ...]]
Refusal = Callable[..., str | None]  # of node, graph and the roundings that the kernel supports


def variants(
    symbol: str,
    refusal: base.Refuse,
    params: base.Params,
    constants: Constants,
    family: str = "",
) -> tuple[base.Kernel, base.Kernel]:
    """``<symbol>_dsp`` and ``<symbol>_portable``, which support the same nodes and arguments."""
    shared: dict[str, Any] = {"constants": constants, "family": family}
    return (
        base.Kernel(f"{symbol}_dsp", DSP, refusal, params, **shared),
        base.Kernel(f"{symbol}_portable", base.REFERENCE, refusal, params, **shared),
    )


def upward(
    symbol: str, refusal: Refusal, params: base.Params, constants: Constants
) -> tuple[base.Kernel, base.Kernel]:
    """The ``variants`` of ``<symbol>_upward``, which round UPWARD."""
    taken = functools.partial(refusal, roundings=(Rounding.UPWARD,))
    name = f"{symbol}_upward"
    return variants(name, taken, params, constants, family=name.removeprefix("mg_"))


def pointwise(
    node: Node, graph: Graph, *, roundings: Collection[Rounding] = base.TFLITE
) -> str | None:
    """Refusal unless the convolution is a matrix product of pixels and weights."""
    attrs = node.attrs
    assert isinstance(attrs, Conv2DAttrs)
    (data, weight, *_), output = base.types(node, graph)
    if base.spatial(weight) != (1, 1):
        return "the kernel must be 1x1"
    if attrs.strides != (1, 1) or base.spatial(data) != base.spatial(output):
        return "the stride must be 1, without padding"
    return _ungrouped(node, graph) or narrow(node, graph, axis=0, roundings=roundings)


def rows(node: Node, graph: Graph, *, roundings: Collection[Rounding] = base.TFLITE) -> str | None:
    """Refusal unless each row of a window lies in the input without gaps."""
    attrs = node.attrs
    assert isinstance(attrs, Conv2DAttrs)
    if attrs.dilation[1] != 1:
        return f"the columns are dilated by {attrs.dilation[1]}, the kernel takes 1"
    return _ungrouped(node, graph) or narrow(node, graph, axis=0, roundings=roundings)


def offset_rows(node: Node, graph: Graph) -> str | None:
    """As ``rows``, for weights with a zero point, whose products are summed separately."""
    attrs = node.attrs
    assert isinstance(attrs, Conv2DAttrs)
    if attrs.dilation[1] != 1:
        return f"the columns are dilated by {attrs.dilation[1]}, the kernel takes 1"
    refusal = base.constant_weights(node, graph, axis=0, wraps=True, has_offset=True)
    return refusal or _ungrouped(node, graph) or _separately(node, graph)


def _separately(node: Node, graph: Graph) -> str | None:
    """Refusal if the sum of the bias, of values times weights and of values times the zero point
    may exceed int32."""
    data, weight = graph.type_of(node.inputs[:2])
    values = largest_sum(data, weight.size // weight.shape[0]) // 128
    sums = base.largest_sums(node, graph, 0).sum(axis=0)
    worst = int(sums.max()) + 2 * abs(weight_zero(weight)) * values
    if worst < 2**31:
        return None
    return f"separate sums may reach {worst}, the kernel's accumulator 2147483647"


def depthwise(
    node: Node, graph: Graph, *, roundings: Collection[Rounding] = base.TFLITE
) -> str | None:
    """Refusal unless there is one output channel for each input channel."""
    attrs = node.attrs
    assert isinstance(attrs, DepthwiseConv2DAttrs)
    if attrs.depth_multiplier != 1:
        return f"the depth multiplier is {attrs.depth_multiplier}, the kernel takes 1"
    return narrow(node, graph, axis=3, roundings=roundings)


def _ungrouped(node: Node, graph: Graph) -> str | None:
    data, weight, *_ = graph.type_of(node.inputs)
    groups = data.shape[3] // weight.shape[3]
    return None if groups == 1 else f"the convolution has {groups} groups, the kernel takes 1"


def narrow(
    node: Node, graph: Graph, *, axis: int, roundings: Collection[Rounding] = base.TFLITE
) -> str | None:
    """Refusal unless the reference could compute the node with one of these roundings, every scale
    is below 1/2, and every sum below 2**30. Then requantization takes fewer steps."""
    refusal = base.constant_weights(node, graph, axis=axis, roundings=roundings)
    if refusal:
        return refusal
    tables = _tables(node, graph)
    if tables[1].max() >= 0:
        largest = _scales(node, graph).max()
        return f"its largest scale is {largest:.3g}, the kernel takes less than 0.5"
    sums = base.largest_sums(node, graph, axis)
    over = sums.sum(axis=0) > SUM_LIMIT
    if over.any() and not _are_constant(node, graph, tables, sums[0])[over].all():
        worst = int(sums.sum(axis=0).max())
        return f"sums with its weights and bias may reach {worst}, the kernel takes {SUM_LIMIT}"
    return None


def _scales(node: Node, graph: Graph) -> Array:
    (data, weight, *_), output = base.types(node, graph)
    scales = int8.scales_of_sums(data, weight, output, _rounding_of(node))
    return np.broadcast_to(scales, output.shape[-1:])


def _rounding_of(node: Node) -> Rounding:
    rounding = getattr(node.attrs, "rounding", Rounding.DOUBLE)
    assert isinstance(rounding, Rounding)
    return rounding


def _tables(node: Node, graph: Graph) -> tuple[Array, Array]:
    """Multipliers and shifts of every output channel; -1 is the shift of a scale of 0."""
    multipliers, shifts = int8.per_channel_multipliers(_scales(node, graph))
    return multipliers, np.where(multipliers == 0, -1, shifts)


def _are_constant(node: Node, graph: Graph, tables: tuple[Array, Array], products: Array) -> Array:
    """The channels without weights whose output does not change when their bias is clamped.
    Converters give such channels tiny scales, and biases of about 2**30."""
    if len(node.inputs) < 3:
        return np.zeros(products.shape, bool)
    bias = graph.constants[node.inputs[2]].astype(np.int64)
    as_it_is, clamped = (
        int8.multiply_by_quantized_multiplier(sums, *tables, _rounding_of(node))
        for sums in (bias, np.clip(bias, -SUM_LIMIT, SUM_LIMIT))
    )
    constant: Array = (products == 0) & (as_it_is == clamped)
    return constant


def narrowed(constants: Constants) -> Constants:
    """The same constants in the form of these convolutions: the bias is clamped, and the shifts are
    those of the rounding steps."""

    def changed(node: Node, graph: Graph) -> tuple[base.KernelConstant, ...]:
        weight, bias, multiplier, shift = constants(node, graph)
        return (weight, _clamped(bias, graph), multiplier, _rounding(shift))

    return changed


def _clamped(bias: base.KernelConstant, graph: Graph) -> base.KernelConstant:
    if bias.is_absent or np.abs(graph.constants[bias.tensor].astype(np.int64)).max() <= SUM_LIMIT:
        return bias
    limits = (("low", -SUM_LIMIT), ("high", SUM_LIMIT))
    return dataclasses.replace(bias, transform="clamp", arguments=limits)


def _rounding(shift: base.KernelConstant) -> base.KernelConstant:
    return dataclasses.replace(shift, name="rounding_shift", transform="requantize_rounding_shift")
