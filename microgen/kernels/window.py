"""Shared by kernels of convolutions: their parameters."""

from __future__ import annotations

import functools
from collections.abc import Callable

from microgen.ir.graph import DType, Graph, Node
from microgen.kernels import base
from microgen.ops.constraints import weight_zero
from microgen.ops.conv2d import Conv2DAttrs
from microgen.ops.conv2d_hybrid import Conv2DHybridAttrs
from microgen.ops.depthwise_conv2d import DepthwiseConv2DAttrs
from microgen.ops.depthwise_conv2d_hybrid import DepthwiseConv2DHybridAttrs
from microgen.ops.geometry import explicit

# For float32 sums. n roundings err by at most n units, and for a random sum by about sqrt(n).
# Outputs that cancel or are clamped are small compared with their sums.
FLOAT_ULPS = 16


Constants = Callable[[Node, Graph], tuple[base.KernelConstant, ...]]
Windowed = Conv2DAttrs | DepthwiseConv2DAttrs | Conv2DHybridAttrs | DepthwiseConv2DHybridAttrs


def fields(node: Node, graph: Graph) -> base.Fields:
    """Strides, dilation, padding, zero points, and the clamp."""
    attrs = node.attrs
    assert isinstance(attrs, Conv2DAttrs | DepthwiseConv2DAttrs)
    (data, *_), output = base.types(node, graph)
    clamp = base.activation_fields(attrs.activation, output)
    return (*_steps(attrs), *base.offsets(data, output), *clamp)


def _steps(attrs: Windowed) -> base.Fields:
    top, left, _, _ = explicit(attrs.padding)
    return (
        ("stride_height", attrs.strides[0]),
        ("stride_width", attrs.strides[1]),
        ("dilation_height", attrs.dilation[0]),
        ("dilation_width", attrs.dilation[1]),
        ("pad_top", top),
        ("pad_left", left),
    )


def relay_kernels(
    symbol: str, axis: int, params: base.Params, constants: Constants
) -> tuple[base.Kernel, base.Kernel]:
    """``<symbol>_once``, which rounds like Relay, and ``<symbol>_s32``, which does not scale.

    ``axis`` is the weight's axis of output channels. ``params`` and ``constants`` are those of
    ``symbol``."""

    def rounded(node: Node, graph: Graph) -> base.Fields:
        nested = tuple((f"conv.{name}", value) for name, value in params(node, graph))
        rounding = node.attrs.rounding  # type: ignore[attr-defined]
        return (*nested, ("ties", base.TIES[rounding]))

    refusal = functools.partial(base.constant_weights, axis=axis)
    return (
        base.Kernel(
            symbol=f"{symbol}_once",
            needs=base.REFERENCE,
            refusal=functools.partial(refusal, roundings=tuple(base.TIES)),
            params=rounded,
            constants=constants,
        ),
        base.Kernel(
            symbol=f"{symbol}_s32",
            needs=base.REFERENCE,
            refusal=functools.partial(refusal, output=DType.INT32),
            params=params,
            constants=base.weight_and_bias,
        ),
    )


def with_offset(params: base.Params) -> base.Params:
    """The fields of kernels for weights with a zero point: ``params`` and the weights' offset."""

    def fields(node: Node, graph: Graph) -> base.Fields:
        nested = tuple((f"conv.{name}", value) for name, value in params(node, graph))
        return (*nested, ("weight_offset", -weight_zero(graph.types[node.inputs[1]])))

    return fields


def offset_kernel(symbol: str, axis: int, params: base.Params, constants: Constants) -> base.Kernel:
    """``<symbol>_offset``, for weights with a zero point. The arguments are those of
    ``relay_kernels``."""
    refusal = functools.partial(base.constant_weights, axis=axis, wraps=True, has_offset=True)
    return base.Kernel(
        symbol=f"{symbol}_offset",
        needs=base.REFERENCE,
        refusal=refusal,
        params=with_offset(params),
        constants=constants,
    )


def constants(node: Node, graph: Graph) -> tuple[base.KernelConstant, ...]:
    """Weight, bias, and the scale of each output channel."""
    channels = graph.types[node.outputs[0]].shape[3]
    return base.weights_and_tables(node, graph, "conv", channels)


def sizes(node: Node, graph: Graph) -> base.Fields:
    """Extents of data, output and filters, for kernels whose filters see several channels."""
    (data, weight, *_), output = base.types(node, graph)
    return (
        ("batches", data.shape[0]),
        ("input_height", data.shape[1]),
        ("input_width", data.shape[2]),
        ("input_channels", data.shape[3]),
        ("output_height", output.shape[1]),
        ("output_width", output.shape[2]),
        ("output_channels", output.shape[3]),
        ("kernel_height", weight.shape[1]),
        ("kernel_width", weight.shape[2]),
    )


def shaped_fields(node: Node, graph: Graph) -> base.Fields:
    """The fields of float32 kernels, and of int16 ones, which add ``rounding``: the extents as an
    mg_conv2d_shape, and the clamp."""
    attrs = node.attrs
    assert isinstance(attrs, Conv2DAttrs | DepthwiseConv2DAttrs)
    inputs, output = base.types(node, graph)
    depth = inputs[1].shape[3] if isinstance(attrs, Conv2DAttrs) else 1
    return (
        *shape_fields(attrs, node, graph, depth),
        *base.wide_rounding(attrs.rounding, output),
        *base.activation_fields(attrs.activation, output),
    )


def shape_fields(attrs: Windowed, node: Node, graph: Graph, depth: int) -> base.Fields:
    """The extents as an mg_conv2d_shape; filters see ``depth`` channels."""
    shape = (*sizes(node, graph), ("filter_channels", depth), *_steps(attrs))
    return tuple((f"shape.{name}", value) for name, value in shape)
