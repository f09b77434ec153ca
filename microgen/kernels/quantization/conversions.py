"""Kernels for numbers of another dtype, with or without a scale."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from microgen.graph.ir.graph import ArrayType, DType, Graph, Node
from microgen.graph.ops.quantization.conversions import QuantizeAttrs
from microgen.kernels import base
from microgen.kernels.moves import strided
from microgen.kernels.work import Work, common
from microgen.target.cpu import Feature

_WIDE = (DType.UINT16, DType.UINT32, DType.UINT64)


def _cast_params(node: Node, graph: Graph) -> base.Fields:
    (data,), output = base.types(node, graph)
    return (
        ("size", output.size),
        ("input_bytes", data.dtype.nbytes),
        ("input_is_float", int(data.dtype is DType.FLOAT32)),
        ("output_bytes", output.dtype.nbytes),
        ("output_is_float", int(output.dtype is DType.FLOAT32)),
        ("output_is_bool", int(output.dtype is DType.BOOL)),
    )


def _cast_unsigned_params(unsigned: Collection[DType]) -> base.Params:
    """The fields, and whether the kernel reads the input as an integer without a sign."""

    def params(node: Node, graph: Graph) -> base.Fields:
        fields = tuple((f"cast.{name}", value) for name, value in _cast_params(node, graph))
        is_unsigned = graph.types[node.inputs[0]].dtype in unsigned
        return (*fields, ("input_is_unsigned", int(is_unsigned)))

    return params


def _has(dtypes: Sequence[DType], node: Node, graph: Graph) -> bool:
    (data,), output = base.types(node, graph)
    return data.dtype in dtypes or output.dtype in dtypes


def _cast_signed_only(node: Node, graph: Graph) -> str | None:
    if _has((DType.UINT8, *_WIDE), node, graph):
        return "the input or the output is an unsigned integer"
    return None


def _bytes_only(node: Node, graph: Graph) -> str | None:
    if _has(_WIDE, node, graph):
        return "the input or the output is a wider unsigned integer than uint8"
    return None if _has((DType.UINT8,), node, graph) else "neither input nor output is uint8"


def _wide_only(node: Node, graph: Graph) -> str | None:
    if _has(_WIDE, node, graph):
        return None
    return f"neither input nor output is {' or '.join(d.value for d in _WIDE)}"


def _quantization_fields(stored: ArrayType) -> base.Fields:
    """Number of elements, zero point and scale: fields of kernels with one stored dtype."""
    return (("size", stored.size), ("zero_point", stored.zero_point), ("scale", stored.scale))


def _dequantize_params(node: Node, graph: Graph) -> base.Fields:
    data = graph.types[node.inputs[0]]
    size, *quantization = _quantization_fields(data)
    return (size, ("input_bytes", data.dtype.nbytes), *quantization)


def _dequantize_bytes_params(node: Node, graph: Graph) -> base.Fields:
    return _quantization_fields(graph.types[node.inputs[0]])


def _dequantize_signed_only(node: Node, graph: Graph) -> str | None:
    data = graph.types[node.inputs[0]].dtype
    return "the input is uint8" if data is DType.UINT8 else None


def _quantize_params(node: Node, graph: Graph) -> base.Fields:
    output = graph.types[node.outputs[0]]
    size, *quantization = _quantization_fields(output)
    return (size, ("output_bytes", output.dtype.nbytes), *quantization)


def _wide_params(node: Node, graph: Graph) -> base.Fields:
    _, output = base.types(node, graph)
    return (("size", output.size), ("scale", output.scale))


def _quantize_bytes_params(node: Node, graph: Graph) -> base.Fields:
    return _quantization_fields(graph.types[node.outputs[0]])


def _narrow_only(node: Node, graph: Graph) -> str | None:
    output = graph.types[node.outputs[0]].dtype
    return None if output in (DType.INT8, DType.INT16) else f"the output is {output.value}"


def _even_params(node: Node, graph: Graph) -> base.Fields:
    output = graph.types[node.outputs[0]]
    limits = np.iinfo(output.dtype.numpy)
    size, *quantization = _quantization_fields(output)
    return (
        size,
        ("output_bytes", output.dtype.nbytes),
        ("least", int(limits.min)),
        ("greatest", int(limits.max)),
        *quantization,
    )


def _rounding(of: base.Implementation, *, ties_even: bool) -> base.Implementation:
    """The kernel, which refuses nodes that round halves otherwise."""

    def other(node: Node, _graph: Graph) -> str | None:
        is_made_for = base.attrs_of(node, QuantizeAttrs).ties_even is ties_even
        return None if is_made_for else "its halves are rounded otherwise"

    return base.made_for(of, other)


def _casting(symbol: str, refusal: base.Refuse, params: base.Params) -> base.Implementation:
    return base.Implementation(symbol, refusal, params, in_place=strided.of_equal_size)


def _quantizing(symbol: str, dtype: DType, params: base.Params) -> base.Implementation:
    return base.Implementation(symbol, base.only(DType.FLOAT32, dtype), params)


_AWAY = (  # halves are rounded away from zero
    base.Implementation("mg_quantize_f32", _narrow_only, _quantize_params),
    _quantizing("mg_quantize_f32_u8", DType.UINT8, _quantize_bytes_params),
    _quantizing("mg_quantize_f32_s32", DType.INT32, _wide_params),
)
_EVEN = base.Implementation("mg_quantize_even_f32", base.any_node, _even_params)

_INTEGERS = (DType.INT8, DType.UINT8, DType.INT16)
# The scales with which MVE, which flushes denormal numbers, divides exactly.
_LEAST_SCALE, _GREATEST_SCALE = 2.0**-79, 2.0**100


def _block_refusal(node: Node, graph: Graph) -> str | None:
    (data,), output = base.types(node, graph)
    stored = data if output.dtype is DType.FLOAT32 else output
    if stored.dtype in _INTEGERS:
        return None
    why = f"the kernel converts {', '.join(d.value for d in _INTEGERS)}, not {stored.dtype.value}"
    return base.Mismatch(base.Trait.DTYPE, why)


def _vector_refusal(node: Node, graph: Graph) -> str | None:
    scale = graph.types[node.outputs[0]].scale
    refusal = _block_refusal(node, graph)
    if refusal is None and not _LEAST_SCALE <= scale <= _GREATEST_SCALE:
        return f"the scale is {scale}, the kernel divides by 2^-79 to 2^100"
    return refusal


def _block_params(node: Node, graph: Graph) -> base.Fields:
    fields = dict(_even_params(node, graph))
    ties_even = base.attrs_of(node, QuantizeAttrs).ties_even
    head = {name: fields.pop(name) for name in ("size", "output_bytes")}
    return tuple({**head, "ties_even": int(ties_even), **fields}.items())


def _block_dequantize_params(node: Node, graph: Graph) -> base.Fields:
    fields = ((f"stored.{name}", value) for name, value in _dequantize_params(node, graph))
    is_unsigned = graph.types[node.inputs[0]].dtype.numpy.kind == "u"
    return (*fields, ("is_unsigned", int(is_unsigned)))


def _counted(node: Node, graph: Graph) -> Work:
    """Values in groups of four, and those that are left."""
    found = common(node, graph)
    return {**found, "quad": found["output"] // 4, "left": found["output"] % 4}


def _blocks(
    symbol: str,
    needs: frozenset[Feature],
    refusal: base.Refuse,
    params: base.Params,
) -> base.Implementation:
    """A kernel of ``quantize_f32_blocks.h``."""
    return base.Implementation(symbol, refusal, params, needs=needs, work=_counted)


_QUANTIZE_BLOCKS = (
    _blocks("mg_quantize_f32_mve", base.MVE_FLOAT, _vector_refusal, _block_params),
    _blocks("mg_quantize_f32_fpu", base.FPU, _block_refusal, _block_params),
)
_DEQUANTIZE_BLOCKS = _blocks(
    "mg_dequantize_f32_mve", base.MVE_FLOAT, _block_refusal, _block_dequantize_params
)

BY_OP = {
    "cast": (
        _casting("mg_cast", _cast_signed_only, _cast_params),
        _casting(
            "mg_cast_u8",
            _bytes_only,
            # 0 stands for a uint8 output, whose input may be bool.
            _cast_unsigned_params((DType.UINT8,)),
        ),
        _casting(
            "mg_cast_unsigned",
            _wide_only,
            _cast_unsigned_params((DType.BOOL, DType.UINT8, *_WIDE)),
        ),
    ),
    "qnn.dequantize": (
        _DEQUANTIZE_BLOCKS,
        base.Implementation("mg_dequantize_f32", _dequantize_signed_only, _dequantize_params),
        base.Implementation(
            symbol="mg_dequantize_f32_u8",
            refusal=base.only(DType.UINT8, DType.FLOAT32),
            params=_dequantize_bytes_params,
        ),
    ),
    "qnn.quantize": (
        *_QUANTIZE_BLOCKS,
        *(_rounding(kernel, ties_even=False) for kernel in _AWAY),
        _rounding(_EVEN, ties_even=True),
    ),
}
