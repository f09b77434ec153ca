"""qnn.quantize, qnn.dequantize, qnn.requantize: conversions between scales."""

from __future__ import annotations

from collections.abc import Sequence

from microgen.relay.expr import Attrs, TensorType
from microgen.relay.op import layout
from microgen.relay.op.base import Field, Kind, Relation, RelayOp
from microgen.relay.op.quantization import parameters
from microgen.relay.op.relations import fits, one_of

_QUANTIZED = ("int8", "uint8", "int16", "int32")
_ROUNDINGS = ("None", "UPWARD", "TONEAREST")
_COMPUTED = ("None", "int64", "float32", "float64")
_AXIS = Field("axis", Kind.INT, -1)


def _channels(attrs: Attrs, data: TensorType) -> int:
    if not data.shape:
        return 1
    return data.shape[layout.axis_of(attrs["axis"], len(data.shape))]


def _quantize(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    one_of("data", types[0], ("float32",))
    fits("out_dtype", attrs["out_dtype"], _QUANTIZED)
    parameters(("output_scale", "output_zero_point"), types[1:], _channels(attrs, types[0]))
    return TensorType(types[0].shape, attrs["out_dtype"])


def _dequantize(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    one_of("data", types[0], _QUANTIZED)
    fits("out_dtype", attrs["out_dtype"], ("float32", "float16"))
    parameters(("input_scale", "input_zero_point"), types[1:], _channels(attrs, types[0]))
    return TensorType(types[0].shape, attrs["out_dtype"])


_REQUANTIZE_ARGS = (
    *("data", "input_scale", "input_zero_point", "output_scale", "output_zero_point"),
)


def _requantize(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    one_of("data", types[0], (*_QUANTIZED, "int64"))
    fits("out_dtype", attrs["out_dtype"], _QUANTIZED)
    fits("rounding", attrs["rounding"], _ROUNDINGS)
    fits("compute_dtype", attrs["compute_dtype"], _COMPUTED)
    parameters(_REQUANTIZE_ARGS[1:3], types[1:3], _channels(attrs, types[0]))
    parameters(_REQUANTIZE_ARGS[3:], types[3:])
    return TensorType(types[0].shape, attrs["out_dtype"])


_REQUANTIZE = (
    _AXIS,
    Field("rounding", Kind.STR, "None"),
    Field("compute_dtype", Kind.STR, "None"),
    Field("out_dtype", Kind.DTYPE, "", built="int8"),
)


def _scaling(name: str, args: tuple[str, ...], dtype: str, relation: Relation) -> RelayOp:
    fields = (Field("out_dtype", Kind.DTYPE, built=dtype), _AXIS)
    order = (*args, "axis", "out_dtype")
    return RelayOp(name, args, fields, relation, positional=order)


_QUANTIZE_ARGS = ("data", "output_scale", "output_zero_point")
_DEQUANTIZE_ARGS = ("data", "input_scale", "input_zero_point")

OPS = (
    _scaling("qnn.quantize", _QUANTIZE_ARGS, "int8", _quantize),
    _scaling("qnn.dequantize", _DEQUANTIZE_ARGS, "float32", _dequantize),
    RelayOp("qnn.requantize", _REQUANTIZE_ARGS, _REQUANTIZE, _requantize),
)
