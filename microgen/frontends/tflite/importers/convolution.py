"""CONV_2D, DEPTHWISE_CONV_2D and TRANSPOSE_CONV."""

from __future__ import annotations

import struct
from collections.abc import Mapping

from tflite.Conv2DOptions import Conv2DOptions
from tflite.DepthwiseConv2DOptions import DepthwiseConv2DOptions
from tflite.TransposeConvOptions import TransposeConvOptions

from microgen.frontends.tflite.importers.arguments import (
    Importer,
    cut,
    dilation,
    integers,
    is_hybrid,
    rounding,
    strides,
)
from microgen.frontends.tflite.layers import FileLayer
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import ArrayType, DType
from microgen.graph.ops.base import Padding, Pair
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs, Conv2DHybridAttrs
from microgen.graph.ops.convolution.conv2d_transpose import (
    Conv2DTransposeAttrs,
    Conv2DTransposeHybridAttrs,
)
from microgen.graph.ops.depthwise.depthwise_conv2d import (
    DepthwiseConv2DAttrs,
    DepthwiseConv2DHybridAttrs,
)


def _conv2d(layer: FileLayer) -> BuiltTensor:
    data = layer.data(0)
    weight = layer.weights(1, rank=4, any_zero=layer.is_unsigned(1))
    bias = layer.bias(2, weight.type.shape[0])
    inputs = (data, weight, *bias)
    window = (strides(layer), dilation(layer), layer.padding())
    activation = layer.activation()
    if is_hybrid(data, weight):
        hybrid = Conv2DHybridAttrs(*window, activation)
        return layer.emit("nn.conv2d_hybrid", hybrid, inputs, layer.output())
    how = rounding(layer, "nn.conv2d", data, bias, layer.option("QuantizedBiasType"))
    attrs = Conv2DAttrs(*window, activation, how)
    return layer.emit("nn.conv2d", attrs, inputs, layer.output())


def _depthwise_conv2d(layer: FileLayer) -> BuiltTensor:
    data = layer.data(0)
    weight = layer.weights(1, rank=4, any_zero=layer.is_unsigned(1))
    layer.expect_rank(data, 4)
    if layer.record(1).dtype == "int4" and data.dtype is not DType.INT8:
        raise layer.unsupported(
            f"has int4 weights of {data.dtype.value} data, which LiteRT does not compute",
            supported="int4 weights of int8 data",
        )
    inputs = (data, weight, *layer.bias(2, weight.type.shape[3]))
    window = (strides(layer), dilation(layer), layer.padding())
    multiplier = _depth_multiplier(layer, data, weight)
    activation = layer.activation()
    if is_hybrid(data, weight):
        hybrid = DepthwiseConv2DHybridAttrs(*window, multiplier, activation)
        return layer.emit("nn.depthwise_conv2d_hybrid", hybrid, inputs, layer.output())
    how = rounding(layer, "nn.depthwise_conv2d", data)
    attrs = DepthwiseConv2DAttrs(*window, multiplier, activation, how)
    return layer.emit("nn.depthwise_conv2d", attrs, inputs, layer.output())


