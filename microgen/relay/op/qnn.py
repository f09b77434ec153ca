"""Relay's dialect qnn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from microgen.relay.expr import Attrs, TensorType
from microgen.relay.op import products, relations
from microgen.relay.op.axes import AXIS as SOFTMAX_AXIS
from microgen.relay.op.base import AttributeKind, Field, Relation, RelayOp
from microgen.relay.op.moves import AXIS, concatenated, tensors
from microgen.relay.op.relations import fits, one_of

INTEGERS = ("int8", "uint8", "int16")


def quantization_parameters(
    names: Sequence[str], types: Sequence[TensorType], channels: int | None = None
) -> None:
    """Raise ValueError unless ``types`` are scales and zero points according to their names.

    ``channels`` is the length of a vector that is allowed, too; None allows scalars only.
    """
    for name, type_ in zip(names, types, strict=True):
        # All parameters are either scales or zero points.
        expected = "float32" if "scale" in name else "int32"
        if type_.dtype != expected or type_.shape not in ((), (channels,), (1,)):
            vector = "" if channels is None else f" or Tensor[({channels}), {expected}]"
            raise ValueError(f"{name} is {type_}, expected {expected}{vector}")


_QUANTIZED = ("int8", "uint8", "int16", "int32")
_ROUNDINGS = ("None", "UPWARD", "TONEAREST")
_COMPUTED = ("None", "int64", "float32", "float64")
_AXIS = Field("axis", AttributeKind.INT, -1)


def _channels(attrs: Attrs, data: TensorType) -> int:
    if not data.shape:
        return 1
    return data.shape[relations.axis_of(attrs["axis"], len(data.shape))]


# TVM v0.14: src/relay/qnn/op/quantize.cc, dequantize.cc and requantize.cc.
def _scaling(name: str, of: str, inputs: Sequence[str], outputs: Sequence[str]) -> RelayOp:
    """The op quantize or dequantize. ``of`` says whose scale it takes: the output's or the input's.
    The first of ``outputs`` is the Python builder's default."""
    args = ("data", f"{of}_scale", f"{of}_zero_point")

    def relation(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
        one_of("data", types[0], inputs)
        fits("out_dtype", attrs["out_dtype"], outputs)
        quantization_parameters(args[1:], types[1:], _channels(attrs, types[0]))
        return TensorType(types[0].shape, attrs["out_dtype"])

    fields = (Field("out_dtype", AttributeKind.DTYPE, built=outputs[0]), _AXIS)
    return RelayOp(name, args, fields, relation, positional=(*args, "axis", "out_dtype"))


_REQUANTIZE_ARGS = (
    *("data", "input_scale", "input_zero_point", "output_scale", "output_zero_point"),
)


def _requantize(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    one_of("data", types[0], (*_QUANTIZED, "int64"))
    fits("out_dtype", attrs["out_dtype"], _QUANTIZED)
    fits("rounding", attrs["rounding"], _ROUNDINGS)
    fits("compute_dtype", attrs["compute_dtype"], _COMPUTED)
    quantization_parameters(_REQUANTIZE_ARGS[1:3], types[1:3], _channels(attrs, types[0]))
    quantization_parameters(_REQUANTIZE_ARGS[3:], types[3:])
    return TensorType(types[0].shape, attrs["out_dtype"])


_REQUANTIZE = (
    _AXIS,
    Field("rounding", AttributeKind.STR, "None"),
    Field("compute_dtype", AttributeKind.STR, "None"),
    Field("out_dtype", AttributeKind.DTYPE, "", built="int8"),
)


_BINARY = (
    *("lhs", "rhs", "lhs_scale", "lhs_zero_point", "rhs_scale", "rhs_zero_point"),
    *("output_scale", "output_zero_point"),
)
_AXES = (Field("lhs_axis", AttributeKind.INT, -1), Field("rhs_axis", AttributeKind.INT, -1))
_UNARY = ("x", "scale", "zero_point", "output_scale", "output_zero_point")
_SCALES = ("input_scales", "input_zero_points")


# QnnBroadcastRel (src/relay/qnn/op/op_common.h).
def _binary(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    relations.one_of("lhs", types[0], (*INTEGERS, "int32"))
    quantization_parameters(_BINARY[2:], types[2:])
    return relations.broadcast(attrs, types[:2])


def _unary(_attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    relations.one_of("x", types[0], INTEGERS)
    quantization_parameters(_UNARY[1:], types[1:])
    return types[0]


def _concatenate(attrs: Attrs, types: Sequence[Any]) -> TensorType:
    data, scales, zero_points, *output = types
    for name, parameters in zip(_SCALES, (scales, zero_points), strict=True):
        if len(parameters.fields) != len(data.fields):
            raise ValueError(
                f"{name} has {len(parameters.fields)} fields, but data {len(data.fields)}"
            )
        quantization_parameters([name] * len(parameters.fields), tensors(parameters))
    quantization_parameters(("output_scale", "output_zero_point"), output)
    return concatenated(attrs["axis"], data)


# qnn.conv2d, qnn.conv2d_transpose, qnn.dense, qnn.batch_matmul: products of quantized values.
#
# The result has the accumulators' scale, which is the product of the two scales, and zero point 0.

_ACCUMULATORS = ("int16", "int32", "int64")
_PARAMETERS = ("input_zero_point", "kernel_zero_point", "input_scale", "kernel_scale")
_ARGS = ("data", "weight", *_PARAMETERS)


def _checked(attrs: Attrs, types: Sequence[TensorType], channels: int | None) -> None:
    one_of("data", types[0], INTEGERS)
    one_of("weight", types[1], INTEGERS)
    fits("out_dtype", attrs["out_dtype"], _ACCUMULATORS)
    quantization_parameters(_PARAMETERS[::2], types[2::2])
    quantization_parameters(_PARAMETERS[1::2], types[3::2], channels)


def _convolved(relation: Relation) -> Relation:
    def of_quantized(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
        out = relation(attrs, types[:2])
        assert isinstance(out, TensorType)
        out_layout = attrs["out_layout"] or attrs["data_layout"]
        _checked(attrs, types, out.shape[out_layout.index("C")])
        return out

    return of_quantized


def _dense(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    out = products.dense_relation(attrs, types[:2])
    _checked(attrs, types, out.shape[-1])
    return out


def _batch_matmul(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    _checked(attrs, types, None)
    return products.batch_matmul(attrs, types[:2])


def _accumulating(fields: Sequence[Field]) -> tuple[Field, ...]:
    """The fields, with int32 as the Python builder's default for ``out_dtype``."""
    return tuple(replace(f, built="int32") if f.name == "out_dtype" else f for f in fields)


_CONV_ORDER = (
    *("data", "kernel", *_PARAMETERS, "kernel_size", "channels", "strides", "padding"),
    *("dilation", "groups", "data_layout", "kernel_layout", "out_layout", "out_dtype"),
)
_CONV_ARGS = ("data", "kernel", *_PARAMETERS)
_MATMUL_ARGS = ("x", "y", "x_zero_point", "y_zero_point", "x_scale", "y_scale")


OPS = (
    _scaling("qnn.quantize", "output", ("float32",), _QUANTIZED),
    _scaling("qnn.dequantize", "input", _QUANTIZED, ("float32", "float16")),
    RelayOp("qnn.requantize", _REQUANTIZE_ARGS, _REQUANTIZE, _requantize),
    *(RelayOp(f"qnn.{n}", _BINARY, _AXES, _binary) for n in ("add", "subtract", "mul")),
    *(
        RelayOp(f"qnn.{name}", _UNARY, (), _unary)
        for name in ("abs", "exp", "log", "rsqrt", "sigmoid", "sqrt", "tanh")
    ),
    RelayOp("qnn.softmax", _UNARY, (SOFTMAX_AXIS,), _unary),
    RelayOp(
        "qnn.leaky_relu",
        ("x", *_REQUANTIZE_ARGS[1:]),
        (Field("alpha", AttributeKind.FLOAT, 0.25),),
        _unary,
        positional=("x", "alpha", *_REQUANTIZE_ARGS[1:]),
    ),
    RelayOp(
        "qnn.concatenate",
        ("data", *_SCALES, "output_scale", "output_zero_point"),
        (AXIS,),
        _concatenate,
        tuples=("data", *_SCALES),
    ),
    RelayOp(
        "qnn.conv2d",
        _CONV_ARGS,
        _accumulating(products.CONV2D_FIELDS),
        _convolved(products.conv2d_relation),
        positional=_CONV_ORDER,
    ),
    RelayOp(
        "qnn.conv2d_transpose",
        _ARGS,
        _accumulating(products.CONV2D_TRANSPOSE_FIELDS),
        _convolved(products.conv2d_transpose_relation),
        positional=(*_ARGS, *products.PYTHON_ORDER),
    ),
    RelayOp("qnn.dense", _ARGS, _accumulating(products.DENSE_FIELDS), _dense),
    RelayOp("qnn.batch_matmul", _MATMUL_ARGS, _accumulating(products.BATCH_MATMUL), _batch_matmul),
)
