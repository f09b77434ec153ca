"""Kernels for nn.conv2d_transpose."""

from __future__ import annotations

import functools

from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ops.convolution.conv2d_transpose import Conv2DTransposeAttrs
from microgen.graph.ops.geometry import explicit
from microgen.kernels import base, weights, window
from microgen.kernels.requantization import weighted
from microgen.kernels.requantization.weighted import (
    FLOAT,
    FLOATS,
    NEAREST,
    SUMS,
    TWICE,
    TWICE_NARROW,
    Layer,
    Loop,
)

OP_NAME = "nn.conv2d_transpose"


def _params(node: Node, graph: Graph) -> base.Fields:
    attrs = base.attrs_of(node, Conv2DTransposeAttrs)
    (data, *_), output = base.types(node, graph)
    top, left, _, _ = explicit(attrs.padding)  # rows and columns before the output
    return (
        *window.sizes(node, graph),
        ("stride_height", attrs.strides[0]),
        ("stride_width", attrs.strides[1]),
        ("crop_top", top),
        ("crop_left", left),
        *base.offsets(data, output),
        *base.activation_fields(attrs.activation, output),
    )


LAYER = Layer(axis=0, params=_params, constants=window.constants)

IMPLEMENTATIONS = (
    *LAYER.kernels(weighted.blocks(Loop(stem="conv2d_transpose_s8")), (TWICE_NARROW, *FLOATS)),
    *LAYER.kernels((Loop(stem="conv2d_transpose_s8", wraps=True),), (TWICE, NEAREST, FLOAT, SUMS)),
    window.wide_kernel(
        "mg_conv2d_transpose_s16",
        functools.partial(weights.constant_weights, axis=0, dtype=DType.INT16),
    ),
    window.float_kernel("mg_conv2d_transpose_f32"),
)
