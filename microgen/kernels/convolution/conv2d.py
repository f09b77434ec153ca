"""Kernels for nn.conv2d."""

from __future__ import annotations

import dataclasses
import functools

from microgen.graph.ir.graph import DType, Graph, Node
from microgen.kernels import base, blocks, int4, lags, mve, weights, window
from microgen.kernels.requantization import weighted
from microgen.kernels.requantization.weighted import (
    FLOAT,
    FLOAT_FPU,
    FLOATS,
    NEAREST,
    SUMS,
    TWICE,
    TWICE_NARROW,
    UPWARD,
    UPWARD_NARROW,
    Layer,
    Loop,
)

OP_NAME = "nn.conv2d"


def _params(node: Node, graph: Graph) -> base.Fields:
    return (
        *window.sizes(node, graph),
        ("filter_channels", graph.types[node.inputs[1]].shape[3]),
        *window.fields(node, graph),
    )


LAYER = Layer(axis=0, params=_params, constants=window.constants)
_OFFSET = Layer(axis=0, params=weights.with_offset(_params, "conv"), constants=window.constants)

_MVE = weighted.vectors(
    Loop(stem="conv2d_s8", is_fixed=True, refusal=mve.one_group, scratch=mve.window_rows)
)
_POINTWISE_MVE = weighted.vectors(Loop(stem="conv2d_1x1_s8", is_fixed=True, refusal=mve.pointwise))
_INT4_MVE = dataclasses.replace(_MVE, stem="conv2d_s4", family="conv2d_s4_mve", takes_int4=True)
_INT4_BLOCKS = weighted.blocks(
    Loop(stem="conv2d_s4", refusal=blocks.rows, scratch=int4.four_filters, takes_int4=True)
)
_INT4 = Loop(stem="conv2d_s4", scratch=int4.one_filter, wraps=True, takes_int4=True)
_BLOCKS = (
    *weighted.blocks(Loop(stem="conv2d_1x1_s8", refusal=blocks.pointwise, in_place=lags.by_4)),
    *weighted.blocks(Loop(stem="conv2d_s8", refusal=blocks.rows, in_place=lags.by_4)),
)
_OFFSET_BLOCKS = weighted.blocks(
    Loop(
        stem="conv2d_s8_offset",
        refusal=blocks.offset_rows,
        wraps=True,
        has_offset=True,
        in_place=lags.by_4,
    )
)

_REFERENCE = Loop(stem="conv2d_s8", wraps=True, in_place=lags.by_1)
_OFFSET_REFERENCE = Loop(stem="conv2d_s8_offset", wraps=True, has_offset=True, in_place=lags.by_1)

IMPLEMENTATIONS = (
    *LAYER.kernels((_INT4_MVE,), (TWICE,)),
    *LAYER.kernels(_INT4_BLOCKS, (TWICE_NARROW, *FLOATS)),
    *LAYER.kernels((_INT4,), (TWICE, FLOAT_FPU, FLOAT)),
    *LAYER.kernels((_POINTWISE_MVE, _MVE), (TWICE,)),
    *LAYER.kernels(_BLOCKS, (TWICE_NARROW, UPWARD_NARROW, *FLOATS)),
    *LAYER.kernels((_REFERENCE,), (TWICE, NEAREST, UPWARD, FLOAT_FPU, FLOAT, SUMS)),
    *_OFFSET.kernels(_OFFSET_BLOCKS, (TWICE, FLOAT_FPU, FLOAT)),
    *_OFFSET.kernels((_OFFSET_REFERENCE,), (TWICE, FLOAT, SUMS)),
    window.wide_kernel(
        "mg_conv2d_s16",
        functools.partial(weights.constant_weights, axis=0, dtype=DType.INT16),
        lags.grouped_by_4,
    ),
    window.float_kernel("mg_conv2d_f32", lags.grouped_by_4),
)
