"""Random small networks as .tflite files: odd shapes, extreme quantization, branches, shared
inputs, outputs that are used inside. The same seed gives the same file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tflite

from microgen.errors import MicrogenError
from microgen.frontends import tflite as frontend
from microgen.numerics import profile
from tests.differential.network import Network
from tests.tflite_builder import OptionValue, TensorSpec

MAX_LAYERS = 8
MAX_ELEMENTS = 4096
Maker = Callable[[Network], None]


def _window(net: Network, data: str) -> tuple[dict[str, OptionValue], tuple[int, int], Any]:
    """Options of a window that leaves an output, the kernel's size, and the output's size."""
    rng, size = net.rng, np.array(net.tensors[data].shape[1:3])
    kernel, stride = rng.integers(1, 5, 2), rng.integers(1, 4, 2)
    dilation = rng.integers(1, 3, 2) if rng.random() < 0.3 else np.array([1, 1])
    same = bool(rng.random() < 0.6)
    cover = (kernel - 1) * dilation + 1
    out = -(-size // stride) if same else (size - cover) // stride + 1
    if out.min() < 1:
        raise IndexError("no output")
    options: dict[str, OptionValue] = {
        "padding": tflite.Padding.SAME if same else tflite.Padding.VALID,
        "strideH": int(stride[0]),
        "strideW": int(stride[1]),
        "dilationHFactor": int(dilation[0]),
        "dilationWFactor": int(dilation[1]),
        "fusedActivationFunction": net.fused(),
    }
    return options, (int(kernel[0]), int(kernel[1])), tuple(map(int, out))


def _conv2d(net: Network) -> None:
    data = net.pick(rank=4)
    options, kernel, (height, width) = _window(net, data)
    batches, _, _, depth = net.tensors[data].shape
    filters = int(net.rng.integers(1, 9))
    weight, bias = net.weight((filters, *kernel, depth), 0, data)
    output = net.activation((batches, height, width, filters))
    net.add("CONV_2D", [data, weight, bias], output, "Conv2DOptions", options)


def _depthwise(net: Network) -> None:
    data = net.pick(rank=4)
    options, kernel, (height, width) = _window(net, data)
    batches, _, _, depth = net.tensors[data].shape
    multiplier = int(net.rng.integers(1, 4))
    weight, bias = net.weight((1, *kernel, depth * multiplier), 3, data)
    options["depthMultiplier"] = multiplier
    output = net.activation((batches, height, width, depth * multiplier))
    inputs: list[str | int] = [data, weight, bias]  # LiteRT wants one here
    net.add("DEPTHWISE_CONV_2D", inputs, output, "DepthwiseConv2DOptions", options)


def _transpose_conv(net: Network) -> None:
    data = net.pick(rank=4)
    batches, *size, depth = net.tensors[data].shape
    rng, filters = net.rng, int(net.rng.integers(1, 9))
    kernel, stride = rng.integers(1, 5, 2), rng.integers(1, 4, 2)
    same = bool(rng.random() < 0.6)
    # The least output that a convolution makes this data of, and what its last stride may skip.
    least = (np.array(size) - 1) * stride + (1 if same else kernel)
    shape = (batches, *(int(n) for n in least + rng.integers(0, stride)), filters)
    weight, bias = net.weight((filters, int(kernel[0]), int(kernel[1]), depth), 0, data)
    options: dict[str, OptionValue] = {
        "padding": tflite.Padding.SAME if same else tflite.Padding.VALID,
        "strideH": int(stride[0]),
        "strideW": int(stride[1]),
        "fusedActivationFunction": net.fused(),
    }
    inputs: list[str | int] = [net.constant(np.array(shape, np.int32)), weight, data]
    inputs += [bias] if rng.random() < 0.7 else []
    output = net.activation(shape)
    net.add("TRANSPOSE_CONV", inputs, output, "TransposeConvOptions", options)


def _dense(net: Network) -> None:
    data = net.pick()
    shape = net.tensors[data].shape
    features = int(net.rng.integers(1, 9))
    weight, bias = net.weight((features, shape[-1]), 0, data)
    rows = int(np.prod(shape[:-1]))
    keep = bool(net.rng.random() < 0.3)
    output = net.activation((*shape[:-1], features) if keep else (rows, features))
    options = {"fusedActivationFunction": net.fused(), "keepNumDims": keep}
    bias_or_none = bias if net.rng.random() < 0.8 else -1
    inputs: list[str | int] = [data, weight, bias_or_none]
    net.add("FULLY_CONNECTED", inputs, output, "FullyConnectedOptions", options)


def _pool(net: Network) -> None:
    data = net.pick(rank=4)
    options, kernel, (height, width) = _window(net, data)
    if options.pop("dilationHFactor") != 1 or options.pop("dilationWFactor") != 1:
        raise IndexError("pools have no dilation")
    batches, _, _, depth = net.tensors[data].shape
    options |= {"filterHeight": kernel[0], "filterWidth": kernel[1]}
    output = net.activation((batches, height, width, depth), like=data)
    code = str(net.rng.choice(["AVERAGE_POOL_2D", "MAX_POOL_2D"]))
    net.add(code, [data], output, "Pool2DOptions", options)


def _add(net: Network) -> None:
    lhs = net.pick()
    shape = net.tensors[lhs].shape
    partners = [n for n in [*net.inputs, *net.computed] if net.tensors[n].shape == shape]
    rhs = str(net.rng.choice(partners))
    if net.rng.random() < 0.3:
        kept = tuple(n if net.rng.random() < 0.5 else 1 for n in shape)
        scale = (float(np.float32(2.0 ** net.rng.uniform(-7, 0))),)
        values = net.rng.integers(-128, 128, kept).astype(np.int8)
        rhs = net.constant(values, scale=scale, zero_point=(int(net.rng.integers(-128, 128)),))
    operands: list[str | int] = [lhs, rhs] if net.rng.random() < 0.5 else [rhs, lhs]
    options = {"fusedActivationFunction": net.fused()}
    net.add("ADD", operands, net.activation(shape), "AddOptions", options)


def _relu(net: Network) -> None:
    data = net.pick()
    same = net.rng.random() < 0.5
    output = net.activation(net.tensors[data].shape, like=data if same else "")
    net.add(str(net.rng.choice(["RELU", "RELU6", "RELU_N1_TO_1"])), [data], output)


def _reshape(net: Network) -> None:
    data = net.pick()
    shape = net.tensors[data].shape
    size = int(np.prod(shape))
    target = [(size,), (1, size), (1, 1, 1, size), (1, *shape), shape][int(net.rng.integers(5))]
    if len(target) > 4:
        raise IndexError("rank")
    stated = net.constant(np.array(target, np.int32))
    net.add("RESHAPE", [data, stated], net.activation(target, like=data))


def _pad(net: Network) -> None:
    data = net.pick()
    shape = net.tensors[data].shape
    amounts = net.rng.integers(0, 3, (len(shape), 2)).astype(np.int32)
    padded = tuple(int(n) for n in np.array(shape) + amounts.sum(axis=1))
    paddings = net.constant(amounts)
    net.add("PAD", [data, paddings], net.activation(padded, like=data), "PadOptions")


def _softmax(net: Network) -> None:
    data = net.pick()
    output = net.activation(net.tensors[data].shape)
    spec = net.tensors[output]
    net.tensors[output] = TensorSpec(output, spec.shape, scale=(1 / 256,), zero_point=(-128,))
    options = {"beta": float(net.rng.choice([1.0, 0.5, 2.0]))}
    net.add("SOFTMAX", [data], output, "SoftmaxOptions", options)


_FIXED_OUTPUT = {"LOGISTIC": -128, "TANH": 0, "LOG_SOFTMAX": 127}
_FIXED_SCALE = {"LOGISTIC": 1 / 256, "TANH": 1 / 128, "LOG_SOFTMAX": 16 / 256}
_UNARY = ("ABS", "EXP", "HARD_SWISH", "LOGISTIC", "TANH", "LOG_SOFTMAX", "QUANTIZE")


def _unary(net: Network) -> None:
    data = net.pick()
    code = str(net.rng.choice(_UNARY))
    output = net.activation(net.tensors[data].shape)
    if code in _FIXED_OUTPUT:
        scale, zero_point = (_FIXED_SCALE[code],), (_FIXED_OUTPUT[code],)
        shape = net.tensors[output].shape
        net.tensors[output] = TensorSpec(output, shape, scale=scale, zero_point=zero_point)
    net.add(code, [data], output)


def _leaky_relu(net: Network) -> None:
    data = net.pick()
    options = {"alpha": float(np.float32(net.rng.uniform(0.01, 0.9)))}
    output = net.activation(net.tensors[data].shape)
    net.add("LEAKY_RELU", [data], output, "LeakyReluOptions", options)


_BINARY = {
    "SUB": "SubOptions",
    "MUL": "MulOptions",
    "MAXIMUM": "MaximumMinimumOptions",
    "MINIMUM": "MaximumMinimumOptions",
    "SQUARED_DIFFERENCE": "SquaredDifferenceOptions",
}


def _binary(net: Network) -> None:
    lhs = net.pick()
    shape = net.tensors[lhs].shape
    code = str(net.rng.choice(list(_BINARY)))
    same = code in ("MAXIMUM", "MINIMUM")  # operands and output of one quantization
    kept = tuple(n if net.rng.random() < 0.7 else 1 for n in shape)
    like = net.tensors[lhs]
    scale = like.scale if same else (float(np.float32(2.0 ** net.rng.uniform(-7, 0))),)
    zero_point = like.zero_point if same else (int(net.rng.integers(-128, 128)),)
    values = net.rng.integers(-128, 128, kept).astype(np.int8)
    rhs = net.constant(values, scale=scale, zero_point=zero_point)
    options = {"fusedActivationFunction": net.fused()} if code in ("SUB", "MUL") else {}
    output = net.activation(shape, like=lhs if same else "")
    net.add(code, [lhs, rhs], output, _BINARY[code], options)


def _concatenate(net: Network) -> None:
    first = net.pick()
    shape, like = net.tensors[first].shape, net.tensors[first]
    axis = int(net.rng.integers(len(shape)))
    other = (*shape[:axis], int(net.rng.integers(1, 4)), *shape[axis + 1 :])
    values = net.rng.integers(-128, 128, other).astype(np.int8)
    second = net.constant(values, scale=like.scale, zero_point=like.zero_point)
    joined = (*shape[:axis], shape[axis] + other[axis], *shape[axis + 1 :])
    inputs: list[str | int] = [first, second, first] if net.rng.random() < 0.3 else [second, first]
    if len(inputs) == 3:
        joined = (*shape[:axis], joined[axis] + shape[axis], *shape[axis + 1 :])
    output = net.activation(joined, like=first)
    net.add("CONCATENATION", inputs, output, "ConcatenationOptions", {"axis": axis})


def _reduce(net: Network) -> None:
    data = net.pick()
    shape = net.tensors[data].shape
    axes = sorted({int(n) for n in net.rng.integers(0, len(shape), net.rng.integers(1, 4))})
    keep = bool(net.rng.random() < 0.5)
    code = str(net.rng.choice(["MEAN", "SUM", "REDUCE_MAX"]))
    reduced = tuple(1 if i in axes else n for i, n in enumerate(shape) if keep or i not in axes)
    if not reduced:
        raise IndexError("a scalar")
    output = net.activation(reduced, like=data if code == "REDUCE_MAX" else "")
    where = net.constant(np.array(axes, np.int32))
    net.add(code, [data, where], output, "ReducerOptions", {"keepDims": keep})


def _transpose(net: Network) -> None:
    data = net.pick()
    shape = net.tensors[data].shape
    order = net.rng.permutation(len(shape)).astype(np.int32)
    output = net.activation(tuple(shape[i] for i in order), like=data)
    net.add("TRANSPOSE", [data, net.constant(order)], output, "TransposeOptions")


def _slice(net: Network) -> None:
    data = net.pick()
    shape = np.array(net.tensors[data].shape)
    begin = (net.rng.random(len(shape)) * shape).astype(np.int32)
    size = (1 + net.rng.random(len(shape)) * (shape - begin - 1)).astype(np.int32)
    output = net.activation(tuple(map(int, size)), like=data)
    net.add("SLICE", [data, net.constant(begin), net.constant(size)], output, "SliceOptions")


def _strided_slice(net: Network) -> None:
    data = net.pick()
    shape = np.array(net.tensors[data].shape)
    begin = (net.rng.random(len(shape)) * shape).astype(np.int32)
    strides = net.rng.integers(1, 4, len(shape)).astype(np.int32)
    sizes = -(-(shape - begin) // strides)
    inputs: list[str | int] = [data, *(net.constant(a) for a in (begin, shape.astype(np.int32)))]
    output = net.activation(tuple(map(int, sizes)), like=data)
    net.add("STRIDED_SLICE", [*inputs, net.constant(strides)], output, "StridedSliceOptions")


def _resize(net: Network) -> None:
    data = net.pick(rank=4)
    batches, _, _, depth = net.tensors[data].shape
    height, width = (int(n) for n in net.rng.integers(1, 9, 2))
    code = str(net.rng.choice(["RESIZE_NEAREST_NEIGHBOR", "RESIZE_BILINEAR"]))
    table = {"RESIZE_BILINEAR": "ResizeBilinearOptions"}.get(code, "ResizeNearestNeighborOptions")
    options = [{}, {"alignCorners": True}, {"halfPixelCenters": True}][int(net.rng.integers(3))]
    output = net.activation((batches, height, width, depth), like=data)
    size = net.constant(np.array([height, width], np.int32))
    net.add(code, [data, size], output, table, options)


# Some twice: what networks are mostly made of.
MAKERS: tuple[Maker, ...] = (
    *(_conv2d, _conv2d, _depthwise, _depthwise, _dense, _dense, _pool, _add, _add, _relu),
    *(_reshape, _pad, _softmax, _unary, _unary, _leaky_relu, _binary, _binary, _concatenate),
    *(_reduce, _transpose, _slice, _strided_slice, _resize, _transpose_conv),
)


def generate(seed: int) -> tuple[Network, list[str]]:
    """A network that the frontend accepts, and the tensors that are its outputs."""
    rng = np.random.default_rng(seed)
    net = Network(rng)
    for _ in range(1 + int(rng.random() < 0.3)):
        shape = (1, *(int(n) for n in rng.choice([1, 2, 3, 5, 6, 8], 3)))
        net.inputs.append(net.activation(shape))
    for _ in range(200):
        if len(net.operators) == MAX_LAYERS or (net.operators and rng.random() < 0.1):
            break
        _try(net, MAKERS[int(rng.integers(len(MAKERS)))])
    inner = [name for name in net.computed[:-1] if rng.random() < 0.15]
    return net, [*inner, net.computed[-1]]


def _try(net: Network, maker: Maker) -> None:
    """Add a layer, unless nothing fits it or microgen says why it will not have it."""
    tensors, operators = dict(net.tensors), list(net.operators)
    try:
        maker(net)
        last = net.computed[-1]
        if np.prod(net.tensors[last].shape) > MAX_ELEMENTS:
            raise IndexError("too large")
        frontend.load(net.model([last]), file="x.tflite", numerics=profile("litert"))
    except (IndexError, MicrogenError):
        net.tensors, net.operators = tensors, operators
