"""Kernels for nn.depthwise_conv2d."""

from __future__ import annotations

import dataclasses

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
from microgen.kernels.work import Work, work

OP_NAME = "nn.depthwise_conv2d"
_NOT_COMPACT = ("depth_multiplier", "dilation_height", "dilation_width")
_FOUR = 4
# MG_PRODUCTS_S16 of microgen/blocks/sums_s16.h: this many products of int16 and int8 fit int32,
# because 511 * 2**15 * 2**7 is less than 2**31.
PRODUCTS_S16 = 511


def _params(node: Node, graph: Graph) -> base.Fields:
    (data, *_), output = base.types(node, graph)
    multiplier = ("depth_multiplier", output.shape[3] // data.shape[3])
    sizes = (
        multiplier if name == "output_channels" else (name, size)
        for name, size in window.sizes(node, graph)
    )
    return (*sizes, *window.fields(node, graph))


def compact_params(node: Node, graph: Graph) -> base.Fields:
    """The layer's fields in mg_depthwise_conv2d_s8_compact, which has no fields that are 1."""
    return tuple(field for field in _params(node, graph) if field[0] not in _NOT_COMPACT)


def _refuses_wide(node: Node, graph: Graph) -> str | None:
    """Refusal if a row of products in mg_depthwise_conv2d_s16 may exceed int32."""
    width = graph.types[node.inputs[1]].shape[2]
    if width > PRODUCTS_S16:
        return f"its filters are {width} wide, the kernel takes {PRODUCTS_S16}"
    return weights.constant_weights(node, graph, axis=3, dtype=DType.INT16)


def _mve_scratch(node: Node, graph: Graph) -> int:
    return mve.depthwise_tables(node, graph) + int4.all_weights(node, graph)


LAYER = Layer(axis=3, params=_params, constants=window.constants)
COMPACT_LAYER = dataclasses.replace(LAYER, params=compact_params)
_OFFSET = Layer(axis=3, params=weights.with_offset(_params, "conv"), constants=window.constants)

_MVE = weighted.vectors(
    Loop(
        stem="depthwise_conv2d_s8",
        is_fixed=True,
        refusal=mve.depthwise,
        scratch=mve.depthwise_tables,
    )
)
_INT4_MVE = dataclasses.replace(
    _MVE,
    stem="depthwise_conv2d_s4",
    family="depthwise_conv2d_s4_mve",
    scratch=_mve_scratch,
    takes_int4=True,
)
_INT4_BLOCKS = weighted.blocks(
    Loop(
        stem="depthwise_conv2d_s4",
        refusal=blocks.depthwise,
        scratch=int4.all_weights,
        takes_int4=True,
    )
)
_INT4 = Loop(stem="depthwise_conv2d_s4", scratch=int4.all_weights, wraps=True, takes_int4=True)
_BLOCKS = weighted.blocks(
    Loop(stem="depthwise_conv2d_s8", refusal=blocks.depthwise, in_place=lags.depthwise_by_4)
)
_REFERENCE = Loop(stem="depthwise_conv2d_s8", wraps=True, in_place=lags.depthwise_by_1)
_OFFSET_REFERENCE = dataclasses.replace(
    _REFERENCE, stem="depthwise_conv2d_s8_offset", has_offset=True
)


def _float_work(node: Node, graph: Graph) -> Work:
    counts, channels = work(node, graph), graph.types[node.inputs[0]].shape[-1]
    is_four = channels == graph.types[node.outputs[0]].shape[-1] == _FOUR
    products = counts["mac"]
    # The products of four channels with a filter each are counted apart: if there are no others,
    # compilers for MVE compute them in vectors.
    return {**counts, "mac": products * (not is_four), "four_mac": products * is_four}


IMPLEMENTATIONS = (
    *LAYER.kernels((_INT4_MVE,), (TWICE,)),
    *LAYER.kernels(_INT4_BLOCKS, (TWICE_NARROW, *FLOATS)),
    *LAYER.kernels((_INT4,), (TWICE, FLOAT_FPU, FLOAT)),
    *LAYER.kernels((_MVE,), (TWICE,)),
    *LAYER.kernels(_BLOCKS, (TWICE_NARROW, UPWARD_NARROW, *FLOATS)),
    *LAYER.kernels((_REFERENCE,), (TWICE, NEAREST, UPWARD, FLOAT_FPU, FLOAT, SUMS)),
    *_OFFSET.kernels((_OFFSET_REFERENCE,), (TWICE, FLOAT, SUMS)),
    window.wide_kernel("mg_depthwise_conv2d_s16", _refuses_wide, lags.depthwise_by_4),
    base.float_kernel(
        "mg_depthwise_conv2d_f32",
        params=window.shaped_fields,
        inputs=base.DATA_WEIGHT_BIAS,
        in_place=lags.depthwise_by_4,
        work=_float_work,
    ),
)
