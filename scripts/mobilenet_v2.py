"""MobileNetV2 with random weights, as an int8 .tflite file: a network that is large for a
microcontroller, to measure memory with.

    python -m scripts.mobilenet_v2 mobilenet_v2.tflite

The shapes are those of Sandler et al., "MobileNetV2: Inverted Residuals and Linear Bottlenecks"
(2018), table 2, with a head of 10 classes. By default the width is 0.35 and images are 224 x 224.
Everything is computed from integers, or elementwise, so all machines write the same bytes.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import tflite

CHECKOUT = Path(__file__).resolve().parent.parent
if str(CHECKOUT) not in sys.path:
    sys.path.insert(0, str(CHECKOUT))

from tests.support.tflite_builder import OperatorSpec, TensorSpec, build_model  # noqa: E402

Array = npt.NDArray[Any]

WIDTH, SIZE, CLASSES = 0.35, 224, 10
STEM, LAST = 32, 1280
IMAGES = 2
# Expansion, channels, blocks and the first block's stride of each stage.
STAGES = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)
RELU6 = 6 / 255  # the scale of values from 0 to 6
_MIDDLE, _SPREAD = 2.0, 1.5  # means and deviations of a ReLU6's inputs: few values saturate
_LINEAR_SPREAD, _LARGEST_SCORE = 1.0, 4.0


def channels(count: float) -> int:
    """A count of channels as the paper's authors round it: to a multiple of 8 that is at most a
    tenth less."""
    rounded = max(8, int(count + 4) // 8 * 8)
    return rounded + 8 if rounded < 0.9 * count else rounded


@dataclass
class Tensor:
    """An activation: its name, and the int8 values [images, height, width, channels] that random
    images give, with their scale and zero point."""

    name: str
    values: Array
    scale: float
    zero: int


@dataclass
class Net:
    """The network in the making."""

    random: np.random.RandomState
    tensors: list[TensorSpec] = field(default_factory=list)
    operators: list[OperatorSpec] = field(default_factory=list)

    def image(self, height: int, width: int, depth: int) -> Tensor:
        """The input: images of random blocks, so that neighbours are alike, with noise."""
        coarse = self.random.randint(-100, 100, (IMAGES, -(-height // 8), -(-width // 8), depth))
        blocks = coarse.repeat(8, 1).repeat(8, 2)[:, :height, :width]
        values = blocks + self.random.randint(-28, 28, blocks.shape)
        return self._activation("image", values.astype(np.int8), 1 / 128, 0)

    def convolution(
        self, name: str, data: Tensor, count: int, kernel: int = 1, stride: int = 1, relu: int = 1
    ) -> Tensor:
        """A convolution with SAME padding, with a ReLU6 or linear."""
        depth = data.values.shape[3]
        weights = self._weights((count, kernel, kernel, depth))
        columns = _windows(data, kernel, stride)
        sums = columns.reshape(*columns.shape[:3], -1) @ weights.reshape(count, -1).T.astype(float)
        return self._summed(name, "CONV_2D", data, weights, sums, stride, bool(relu))

    def depthwise(self, name: str, data: Tensor, stride: int) -> Tensor:
        """A 3x3 depthwise convolution with SAME padding and a ReLU6."""
        weights = self._weights((1, 3, 3, data.values.shape[3]))
        sums = (_windows(data, 3, stride) * weights.reshape(9, -1)).sum(3)
        return self._summed(name, "DEPTHWISE_CONV_2D", data, weights, sums, stride, True)

    def add(self, name: str, left: Tensor, right: Tensor) -> Tensor:
        """The sum of two tensors, with a scale for its range."""
        reals = _reals(left) + _reals(right)
        scale, zero = _of_range(reals)
        made = self._activation(name, _quantized(reals, scale, zero), scale, zero)
        self._operator("ADD", [left, right], made, "AddOptions", {"fusedActivationFunction": 0})
        return made

    def mean(self, name: str, data: Tensor) -> Tensor:
        """The mean over height and width: [1, channels]."""
        reals = data.scale * (
            data.values.astype(np.int64).sum((1, 2)) / data.values[0, :, :, 0].size
        )
        reals -= data.scale * data.zero
        scale, zero = _of_range(reals)
        made = self._activation(name, _quantized(reals, scale, zero), scale, zero)
        axes = self._constant(f"{name}/axes", np.array([1, 2], np.int32), (), 0)
        self._operator("MEAN", [data, axes], made, "ReducerOptions", {"keepDims": False})
        return made

    def dense(self, name: str, data: Tensor, count: int) -> Tensor:
        """A fully connected layer, whose results are scores. Its bias takes away what the images
        have in common, so that the scores depend on the image."""
        weights = self._weights((count, data.values.shape[1]))
        sums = (data.values.astype(np.int64) - data.zero) @ weights.astype(np.int64).T
        # The mean of the images, in integers, so that all machines write the same bytes.
        bias = -(sums.sum(0) // len(sums))
        scales = np.full(1, _LARGEST_SCORE / (data.scale * np.abs(sums + bias).max()))
        reals = (sums + bias) * (data.scale * scales)
        scale, zero = _of_range(reals)
        made = self._activation(name, _quantized(reals, scale, zero), scale, zero)
        constants = self._constants(name, weights, bias, scales, data.scale, 0)
        self._operator("FULLY_CONNECTED", [data, *constants], made, "FullyConnectedOptions", {})
        return made

    # TFLite's quantization specification fixes scale and zero point of the results of both.
    def softmax(self, name: str, data: Tensor) -> Tensor:
        """Probabilities."""
        made = self._activation(name, np.zeros_like(data.values), 1 / 256, -128)
        self._operator("SOFTMAX", [data], made, "SoftmaxOptions", {"beta": 1.0})
        return made

    def sigmoid(self, name: str, data: Tensor) -> Tensor:
        """A probability of each class, independent of the others."""
        made = self._activation(name, np.zeros_like(data.values), 1 / 256, -128)
        self._operator("LOGISTIC", [data], made, "", {})
        return made

    def _weights(self, shape: tuple[int, ...]) -> Array:
        return self.random.randint(-127, 128, shape).astype(np.int8)

    def _summed(
        self,
        name: str,
        code: str,
        data: Tensor,
        weights: Array,
        sums: Array,
        stride: int,
        relu: bool,
    ) -> Tensor:
        """A layer with these sums. Each channel has a scale and a bias that set the mean and the
        spread of its values, so no channel is always 0 or always 6."""
        flat = sums.reshape(-1, sums.shape[3])
        # Otherwise channels of random weights would always be 0 or always 6.
        middle, spread = (_MIDDLE, _SPREAD) if relu else (0.0, _LINEAR_SPREAD)
        lowest, highest = flat.min(0), flat.max(0)
        scales = (4 * spread / np.maximum(highest - lowest, 1) / data.scale).astype(np.float32)
        units = data.scale * scales.astype(float)
        bias = np.rint(middle / units - (lowest + highest) / 2)
        reals = (sums + bias) * units
        scale, zero = (RELU6, -128) if relu else _of_range(reals)
        made = self._activation(name, _quantized(reals, scale, zero), scale, zero)
        axis = 3 if code.startswith("DEPTHWISE") else 0
        constants = self._constants(name, weights, bias, scales, data.scale, axis)
        options: dict[str, Any] = {
            "padding": tflite.Padding.SAME,
            "strideH": stride,
            "strideW": stride,
            # 3 is RELU6, 0 is NONE (ActivationFunctionType of TFLite's schema).
            "fusedActivationFunction": 3 if relu else 0,
            "dilationHFactor": 1,
            "dilationWFactor": 1,
        }
        kind = "Conv2DOptions"
        if axis:
            kind, options["depthMultiplier"] = "DepthwiseConv2DOptions", 1
        self._operator(code, [data, *constants], made, kind, options)
        return made

    def _activation(self, name: str, values: Array, scale: float, zero: int) -> Tensor:
        # As the file has it, because the values of later layers are computed from this scale.
        single = float(np.float32(scale))
        self.tensors.append(
            TensorSpec(name, (1, *values.shape[1:]), scale=(single,), zero_point=(zero,))
        )
        return Tensor(name, values, single, zero)

    def _constants(
        self, name: str, weights: Array, bias: Array, scales: Array, data: float, axis: int
    ) -> list[str]:
        single = scales.astype(np.float32)
        # TFLite's scale of a bias: the product of the scales of data and weights.
        sums = (single.astype(float) * data).astype(np.float32)
        return [
            self._constant(f"{name}/weights", weights, tuple(map(float, single)), axis),
            self._constant(f"{name}/bias", bias.astype(np.int32), tuple(map(float, sums)), 0),
        ]

    def _constant(self, name: str, array: Array, scale: tuple[float, ...], axis: int) -> str:
        zeros = (0,) * len(scale)
        self.tensors.append(
            TensorSpec(name, array.shape, array.dtype.name, array, scale, zeros, axis)
        )
        return name

    def _operator(
        self,
        code: str,
        inputs: list[Any],
        output: Tensor,
        kind: str,
        options: dict[str, Any],
    ) -> None:
        names = [getattr(value, "name", value) for value in inputs]
        self.operators.append(OperatorSpec(code, names, [output.name], kind, options))


def _windows(data: Tensor, kernel: int, stride: int) -> Array:
    """float64 [images, rows, columns, kernel * kernel, channels]: the integers in each window, with
    SAME padding, less the zero point. Sums of their products with weights are exact, in any order.
    """
    (rows, *rows_pads), (columns, *columns_pads) = (
        _same(size, kernel, stride) for size in data.values.shape[1:3]
    )
    pads = ((0, 0), tuple(rows_pads), tuple(columns_pads), (0, 0))
    centred = np.pad(data.values.astype(float) - data.zero, pads)
    every = [
        centred[:, y : y + rows * stride : stride, x : x + columns * stride : stride]
        for y in range(kernel)
        for x in range(kernel)
    ]
    return np.stack(every, 3)


def _same(size: int, kernel: int, stride: int) -> tuple[int, int, int]:
    """The size of the output along an axis, and the padding before and after the data."""
    out = -(-size // stride)
    both = max(0, (out - 1) * stride + kernel - size)
    return out, both // 2, both - both // 2


def _reals(data: Tensor) -> Array:
    return (data.values.astype(float) - data.zero) * data.scale


def _of_range(reals: Array) -> tuple[float, int]:
    """Scale and zero point of int8 values for the range of these numbers and 0."""
    low, high = min(0.0, float(reals.min())), max(0.0, float(reals.max()))
    scale = float(np.float32(max(high - low, 1e-3) / 255))
    return scale, int(np.clip(np.rint(-128 - low / scale), -128, 127))


def _quantized(reals: Array, scale: float, zero: int) -> Array:
    return np.clip(np.rint(reals / scale) + zero, -128, 127).astype(np.int8)


def model(width: float = WIDTH, size: int = SIZE, classes: int = CLASSES, seed: int = 0) -> bytes:
    """The bytes of the .tflite file: input int8 [1, size, size, 3], output int8 [1, classes]."""
    # RandomState's stream is frozen by numpy's compatibility policy; default_rng's is not.
    net = Net(np.random.RandomState(seed))
    image = net.image(size, size, 3)
    data = net.convolution("stem", image, channels(STEM * width), 3, 2)
    number = 0
    for expansion, count, blocks, first in STAGES:
        for block in range(blocks):
            number += 1
            stride = 1 if block else first
            data = _block(net, f"block{number}", data, expansion, channels(count * width), stride)
    data = net.convolution("last", data, max(LAST, channels(LAST * width)))
    scores = net.dense("scores", net.mean("mean", data), classes)
    net.softmax("probabilities", scores)
    return build_model(net.tensors, net.operators, ["image"], ["probabilities"])


def _block(net: Net, name: str, data: Tensor, expansion: int, count: int, stride: int) -> Tensor:
    """An inverted residual: expand, filter each channel, project; and add the input, if it has the
    result's shape."""
    inner, depth = data, data.values.shape[3]
    if expansion > 1:
        inner = net.convolution(f"{name}/expand", inner, depth * expansion)
    inner = net.depthwise(f"{name}/depthwise", inner, stride)
    made = net.convolution(f"{name}/project", inner, count, relu=0)
    if stride == 1 and depth == count:
        made = net.add(f"{name}/add", data, made)
    return made


def main() -> None:
    """Writes the file that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("file", type=Path)
    parser.add_argument("--width", type=float, default=WIDTH)
    parser.add_argument("--size", type=int, default=SIZE)
    arguments = parser.parse_args()
    arguments.file.write_bytes(model(arguments.width, arguments.size))


if __name__ == "__main__":
    main()
