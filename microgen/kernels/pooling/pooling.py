"""Kernels for windows."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ops.geometry import explicit
from microgen.graph.ops.pooling.pooling import AvgPool2DAttrs, PoolAttrs
from microgen.kernels import base, lags
from microgen.kernels.elementwise import in_float32
from microgen.kernels.pooling import mean_rows, window_mean
from microgen.kernels.work import Work, common, seen, work
from microgen.target.cpu import Feature

_MOST = 128  # values of a window with means by one product: see ``avg_pool2d_s8_blocks.h``
_MOST_INT16 = 256  # the same for int16: see ``pools_s16_mve.h``


def _params(node: Node, graph: Graph) -> base.Fields:
    """Fields of ``mg_pool_params`` and ``mg_pool_f32_params``."""
    attrs = base.attrs_of(node, PoolAttrs)
    _, output = base.types(node, graph)
    top, left, _, _ = explicit(attrs.padding)
    return (
        *base.image_fields(node, graph),
        ("pool_height", attrs.pool_size[0]),
        ("pool_width", attrs.pool_size[1]),
        ("stride_height", attrs.strides[0]),
        ("stride_width", attrs.strides[1]),
        ("pad_top", top),
        ("pad_left", left),
        *base.activation_fields(attrs.activation, output),
    )


def kernel(symbol: str, dtype: DType) -> base.Implementation:
    """The kernel of one dtype."""
    return base.Implementation(symbol, base.only(dtype), _params, in_place=lags.depthwise_by_1)


def kernels(stem: str) -> tuple[base.Implementation, ...]:
    """``<stem>_s8``, ``_s16`` and ``_f32``."""
    return (
        kernel(f"{stem}_s8", DType.INT8),
        kernel(f"{stem}_s16", DType.INT16),
        kernel(f"{stem}_f32", DType.FLOAT32),
    )


def _rounding(of: base.Implementation, *, ties_upward: bool = False) -> base.Implementation:
    """The kernel, which refuses nodes that round halves otherwise."""

    def other(node: Node, _graph: Graph) -> str | None:
        is_made_for = base.attrs_of(node, AvgPool2DAttrs).ties_upward is ties_upward
        return None if is_made_for else "its halves are rounded otherwise"

    return base.made_for(window_mean.whole(of), other)


def _avg_pool2d_int8(symbol: str, requantization: str) -> base.Implementation:
    """A kernel of ``avg_pool2d.h``, whose body takes this constant."""
    made = kernel(symbol, DType.INT8)
    loop = "mg_avg_pool2d_s8"
    return dataclasses.replace(made, family=loop[3:], variant=(requantization,), loop=loop)


def _means(
    suffix: str, needs: frozenset[Feature], blocks: Sequence[int], in_place: base.InPlace
) -> base.Implementation:
    """A kernel of ``avg_pool2d_s8_blocks.h``, which computes ``blocks`` of channels."""
    made = window_mean.whole(kernel(f"mg_avg_pool2d_s8_{suffix}", DType.INT8))

    def refusal(node: Node, graph: Graph) -> str | None:
        height, width = base.attrs_of(node, AvgPool2DAttrs).pool_size
        if height * width > _MOST:
            return f"a window has {height * width} values, the kernel adds up to {_MOST}"
        if window_mean.shape_refusal(node, graph) is None:
            return "all windows are inside the input, as mg_pool_mean_s8 expects them"
        return made.refusal(node, graph)

    def params(node: Node, graph: Graph) -> base.Fields:
        fields = tuple((f"pool.{name}", value) for name, value in made.params(node, graph))
        upward = base.attrs_of(node, AvgPool2DAttrs).ties_upward
        return (*fields, ("ties_upward", int(upward)))

    def counted(node: Node, graph: Graph) -> Work:
        attrs = base.attrs_of(node, AvgPool2DAttrs)
        data, output = graph.types[node.inputs[0]], graph.types[node.outputs[0]]
        sizes = base.spatial(data), base.spatial(output)
        rows, columns = seen(attrs.padding, *sizes, attrs.pool_size, attrs.strides, (1, 1))
        images, channels = output.shape[0], output.shape[3]
        pixels, lines = images * len(rows) * len(columns), images * sum(rows) * len(columns)
        windows = pixels, lines, images * sum(rows) * sum(columns)
        return {**common(node, graph), **window_mean.parts(windows, channels, blocks)}

    return dataclasses.replace(
        made, refusal=refusal, params=params, needs=needs, work=counted, in_place=in_place
    )


def _in_float32() -> base.Implementation:
    """``mg_avg_pool2d_in_float_s8``, which has further fields."""
    made = window_mean.whole(kernel("mg_avg_pool2d_in_float_s8", DType.INT8))

    def params(node: Node, graph: Graph) -> base.Fields:
        (data,), output = base.types(node, graph)
        scales = (("input_scale", data.scale), ("output_scale", output.scale))
        return (*made.params(node, graph), *base.offsets(data, output), *scales)

    return dataclasses.replace(made, params=params)


_SPECIFIED = (
    _rounding(_avg_pool2d_int8("mg_avg_pool2d_s8", "MG_ROUND_NEAREST")),
    _rounding(_avg_pool2d_int8("mg_avg_pool2d_s8_upward", "MG_ROUND_UPWARD"), ties_upward=True),
    _rounding(kernel("mg_avg_pool2d_s16", DType.INT16)),
    _rounding(kernel("mg_avg_pool2d_f32", DType.FLOAT32)),
    _rounding(kernel("mg_avg_pool2d_s32", DType.INT32)),
)


def _max_pool2d_work(node: Node, graph: Graph) -> Work:
    """The usual parts, and the parts of loops over blocks of sixteen channels, incomplete blocks
    included.
    """
    found = work(node, graph)
    channels = graph.types[node.outputs[0]].shape[3]
    return {
        **found,
        "block_16": found["pixel"] * -(-channels // 16),
        "tap_16": found["pixel_tap"] * -(-channels // 16),
    }


def _blocks(suffix: str, needs: frozenset[Feature], in_place: base.InPlace) -> base.Implementation:
    """A kernel of ``max_pool2d_s8_blocks.h``."""
    made = kernel(f"mg_max_pool2d_s8_{suffix}", DType.INT8)
    return dataclasses.replace(made, needs=needs, work=_max_pool2d_work, in_place=in_place)


def _vectors_of_int16(stem: str) -> base.Implementation:
    """A kernel of ``pools_s16_mve.h``."""
    made = kernel(f"{stem}_s16_mve", DType.INT16)

    def counted(node: Node, graph: Graph) -> Work:
        found = work(node, graph)
        blocks = -(-graph.types[node.outputs[0]].shape[3] // 8)
        pixels, taps = found["pixel"] * blocks, found["pixel_tap"] * blocks
        return {**found, "block_8": pixels, "tap_8": taps}

    return dataclasses.replace(
        made,
        needs=base.MVE,
        work=counted,
        in_place=lags.depthwise_by_8,
        family="pools_s16_mve",
    )


def _means_of_int16() -> base.Implementation:
    """``mg_avg_pool2d_s16_mve``, whose means are products."""
    made = _vectors_of_int16("mg_avg_pool2d")

    def refusal(node: Node, graph: Graph) -> str | None:
        height, width = base.attrs_of(node, AvgPool2DAttrs).pool_size
        if height * width > _MOST_INT16:
            return f"a window has {height * width} values, the kernel adds up to {_MOST_INT16}"
        return made.refusal(node, graph)

    return _rounding(dataclasses.replace(made, refusal=refusal))


def _of_floats(symbol: str) -> base.Implementation:
    """A kernel of ``pool2d_f32_blocks.h``."""
    made = kernel(symbol, DType.FLOAT32)
    return dataclasses.replace(made, needs=base.FPU, in_place=lags.depthwise_by_4)


_MEANS = (
    _means("portable", base.REFERENCE, (4, 1), lags.depthwise_by_4),
    _means("dsp", base.DSP, (8, 4, 1), lags.depthwise_by_4),
    _means("mve", base.MVE, (16, 8), lags.depthwise_by_8),
)

BY_OP = {
    "nn.avg_pool2d": (
        *window_mean.KERNELS,
        *mean_rows.ROWS,
        window_mean.IN_FLOAT32,
        *map(in_float32.without, (_means_of_int16(), *_MEANS)),
        in_float32.without(_rounding(_of_floats("mg_avg_pool2d_f32_blocks"))),
        *map(in_float32.without, _SPECIFIED),
        in_float32.only(_in_float32()),
    ),
    "nn.max_pool2d": (
        _blocks("mve", base.MVE, lags.depthwise_by_16),
        _blocks("dsp", base.DSP, lags.depthwise_by_4),
        _blocks("portable", base.REFERENCE, lags.depthwise_by_4),
        _vectors_of_int16("mg_max_pool2d"),
        _of_floats("mg_max_pool2d_f32_blocks"),
        *kernels("mg_max_pool2d"),
    ),
}
