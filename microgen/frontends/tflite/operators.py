"""One importer per TFLite operator: from its tensors and options to one or more nodes.

To add an operator, write its function and its row in ``IMPORTERS``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType

from tflite.AddOptions import AddOptions
from tflite.BuiltinOptions import BuiltinOptions
from tflite.Conv2DOptions import Conv2DOptions
from tflite.DepthwiseConv2DOptions import DepthwiseConv2DOptions
from tflite.FullyConnectedOptions import FullyConnectedOptions
from tflite.FullyConnectedOptionsWeightsFormat import FullyConnectedOptionsWeightsFormat
from tflite.Pool2DOptions import Pool2DOptions
from tflite.ReshapeOptions import ReshapeOptions
from tflite.SoftmaxOptions import SoftmaxOptions
from tflite.SqueezeOptions import SqueezeOptions

from microgen.frontends.tflite.layers import Layer, Options, Step
from microgen.frontends.tflite.tensors import Tensor
from microgen.ir.graph import TensorType
from microgen.ops.add import AddAttrs
from microgen.ops.avg_pool2d import AvgPool2DAttrs
from microgen.ops.base import Activation, Pair, Shape
from microgen.ops.clip import ClipAttrs
from microgen.ops.conv2d import Conv2DAttrs
from microgen.ops.dense import DenseAttrs
from microgen.ops.depthwise_conv2d import DepthwiseConv2DAttrs
from microgen.ops.max_pool2d import MaxPool2DAttrs
from microgen.ops.pad import PadAttrs
from microgen.ops.reshape import ReshapeAttrs
from microgen.ops.softmax import SoftmaxAttrs

Importer = Callable[[Layer], tuple[Step, ...]]


def _conv2d(layer: Layer) -> tuple[Step, ...]:
    layer.expect_inputs(2, 3)
    options = layer.options(Conv2DOptions, BuiltinOptions.Conv2DOptions)
    weight = layer.weights(1, rank=4)
    attrs = Conv2DAttrs(
        strides=_strides(layer, options),
        dilation=_dilation(layer, options),
        padding=layer.padding(options),
        activation=layer.activation(options),
        rounding=layer.numerics.rounding["nn.conv2d"],
    )
    inputs = (layer.data(0), weight, *layer.bias(2, weight.type.shape[0]))
    return (Step("nn.conv2d", attrs, inputs, layer.output()),)


def _depthwise_conv2d(layer: Layer) -> tuple[Step, ...]:
    layer.expect_inputs(2, 3)
    options = layer.options(DepthwiseConv2DOptions, BuiltinOptions.DepthwiseConv2DOptions)
    data, weight = layer.data(0), layer.weights(1, rank=4)
    layer.expect_rank(data, 4)
    attrs = DepthwiseConv2DAttrs(
        strides=_strides(layer, options),
        dilation=_dilation(layer, options),
        padding=layer.padding(options),
        depth_multiplier=_depth_multiplier(layer, options, data, weight),
        activation=layer.activation(options),
        rounding=layer.numerics.rounding["nn.depthwise_conv2d"],
    )
    inputs = (data, weight, *layer.bias(2, weight.type.shape[3]))
    return (Step("nn.depthwise_conv2d", attrs, inputs, layer.output()),)


def _depth_multiplier(layer: Layer, options: Options, data: Tensor, weight: Tensor) -> int:
    """From the shapes, as LiteRT computes it; TFLite Micro reads the option, so they must agree."""
    channels, filters = data.type.shape[3], weight.type.shape[3]
    if filters % channels:
        raise layer.invalid(f"has {filters} filters for {channels} channels: not a multiple")
    stated = options.number("DepthMultiplier")
    if stated not in (0, filters // channels):  # 0: not stated
        raise layer.invalid(
            f"has the depth multiplier {stated}, but {filters} filters for {channels} channels "
            f"make it {filters // channels}"
        )
    return filters // channels


def _fully_connected(layer: Layer) -> tuple[Step, ...]:
    layer.expect_inputs(2, 3)
    options = layer.options(FullyConnectedOptions, BuiltinOptions.FullyConnectedOptions)
    if options.number("WeightsFormat") != FullyConnectedOptionsWeightsFormat.DEFAULT:
        raise layer.unsupported("has shuffled weights", supported="the DEFAULT weights format")
    data, weight, output = layer.data(0), layer.weights(1, rank=2), layer.output()
    attrs = DenseAttrs(
        activation=layer.activation(options),
        rounding=layer.numerics.rounding["nn.dense"],
        keep_num_dims=bool(options.number("KeepNumDims")),
    )
    before = () if attrs.keep_num_dims else _flatten(layer, data, weight.type.shape[1], output)
    rows = before[-1].output if before else data
    inputs = (rows, weight, *layer.bias(2, weight.type.shape[0]))
    return (*before, Step("nn.dense", attrs, inputs, output))


def _flatten(layer: Layer, data: Tensor, features: int, output: Tensor) -> tuple[Step, ...]:
    """The reshape of data to [rows, features] that FULLY_CONNECTED implies, where it is one."""
    if data.type.size % features:
        raise layer.invalid(
            f"has an input {data.type}, which is not rows of the weight's {features} features"
        )
    shape = (data.type.size // features, features)
    if data.type.shape == shape:
        return ()
    flat = TensorType(shape, data.type.dtype, data.type.quant)
    rows = layer.derived(flat, f"{output.name}/flatten")
    return (Step("reshape", ReshapeAttrs(shape), (data,), rows),)


def _average_pool2d(layer: Layer) -> tuple[Step, ...]:
    pool_size, strides, options = _pool(layer)
    attrs = AvgPool2DAttrs(pool_size, strides, layer.padding(options), layer.activation(options))
    return (Step("nn.avg_pool2d", attrs, (layer.data(0),), layer.output()),)


def _max_pool2d(layer: Layer) -> tuple[Step, ...]:
    pool_size, strides, options = _pool(layer)
    attrs = MaxPool2DAttrs(pool_size, strides, layer.padding(options), layer.activation(options))
    return (Step("nn.max_pool2d", attrs, (layer.data(0),), layer.output()),)


def _pool(layer: Layer) -> tuple[Pair, Pair, Options]:
    layer.expect_inputs(1)
    options = layer.options(Pool2DOptions, BuiltinOptions.Pool2DOptions)
    pool_size = layer.positive_pair(options, "FilterHeight", "FilterWidth")
    return pool_size, _strides(layer, options), options


def _softmax(layer: Layer) -> tuple[Step, ...]:
    layer.expect_inputs(1)
    options = layer.options(SoftmaxOptions, BuiltinOptions.SoftmaxOptions)
    beta = float(options.number("Beta"))
    if not 0.0 < beta < math.inf:
        raise layer.invalid(f"has beta {beta:g}; a positive, finite value is expected")
    return (Step("nn.softmax", SoftmaxAttrs(beta), (layer.data(0),), layer.output()),)


def _add(layer: Layer) -> tuple[Step, ...]:
    layer.expect_inputs(2)
    options = layer.options(AddOptions, BuiltinOptions.AddOptions, required=False)
    attrs = AddAttrs(layer.activation(options))
    return (Step("add", attrs, (layer.data(0), layer.data(1)), layer.output()),)


def _reshape(layer: Layer) -> tuple[Step, ...]:
    layer.expect_inputs(1, 2)
    data, output = layer.data(0), layer.output()
    options = layer.options(ReshapeOptions, BuiltinOptions.ReshapeOptions, required=False)
    # As in LiteRT the second input, where there is one, wins over the option.
    stated = _integers(layer, 1) if layer.has_input(1) else options.integers("NewShape")
    shape = output.type.shape
    matches = len(stated) == len(shape) and all(
        found in (-1, size) for found, size in zip(stated, shape, strict=True)
    )
    if not matches or stated.count(-1) > 1:
        raise layer.invalid(
            f"asks for the shape {_cut(stated)}, but its output is declared {output.type}"
        )
    return _reshaped(layer, data, shape)


def _squeeze(layer: Layer) -> tuple[Step, ...]:
    layer.expect_inputs(1)
    data = layer.data(0)
    options = layer.options(SqueezeOptions, BuiltinOptions.SqueezeOptions, required=False)
    shape, rank = data.type.shape, len(data.type.shape)
    stated = options.integers("SqueezeDims")
    axes = {_axis(layer, axis, rank) for axis in stated}
    if not stated:
        axes = {axis for axis, size in enumerate(shape) if size == 1}
    if any(shape[axis] != 1 for axis in axes):
        raise layer.invalid(
            f"removes the axes {sorted(axes)} of {data.type}, which are not all of size 1"
        )
    return _reshaped(layer, data, tuple(n for axis, n in enumerate(shape) if axis not in axes))


def _expand_dims(layer: Layer) -> tuple[Step, ...]:
    layer.expect_inputs(2)
    data, stated = layer.data(0), _integers(layer, 1)
    if len(stated) != 1:
        raise layer.invalid(f"has {len(stated)} axes; one is expected")
    axis = _axis(layer, stated[0], len(data.type.shape) + 1)
    return _reshaped(layer, data, (*data.type.shape[:axis], 1, *data.type.shape[axis:]))


def _reshaped(layer: Layer, data: Tensor, shape: Shape) -> tuple[Step, ...]:
    return (Step("reshape", ReshapeAttrs(shape), (data,), layer.output()),)


def _pad(layer: Layer) -> tuple[Step, ...]:
    layer.expect_inputs(2)
    data, output = layer.data(0), layer.output()
    # TFLite fills with the stored value that means 0.
    attrs = PadAttrs(_pads(layer, data), output.type.zero_point)
    return (Step("nn.pad", attrs, (data,), output),)


def _padv2(layer: Layer) -> tuple[Step, ...]:
    layer.expect_inputs(3)
    data, output, filler = layer.data(0), layer.output(), layer.data(2)
    if filler.value is None:
        raise layer.unsupported(
            "pads with a value that is computed", supported="a constant value to pad with"
        )
    if filler.value.size != 1 or filler.type.quant != output.type.quant:
        raise layer.invalid(
            f"pads with {filler.type}; one value of the output's quantization is expected"
        )
    attrs = PadAttrs(_pads(layer, data), int(filler.value.flat[0]))
    return (Step("nn.pad", attrs, (data,), output),)


def _pads(layer: Layer, data: Tensor) -> tuple[Pair, ...]:
    amounts, rank = layer.integers(1), len(data.type.shape)
    if amounts.shape != (rank, 2):
        raise layer.invalid(
            f"has paddings of shape {list(amounts.shape)}; [{rank}, 2] is expected for {data.type}"
        )
    if amounts.size and amounts.min() < 0:
        raise layer.invalid(f"has the negative padding {amounts.min()}")
    return tuple((int(before), int(after)) for before, after in amounts)


def _relu(activation: Activation) -> Importer:
    def importer(layer: Layer) -> tuple[Step, ...]:
        layer.expect_inputs(1)
        return (Step("clip", ClipAttrs(activation), (layer.data(0),), layer.output()),)

    return importer


def _strides(layer: Layer, options: Options) -> Pair:
    return layer.positive_pair(options, "StrideH", "StrideW")


def _dilation(layer: Layer, options: Options) -> Pair:
    return layer.positive_pair(options, "DilationHFactor", "DilationWFactor")


def _integers(layer: Layer, position: int) -> tuple[int, ...]:
    return tuple(layer.integers(position).reshape(-1).tolist())


def _axis(layer: Layer, axis: int, rank: int) -> int:
    if not -rank <= axis < rank:
        raise layer.invalid(f"has the axis {axis}; {-rank} to {rank - 1} are expected")
    return axis % rank


def _cut(values: tuple[int, ...]) -> str:
    shown = ", ".join(map(str, values[:8]))
    return f"[{shown}, ...]" if len(values) > 8 else f"[{shown}]"


IMPORTERS: Mapping[str, Importer] = MappingProxyType(
    {
        "ADD": _add,
        "AVERAGE_POOL_2D": _average_pool2d,
        "CONV_2D": _conv2d,
        "DEPTHWISE_CONV_2D": _depthwise_conv2d,
        "EXPAND_DIMS": _expand_dims,
        "FULLY_CONNECTED": _fully_connected,
        "MAX_POOL_2D": _max_pool2d,
        "PAD": _pad,
        "PADV2": _padv2,
        "RELU": _relu(Activation.RELU),
        "RELU6": _relu(Activation.RELU6),
        "RELU_N1_TO_1": _relu(Activation.RELU_N1_TO_1),
        "RESHAPE": _reshape,
        "SOFTMAX": _softmax,
        "SQUEEZE": _squeeze,
    }
)
