"""nn.conv2d, nn.conv2d_transpose, nn.dense, nn.batch_matmul."""

from __future__ import annotations

import functools
from collections.abc import Callable

from microgen.frontends.operators import Operator
from microgen.frontends.quantization import reinterpreted
from microgen.frontends.relay import qnn_scales
from microgen.frontends.relay.calls import Importer, RelayCall
from microgen.frontends.relay.importers import arguments
from microgen.frontends.sums import PendingSums
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import Attrs, DType, Quant
from microgen.graph.ops.base import Pads, Pair
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs
from microgen.graph.ops.convolution.conv2d_transpose import Conv2DTransposeAttrs
from microgen.graph.ops.dense.batch_matmul import BatchMatmulAttrs
from microgen.graph.ops.dense.dense import DenseAttrs
from microgen.graph.ops.depthwise.depthwise_conv2d import DepthwiseConv2DAttrs

_ROUNDING = Rounding.DOUBLE  # floats are not rounded, but the attribute needs a value


def _product(sums_of: Callable[[RelayCall, BuiltTensor], PendingSums]) -> Importer:
    """The importer of a product of floats, or of int8 values that are plain numbers, whose sums are
    int32."""

    def importer(call: RelayCall) -> BuiltTensor:
        if all(call.tensor(i).dtype is DType.INT8 for i in (0, 1)):
            dtype = qnn_scales.output(call, (DType.INT32,))
            data = reinterpreted(call, call.tensor(0), Quant((1.0,), (0,)))
            return call.emit_sums(qnn_scales.integer_sums(call, sums_of(call, data), dtype))
        _expect_floats(call)
        return call.emit_sums(sums_of(call, call.tensor(0)))

    return importer


def conv2d_sums(call: RelayCall, data: BuiltTensor) -> PendingSums:
    """The sums of a conv2d of any dtype. The data is in the call's layout."""
    # Source: TVM v0.14, relay/op/nn/convolution.cc, Conv2DRel.
    layout, groups = call.attrs["data_layout"], call.attrs["groups"]
    data = call.laid_out(data, layout, "NHWC")
    if groups == data.shape[3] and groups > 1:
        return _depthwise(call, data, _out_layout(call))
    weight = call.laid_out(call.tensor(1), call.attrs["kernel_layout"], "OHWI")
    attrs = Conv2DAttrs(*_window(call), Activation.NONE, _ROUNDING)
    return _sums("nn.conv2d", attrs, data, weight, 0, _out_layout(call))


def _window(call: RelayCall) -> tuple[Pair, Pair, Pads]:
    """Strides, dilation and padding."""
    strides, dilation = (arguments.pair(call, name) for name in ("strides", "dilation"))
    return strides, dilation, arguments.pads(call)


def _out_layout(call: RelayCall) -> str:
    return str(call.attrs["out_layout"] or call.attrs["data_layout"])


def _sums(
    op: str, attrs: Attrs, data: BuiltTensor, weight: BuiltTensor, weight_axis: int, layout: str
) -> PendingSums:
    finish = functools.partial(_laid_out, layout=layout)
    return PendingSums(op, attrs, data, weight, None, layout.index("C"), weight_axis, finish)


def _laid_out(operator: Operator, tensor: BuiltTensor, *, layout: str) -> BuiltTensor:
    return operator.laid_out(tensor, "NHWC", layout)


def _depthwise(call: RelayCall, data: BuiltTensor, layout: str) -> PendingSums:
    """The sums of a conv2d with as many groups as channels."""
    weight, source = call.tensor(1), call.attrs["kernel_layout"]
    # In TVM's layout O counts channels and I the filters of each channel; in other frameworks'
    # layouts O counts both.
    is_per_channel = weight.shape[source.index("O")] == data.shape[3]
    moved = call.laid_out(weight, source, "HWOI" if is_per_channel else "HWIO")
    height, width, outer, inner = moved.shape
    multiplier = outer * inner // data.shape[3]
    attrs = DepthwiseConv2DAttrs(*_window(call), multiplier, Activation.NONE, _ROUNDING)
    flat = call.reshaped(moved, (1, height, width, outer * inner))
    return _sums("nn.depthwise_conv2d", attrs, data, flat, 3, layout)


def _conv2d_transpose(call: RelayCall) -> BuiltTensor:
    # Source: TVM v0.14, topi/nn/conv2d_transpose.py; one group only.
    _expect_floats(call)
    if call.attrs["groups"] != 1 or tuple(call.attrs["dilation"]) != (1, 1):
        raise call.unsupported("has groups or a dilation", supported="one group, dilation 1")
    layout = call.attrs["data_layout"]
    data = call.laid_out(call.tensor(0), layout, "NHWC")
    # The letter I of its layout is the axis that the filters sum over: the data's channels.
    weight = call.laid_out(call.tensor(1), call.attrs["kernel_layout"], "OHWI")
    top, left, bottom, right = arguments.pads(call)
    after = arguments.pair(call, "output_padding")
    shape = dict(zip(_out_layout(call), call.output().shape, strict=True))
    # Padding of the output adds rows and columns at the end, as less padding there does.
    padding = (top, left, bottom - after[0], right - after[1])
    if min(padding) < 0:
        raise call.unsupported(
            f"has the output_padding {after} and the padding {(top, left, bottom, right)}",
            supported="an output_padding of at most the padding after",
        )
    strides, size = arguments.pair(call, "strides"), (shape["H"], shape["W"])
    attrs = Conv2DTransposeAttrs(strides, padding, size, Activation.NONE, _ROUNDING)
    sums = _sums("nn.conv2d_transpose", attrs, data, weight, 0, _out_layout(call))
    return call.emit_sums(sums)


def dense_sums(call: RelayCall, data: BuiltTensor) -> PendingSums:
    """The sums of a dense layer of any dtype."""
    attrs = DenseAttrs(Activation.NONE, _ROUNDING, keep_num_dims=len(data.shape) != 2)
    axis = len(data.shape) - 1
    return PendingSums("nn.dense", attrs, data, call.tensor(1), None, axis, 0, _as_it_is)


def _as_it_is(_operator: Operator, tensor: BuiltTensor) -> BuiltTensor:
    return tensor


def _batch_matmul(call: RelayCall) -> BuiltTensor:
    _expect_floats(call)
    attrs = BatchMatmulAttrs(call.attrs["transpose_a"], call.attrs["transpose_b"])
    return call.emit("nn.batch_matmul", attrs, (call.tensor(0), call.tensor(1)))


def _expect_floats(call: RelayCall) -> None:
    """Raise UnsupportedError unless data, weight and result are floats."""
    for tensor in (call.tensor(0), call.tensor(1)):
        if tensor.dtype is not DType.FLOAT32:
            raise call.unsupported(
                f"of {tensor.type} has no kernel", supported="float32, int8 with int8"
            )
    if call.output().dtype is not DType.FLOAT32:
        raise call.unsupported(
            f"has the out_dtype {call.output().dtype.value}", supported="float32"
        )


IMPORTERS = {
    "nn.conv2d": _product(conv2d_sums),
    "nn.conv2d_transpose": _conv2d_transpose,
    "nn.dense": _product(dense_sums),
    "nn.batch_matmul": _batch_matmul,
}