def _depth_multiplier(layer: FileLayer, data: BuiltTensor, weight: BuiltTensor) -> int:
    channels, filters = data.type.shape[3], weight.type.shape[3]
    # Each channel has the same number of filters.
    if filters % channels:
        raise layer.invalid(
            f"has {filters} filters for {channels} channels; a multiple of them is expected"
        )
    stated = layer.option("DepthMultiplier")
    # LiteRT computes it from the shapes, but TFLite Micro reads the option, so they must agree.
    if stated not in (0, filters // channels):  # 0: not stated
        raise layer.invalid(
            f"has the depth multiplier {stated}, but {filters} filters for {channels} channels "
            f"make it {filters // channels}"
        )
    return filters // channels


def _transpose_conv(layer: FileLayer) -> BuiltTensor:
    weight, data = layer.weights(1, rank=4), layer.data(2)
    shape = layer.plain(0)
    if shape.type != ArrayType((4,), DType.INT32):
        raise layer.invalid(f"has an output shape of {shape.type}; int32[4] is expected")
    # LiteRT accepts any fed shape that suits the data, but a firmware has only one.
    is_fed = shape.value is None
    (output,) = layer.declared_outputs() if is_fed else layer.outputs()
    if is_fed:
        layer.expect_rank(output, 4)
    _, height, width, _ = stated = output.shape if is_fed else integers(layer, 0)
    bias = layer.bias(3, weight.type.shape[0])
    window = (strides(layer), layer.padding(), (height, width), layer.activation())
    inputs = (data, weight, *bias)
    if is_hybrid(data, weight):
        hybrid = Conv2DTransposeHybridAttrs(*window)
        result = layer.emit("nn.conv2d_transpose_hybrid", hybrid, inputs, output)
    else:
        declared = layer.option("QuantizedBiasType")
        how = rounding(layer, "nn.conv2d_transpose", data, bias, declared)
        attrs = Conv2DTransposeAttrs(*window, how)
        result = layer.emit("nn.conv2d_transpose", attrs, inputs, output)
    if result.shape != stated:
        raise layer.invalid(f"asks for the shape {cut(stated)}, but computes {result.type}")
    # A constant result needs no shape at run time.
    if is_fed and result.value is None:
        layer.fix(shape, stated)
    return result


_CUSTOM = struct.Struct("<iii")  # C's TfLiteTransposeConvParams: padding, stride_w, stride_h
_CUSTOM_PADDINGS: Mapping[int, Padding] = {1: "SAME", 2: "VALID"}  # C's TfLitePadding


def _transpose_conv_bias(layer: FileLayer) -> BuiltTensor:
    """MediaPipe's transposed convolution, of float32 only, which has its bias and no activation."""
    # Source: MediaPipe, util/tflite/operations/transpose_conv_bias.cc. Like TRANSPOSE_CONV's, the
    # padding is the padding of the convolution in the opposite direction.
    data, weight, output = layer.data(0), layer.weights(1, rank=4), layer.output()
    layer.expect(data, DType.FLOAT32)
    layer.expect_rank(data, 4)
    filters, *kernel, _ = weight.shape
    padding, strides = _custom_window(layer)
    _, height, width, _ = data.shape
    attrs = Conv2DTransposeAttrs(
        strides=strides,
        padding=padding,
        size=(
            _grown(height, kernel[0], strides[0], padding),
            _grown(width, kernel[1], strides[1], padding),
        ),
        activation=Activation.NONE,
        rounding=rounding(layer, "nn.conv2d_transpose", data),
    )
    inputs = (data, weight, *layer.bias(2, filters))
    return layer.emit("nn.conv2d_transpose", attrs, inputs, output)


def _custom_window(layer: FileLayer) -> tuple[Padding, Pair]:
    """The padding and the strides in the options, which may have further fields."""
    options = layer.custom_options()
    if len(options) < _CUSTOM.size:
        raise layer.invalid(
            f"has {len(options)} bytes of custom options; at least {_CUSTOM.size} are expected"
        )
    padding, width, height = _CUSTOM.unpack_from(options)
    if padding not in _CUSTOM_PADDINGS or min(width, height) < 1:
        raise layer.invalid(
            f"has the padding number {padding} and strides of {height} and {width}; SAME (1) or "
            "VALID (2), and at least 1, are expected"
        )
    return _CUSTOM_PADDINGS[padding], (height, width)


def _grown(size: int, kernel: int, stride: int, padding: Padding) -> int:
    """The output's size along an axis."""
    padded = max(0, kernel - (size - 1) % stride - 1) if padding == "SAME" else 0
    return stride * (size - 1) + kernel - padded


IMPORTERS = {
    "CONV_2D": Importer(_conv2d, (2, 3), Conv2DOptions),
    "CUSTOM:Convolution2DTransposeBias": Importer(_transpose_conv_bias, (3,)),
    "DEPTHWISE_CONV_2D": Importer(_depthwise_conv2d, (2, 3), DepthwiseConv2DOptions),
    "TRANSPOSE_CONV": Importer(_transpose_conv, (3, 4), TransposeConvOptions),
}
