"""CONV_2D, DEPTHWISE_CONV_2D and TRANSPOSE_CONV."""

from __future__ import annotations

import struct

import numpy as np
import tflite

from tests.differential import stock
from tests.differential.makers import ALL, Maker, pick_data
from tests.differential.network import Network
from tests.differential.windows import padding, random_window
from tests.support.tflite_builder import OperatorSpec, OptionValue


def _conv2d(net: Network, code: str, dtype: str) -> None:
    data = pick_data(net, dtype, 4)
    window = random_window(net, data)
    batches, _, _, depth = net.shape(data)
    groups = 1 if dtype == "hybrid" and net.chance(0.8) else _groups(net, depth)
    filters = stock.depth(net.rng) * groups
    wide, declared = _bias_type(net, dtype)
    shape = (filters, *window.kernel, depth // groups)
    weights = net.weight(shape, 0, data, dtype, wide=wide, each=groups > 1)
    net.sometimes_packed(weights[0])
    output = net.output(net.dtype(data), (batches, *window.output, filters))
    net.add(code, [data, *weights], output, "Conv2DOptions", {**window.options, **declared})


def _groups(net: Network, depth: int) -> int:
    return int(net.one_of([n for n in range(1, 5) if depth % n == 0])) if net.chance(0.2) else 1


def _bias_type(net: Network, dtype: str) -> tuple[bool, dict[str, OptionValue]]:
    """Whether biases are int64, and the option that declares their type, which int32 ones need."""
    if dtype != "int16":
        return False, {}
    if net.chance(0.3):
        return False, {"quantizedBiasType": tflite.TensorType.INT32}
    return True, {}


def _depthwise(net: Network, code: str, dtype: str) -> None:
    data = pick_data(net, dtype, 4)
    window = random_window(net, data)
    batches, _, _, depth = net.shape(data)
    multiplier = int(net.rng.integers(1, 4))
    filters = depth * multiplier
    hybrid, shape = dtype == "hybrid", (1, *window.kernel, filters)
    weights = net.weight(shape, 3, data, dtype, wide=dtype == "int16", each=hybrid)
    if dtype == "int8":
        net.sometimes_packed(weights[0])
    options = {**window.options, "depthMultiplier": multiplier}
    output = net.output(net.dtype(data), (batches, *window.output, filters))
    net.add(code, [data, *weights], output, "DepthwiseConv2DOptions", options)


def _conv3d(net: Network, code: str, dtype: str) -> None:
    data = net.pick(dtype, 5)
    batches, *size, depth = net.shape(data)
    same, filters = net.chance(0.5), stock.depth(net.rng)
    kernel = [int(net.rng.integers(1, min(n, 3) + 1)) for n in size]
    strides = [int(n) for n in net.rng.integers(1, 3, 3)]
    room = [n if same else n - k + 1 for n, k in zip(size, kernel, strict=True)]
    final = [-(-n // by) for n, by in zip(room, strides, strict=True)]
    weights = net.weight((*kernel, depth, filters), 4, data, dtype)
    options = {**padding(same), **{f"stride{a}": n for a, n in zip("DHW", strides, strict=True)}}
    options["fusedActivationFunction"] = net.fused()
    output = net.output(dtype, (batches, *final, filters))
    net.add(code, [data, *weights], output, "Conv3DOptions", options)


def _transpose_conv(net: Network, code: str, dtype: str) -> None:
    data = pick_data(net, dtype, 4)
    batches, *size, depth = net.shape(data)
    rng, filters = net.rng, stock.depth(net.rng)
    kernel, stride = rng.integers(1, 5, 2), rng.integers(1, 4, 2)
    same = net.chance(0.6)
    # The least output size for which a convolution gives this data; its last stride may skip more.
    least = (np.array(size) - 1) * stride + (1 if same else kernel)
    shape = (batches, *(int(n) for n in least + rng.integers(0, stride)), filters)
    wide, declared = _bias_type(net, dtype)
    weight_shape = (filters, *map(int, kernel), depth)
    weight, bias = net.weight(weight_shape, 0, data, dtype, wide=wide)
    options = {**padding(same), **declared, "strideH": int(stride[0]), "strideW": int(stride[1])}
    options["fusedActivationFunction"] = net.fused()
    biases = [bias] if net.chance(0.7) else []
    inputs = [net.constant(np.array(shape, np.int32)), weight, data, *biases]
    net.add(code, inputs, net.output(net.dtype(data), shape), "TransposeConvOptions", options)


def _transpose_conv_bias(net: Network, code: str, dtype: str) -> None:
    data = net.pick(dtype, 4)
    batches, *size, depth = net.shape(data)
    kernel, stride = (tuple(map(int, net.rng.integers(1, 5, 2))) for _ in range(2))
    same, filters = net.chance(0.6), stock.depth(net.rng)
    cut = [max(0, k - (n - 1) % s - 1) * same for n, k, s in zip(size, kernel, stride, strict=True)]
    grown = [s * (n - 1) + k - c for n, k, s, c in zip(size, kernel, stride, cut, strict=True)]
    weights = net.weight((filters, *kernel, depth), 0, data, dtype)
    options = struct.pack("<iii", 1 if same else 2, stride[1], stride[0])
    output = net.output(dtype, (batches, *grown, filters))
    custom = code.removeprefix("CUSTOM:")
    net.operators.append(
        OperatorSpec(
            "CUSTOM", [data, *weights], [output], custom_code=custom, custom_options=options
        )
    )


MAKERS = (
    Maker(("CONV_3D",), ("float32",), _conv3d),
    Maker(("CONV_2D",), (*ALL, "hybrid"), _conv2d, often=3),
    Maker(("DEPTHWISE_CONV_2D",), (*ALL, "hybrid"), _depthwise, often=3),
    Maker(("CUSTOM:Convolution2DTransposeBias",), ("float32",), _transpose_conv_bias),
    Maker(("TRANSPOSE_CONV",), (*ALL, "hybrid"), _transpose_conv, often=2),
)
