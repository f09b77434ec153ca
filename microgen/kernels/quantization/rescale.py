"""Kernels for stored values of one scale in another."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ops.quantization.rescale import (
    RescaleAttrs,
    requantize_multiplier,
    rescale_multiplier,
)
from microgen.kernels import base
from microgen.kernels.moves import strided
from microgen.kernels.unary import unary


def _rescale_refusal(node: Node, graph: Graph) -> str | None:
    if len(node.inputs) > 1 and node.inputs[1] not in graph.constants:
        return f"{node.inputs[1]!r} is computed at run time, the kernel needs a constant"
    return None


def _rescale_params(node: Node, graph: Graph) -> base.Fields:
    attrs = base.attrs_of(node, RescaleAttrs)
    (data, *scales), output = base.types(node, graph)
    axis = attrs.axis if scales else 0
    # With one scale, the whole tensor is one channel.
    channels = data.shape[axis] if scales else 1
    return (
        ("outer", math.prod(data.shape[:axis])),
        ("channels", channels),
        ("inner", math.prod(data.shape[axis + 1 :]) if scales else data.size),
        ("input_bytes", data.dtype.nbytes),
        ("output_bytes", output.dtype.nbytes),
        ("input_offset", -attrs.input_zero_point),
        ("output_offset", attrs.output_zero_point),
        ("ties", base.TIES[attrs.rounding]),
        *base.scale_fields(rescale_multiplier(attrs)),
    )


def _rescale_constants(node: Node, graph: Graph) -> tuple[base.KernelConstant, ...]:
    """The tables if there are several scales; NULL if there is one."""
    attrs = base.attrs_of(node, RescaleAttrs)
    scales = node.inputs[1] if len(node.inputs) > 1 else ""
    # The table has the scales of the input, in the place of a weight's. The other factor is 1.
    arguments: tuple[tuple[str, float | int | str], ...] = (
        ("input_scale", 1.0),
        ("output_scale", attrs.output_scale),
        ("rule", "sums"),
        ("channels", graph.types[scales].size if scales else 1),
    )
    return (
        base.KernelConstant(
            "multiplier", "int32_t", scales, "data", "requantize_multiplier", arguments
        ),
        base.KernelConstant("shift", "int8_t", scales, "data", "requantize_shift", arguments),
    )


def _requantize_params(node: Node, graph: Graph) -> base.Fields:
    (data,), output = base.types(node, graph)
    scale = base.scale_fields(requantize_multiplier(data, output))
    return (("size", output.size), *base.offsets(data, output), *scale)


def _requantize_params_with(name: str, of: Callable[[DType], int]) -> base.Params:
    """The fields, and after the size ``input_<name>`` and ``output_<name>`` of the dtypes."""

    def params(node: Node, graph: Graph) -> base.Fields:
        size, *rest = _requantize_params(node, graph)
        (data,), output = base.types(node, graph)
        own = ((f"input_{name}", of(data.dtype)), (f"output_{name}", of(output.dtype)))
        return (size, *own, *rest)

    return params


def _has_uint8(node: Node, graph: Graph) -> bool:
    (data,), output = base.types(node, graph)
    return DType.UINT8 in (data.dtype, output.dtype)


def _signed_only(node: Node, graph: Graph) -> str | None:
    if not _has_uint8(node, graph):
        return None
    return base.Mismatch(
        base.Trait.DTYPE, "the input or the output is uint8, the kernel computes signed integers"
    )


def _unsigned_only(node: Node, graph: Graph) -> str | None:
    if _has_uint8(node, graph):
        return None
    return base.Mismatch(base.Trait.DTYPE, "neither input nor output is uint8")


def _not_flipped(node: Node, graph: Graph) -> str | None:
    """Refusal unless the values before and after differ by 128 and mean the same numbers."""
    (data,), output = base.types(node, graph)
    # The kernel inverts the highest bit, which adds 128 to int8 or subtracts it from uint8.
    zeros = {kind.dtype: kind.zero_point for kind in (data, output)}
    if set(zeros) != {DType.INT8, DType.UINT8}:
        return base.Mismatch(
            base.Trait.DTYPE, "the kernel converts uint8 to int8, and int8 to uint8"
        )
    if data.scale != output.scale or zeros[DType.UINT8] - zeros[DType.INT8] != 128:
        return "the scales differ, or the zero points are not 128 apart"
    return None


def _kernel(symbol: str, refusal: base.Refuse, params: base.Params) -> base.Implementation:
    return base.Implementation(symbol, refusal, params, in_place=strided.of_equal_size)


BY_OP = {
    "qnn.rescale": (
        dataclasses.replace(
            _kernel("mg_rescale_int", _rescale_refusal, _rescale_params),
            constants=_rescale_constants,
        ),
    ),
    "qnn.requantize": (
        _kernel("mg_requantize_s8", base.only(DType.INT8), _requantize_params),
        _kernel(
            "mg_requantize_int",
            _signed_only,
            _requantize_params_with("bytes", lambda dtype: dtype.nbytes),
        ),
        _kernel("mg_flip_sign", _not_flipped, unary.size),
        _kernel(
            "mg_requantize_u8",
            _unsigned_only,
            _requantize_params_with("is_unsigned", lambda dtype: int(dtype is DType.UINT8)),
        ),
    ),
}
