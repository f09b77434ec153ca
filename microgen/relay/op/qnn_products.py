"""qnn.conv2d, qnn.conv2d_transpose, qnn.dense, qnn.batch_matmul: products of quantized values.

The result has the accumulators' scale, which is the product of the two scales, and zero point 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from microgen.relay.expr import Attrs, TensorType
from microgen.relay.op import conv2d, conv2d_transpose, dense, layout
from microgen.relay.op.base import Field, Relation, RelayOp
from microgen.relay.op.quantization import INTEGERS, parameters
from microgen.relay.op.relations import fits, one_of

_ACCUMULATORS = ("int16", "int32", "int64")
_PARAMETERS = ("input_zero_point", "kernel_zero_point", "input_scale", "kernel_scale")
_ARGS = ("data", "weight", *_PARAMETERS)


def _checked(attrs: Attrs, types: Sequence[TensorType], channels: int | None) -> None:
    one_of("data", types[0], INTEGERS)
    one_of("weight", types[1], INTEGERS)
    fits("out_dtype", attrs["out_dtype"], _ACCUMULATORS)
    parameters(_PARAMETERS[::2], types[2::2])
    parameters(_PARAMETERS[1::2], types[3::2], channels)


def _convolved(relation: Relation) -> Relation:
    def of_quantized(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
        out = relation(attrs, types[:2])
        assert isinstance(out, TensorType)
        out_layout = attrs["out_layout"] or attrs["data_layout"]
        channels = layout.to_standard(out.shape, out_layout, "NCHW", "out_layout")[1]
        _checked(attrs, types, channels)
        return out

    return of_quantized


def _dense(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    out = dense.relation(attrs, types[:2])
    _checked(attrs, types, out.shape[-1])
    return out


def _batch_matmul(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    _checked(attrs, types, None)
    return dense.batch_matmul(attrs, types[:2])


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
    RelayOp(
        "qnn.conv2d",
        _CONV_ARGS,
        _accumulating(conv2d.FIELDS),
        _convolved(conv2d.relation),
        positional=_CONV_ORDER,
    ),
    RelayOp(
        "qnn.conv2d_transpose",
        _ARGS,
        _accumulating(conv2d_transpose.FIELDS),
        _convolved(conv2d_transpose.relation),
        positional=(*_ARGS, *conv2d_transpose.PYTHON_ORDER),
    ),
    RelayOp("qnn.dense", _ARGS, _accumulating(dense.FIELDS), _dense),
    RelayOp("qnn.batch_matmul", _MATMUL_ARGS, _accumulating(dense.BATCH_MATMUL), _batch_matmul),
)
