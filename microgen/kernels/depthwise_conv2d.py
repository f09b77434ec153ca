"""Kernels for nn.depthwise_conv2d."""

from __future__ import annotations

import functools

from microgen.ir.graph import DType, Graph, Node
from microgen.kernels import base, blocks, int4, mve, window

OP_NAME = "nn.depthwise_conv2d"
PRODUCTS_S16 = 511  # MG_PRODUCTS_S16 of microgen/sums_s16.h


def _params(node: Node, graph: Graph) -> base.Fields:
    inputs, output = base.types(node, graph)
    data, weight = inputs[0].shape, inputs[1].shape
    return (
        ("batches", data[0]),
        ("input_height", data[1]),
        ("input_width", data[2]),
        ("input_channels", data[3]),
        ("output_height", output.shape[1]),
        ("output_width", output.shape[2]),
        ("depth_multiplier", output.shape[3] // data[3]),
        ("kernel_height", weight[1]),
        ("kernel_width", weight[2]),
        *window.fields(node, graph),
    )


def _refuses_wide(node: Node, graph: Graph) -> str | None:
    """Refusal if a row of products in mg_depthwise_conv2d_s16 may exceed int32."""
    width = graph.types[node.inputs[1]].shape[2]
    if width > PRODUCTS_S16:
        return f"its filters are {width} wide, the kernel takes {PRODUCTS_S16}"
    return base.constant_weights(node, graph, axis=3, dtype=DType.INT16)


def _mve_scratch(node: Node, graph: Graph) -> int:
    return mve.depthwise_tables(node, graph) + int4.all_weights(node, graph)


_narrowed = blocks.narrowed(window.constants)
_taken = functools.partial(base.constant_weights, axis=3, wraps=True)

KERNELS = (
    int4.entry(
        "mg_depthwise_conv2d_s4_mve",
        mve.depthwise,
        _params,
        window.constants,
        scratch=_mve_scratch,
        needs=mve.NEEDS,
    ),
    *int4.variants(
        "mg_depthwise_conv2d_s4", blocks.depthwise, _params, _narrowed, scratch=int4.all_weights
    ),
    int4.entry(
        "mg_depthwise_conv2d_s4", _taken, _params, window.constants, scratch=int4.all_weights
    ),
    base.Kernel(
        symbol="mg_depthwise_conv2d_s8_mve",
        needs=mve.NEEDS,
        refusal=mve.depthwise,
        params=_params,
        constants=window.constants,
        scratch=mve.depthwise_tables,
    ),
    *blocks.variants("mg_depthwise_conv2d_s8", blocks.depthwise, _params, _narrowed),
    base.Kernel(
        symbol="mg_depthwise_conv2d_s8",
        needs=base.REFERENCE,
        refusal=_taken,
        params=_params,
        constants=window.constants,
    ),
    *blocks.upward("mg_depthwise_conv2d_s8", blocks.depthwise, _params, _narrowed),
    *window.relay_kernels("mg_depthwise_conv2d_s8", 3, _params, window.constants),
    window.offset_kernel("mg_depthwise_conv2d_s8", 3, _params, window.constants),
    base.Kernel(
        symbol="mg_depthwise_conv2d_s16",
        needs=base.REFERENCE,
        refusal=_refuses_wide,
        params=window.shaped_fields,
        constants=window.constants,
    ),
    base.Kernel(
        symbol="mg_depthwise_conv2d_f32",
        needs=base.REFERENCE,
        refusal=base.only(DType.FLOAT32),
        params=window.shaped_fields,
        inputs=base.DATA_WEIGHT_BIAS,
    ),
)
