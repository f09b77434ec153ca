"""Elementwise qnn ops, and qnn.concatenate. Each operand and the result has its own scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from microgen.relay.expr import Attrs, TensorType
from microgen.relay.op import relations
from microgen.relay.op.along_axis import AXIS as SOFTMAX_AXIS
from microgen.relay.op.base import Field, Kind, RelayOp
from microgen.relay.op.joining import AXIS, concatenated, tensors
from microgen.relay.op.quantization import INTEGERS, parameters

_BINARY = (
    *("lhs", "rhs", "lhs_scale", "lhs_zero_point", "rhs_scale", "rhs_zero_point"),
    *("output_scale", "output_zero_point"),
)
_AXES = (Field("lhs_axis", Kind.INT, -1), Field("rhs_axis", Kind.INT, -1))
_UNARY = ("x", "scale", "zero_point", "output_scale", "output_zero_point")
_SCALES = ("input_scales", "input_zero_points")


def _binary(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    relations.one_of("lhs", types[0], (*INTEGERS, "int32"))
    parameters(_BINARY[2:], types[2:])
    return relations.broadcast(attrs, types[:2])


def _unary(_attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    relations.one_of("x", types[0], INTEGERS)
    parameters(_UNARY[1:], types[1:])
    return types[0]


def _concatenate(attrs: Attrs, types: Sequence[Any]) -> TensorType:
    data, scales, zero_points, *output = types
    for name, found in zip(_SCALES, (scales, zero_points), strict=True):
        if len(found.fields) != len(data.fields):
            raise ValueError(f"{name} has {len(found.fields)} fields, but data {len(data.fields)}")
        parameters([name] * len(found.fields), tensors(found))
    parameters(("output_scale", "output_zero_point"), output)
    return concatenated(attrs["axis"], data)


OPS = (
    *(RelayOp(f"qnn.{n}", _BINARY, _AXES, _binary) for n in ("add", "subtract", "mul")),
    *(
        RelayOp(f"qnn.{name}", _UNARY, (), _unary)
        for name in ("abs", "exp", "log", "rsqrt", "sigmoid", "sqrt", "tanh")
    ),
    RelayOp("qnn.softmax", _UNARY, (SOFTMAX_AXIS,), _unary),
    RelayOp(
        "qnn.leaky_relu",
        ("x", "input_scale", "input_zero_point", "output_scale", "output_zero_point"),
        (Field("alpha", Kind.FLOAT, 0.25),),
        _unary,
        positional=(
            *("x", "alpha", "input_scale", "input_zero_point"),
            *("output_scale", "output_zero_point"),
        ),
    ),
    RelayOp(
        "qnn.concatenate",
        ("data", *_SCALES, "output_scale", "output_zero_point"),
        (AXIS,),
        _concatenate,
        tuples=("data", *_SCALES),
    ),
)
