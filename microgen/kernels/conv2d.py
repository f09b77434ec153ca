"""Kernels for nn.conv2d."""

from __future__ import annotations

import functools

from microgen.ir.graph import DType, Graph, Node
from microgen.kernels import base, blocks, int4, mve, window

OP_NAME = "nn.conv2d"


def _params(node: Node, graph: Graph) -> base.Fields:
    return (
        *window.sizes(node, graph),
        ("filter_channels", graph.types[node.inputs[1]].shape[3]),
        *window.fields(node, graph),
    )


_narrowed = blocks.narrowed(window.constants)
_taken = functools.partial(base.constant_weights, axis=0, wraps=True)

KERNELS = (
    int4.entry(
        "mg_conv2d_s4_mve",
        mve.one_group,
        _params,
        window.constants,
        scratch=mve.window_rows,
        needs=mve.NEEDS,
    ),
    *int4.variants("mg_conv2d_s4", blocks.rows, _params, _narrowed, scratch=int4.four_filters),
    int4.entry("mg_conv2d_s4", _taken, _params, window.constants, scratch=int4.one_filter),
    base.Kernel(
        symbol="mg_conv2d_1x1_s8_mve",
        needs=mve.NEEDS,
        refusal=mve.pointwise,
        params=_params,
        constants=window.constants,
    ),
    base.Kernel(
        symbol="mg_conv2d_s8_mve",
        needs=mve.NEEDS,
        refusal=mve.one_group,
        params=_params,
        constants=window.constants,
        scratch=mve.window_rows,
    ),
    *blocks.variants("mg_conv2d_1x1_s8", blocks.pointwise, _params, _narrowed),
    *blocks.variants("mg_conv2d_s8", blocks.rows, _params, _narrowed),
    base.Kernel(
        symbol="mg_conv2d_s8",
        needs=base.REFERENCE,
        refusal=_taken,
        params=_params,
        constants=window.constants,
    ),
    *blocks.upward("mg_conv2d_1x1_s8", blocks.pointwise, _params, _narrowed),
    *blocks.upward("mg_conv2d_s8", blocks.rows, _params, _narrowed),
    *window.relay_kernels("mg_conv2d_s8", 0, _params, window.constants),
    *blocks.variants(
        "mg_conv2d_s8_offset",
        blocks.offset_rows,
        window.with_offset(_params),
        window.constants,
        family="conv2d_s8_offset_blocks",
    ),
    window.offset_kernel("mg_conv2d_s8", 0, _params, window.constants),
    base.Kernel(
        symbol="mg_conv2d_s16",
        needs=base.REFERENCE,
        refusal=functools.partial(base.constant_weights, axis=0, dtype=DType.INT16),
        params=window.shaped_fields,
        constants=window.constants,
    ),
    base.Kernel(
        symbol="mg_conv2d_f32",
        needs=base.REFERENCE,
        refusal=base.only(DType.FLOAT32),
        params=window.shaped_fields,
        inputs=base.DATA_WEIGHT_BIAS,
        ulps=window.FLOAT_ULPS,
    ),
)
