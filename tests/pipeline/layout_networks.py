"""Networks in two forms: of NCHW origin, as converters of torch's networks write them, and with
channels last. Both compute the same function, of an input and to an output in the same layout.

``NETWORKS`` describe them with channels last, [N, H, W, C] or [N, L, C]. ``Tflite`` wraps every
layer in transposes for the first form; ``Onnx`` writes NCHW, as torch's exporter does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from tests.support.tflite_builder import OperatorSpec, TensorSpec, build_model

Array = npt.NDArray[Any]
Shape = tuple[int, ...]
Pads = tuple[int, int, int, int]  # top, left, bottom, right
NONE: Pads = (0, 0, 0, 0)


@dataclass(frozen=True)
class Value:
    """A tensor, and its shape with channels last."""

    name: str
    shape: Shape


class Net(Protocol):
    """A network that is written layer by layer."""

    def input(self, *shape: int) -> Value: ...
    def conv(
        self,
        data: Value,
        filters: int,
        size: tuple[int, int],
        *,
        pads: Pads = NONE,
        stride: int = 1,
        dilation: int = 1,
        relu: bool = True,
    ) -> Value: ...
    def depthwise(self, data: Value) -> Value: ...
    def norm(self, data: Value, *, relu: bool = True) -> Value: ...
    def pool(self, data: Value) -> Value: ...
    def mean(self, data: Value) -> Value: ...
    def greatest(self, data: Value) -> Value: ...
    def dense(self, data: Value, units: int) -> Value: ...
    def add(self, left: Value, right: Value) -> Value: ...
    def gate(self, data: Value, gate: Value) -> Value: ...
    def sigmoid(self, data: Value) -> Value: ...
    def joined(self, left: Value, right: Value) -> Value: ...
    def half(self, data: Value, which: int) -> Value: ...
    def last(self, data: Value) -> Value: ...
    def padded(self, data: Value, before: int, after: int) -> Value: ...
    def shuffled(self, data: Value, groups: int) -> Value: ...
    def pixels(self, data: Value, block: int) -> Value: ...


class Weights:
    """Draws the weights of a network, always the same for the same layers."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(5)

    def drawn(self, *shape: int) -> Array:
        return self.rng.uniform(-1, 1, shape).astype(np.float32) / np.float32(
            math.prod(shape[1:]) ** 0.5
        )

    def factors(self, count: int) -> Array:
        return self.rng.uniform(0.5, 1.5, count).astype(np.float32)


def first(shape: Shape) -> tuple[int, ...]:
    """The axes of channels-last data in the order of NCHW."""
    return (0, len(shape) - 1, *range(1, len(shape) - 1))


def as_first(shape: Shape) -> Shape:
    return tuple(shape[axis] for axis in first(shape))


class Tflite:
    """A .tflite network; ``origin`` is "NCHW" or "NHWC", and ``dtype`` float32 or int8."""

    SCALE, WEIGHT = 0.05, 1 / 127

    def __init__(self, origin: str, dtype: str) -> None:
        self.is_first, self.dtype = origin == "NCHW", dtype
        self.tensors: list[TensorSpec] = []
        self.operators: list[OperatorSpec] = []
        self.weights = Weights()

    def input(self, *shape: int) -> Value:
        given = self._tensor("x", as_first(shape))
        if self.is_first:
            return Value(given, shape)
        return Value(self._moved(given, self._to_last(len(shape)), shape), shape)

    def model(self, result: Value) -> bytes:
        """The file. An output of channels has NCHW in both forms."""
        name = result.name
        if not self.is_first and len(result.shape) > 2:
            name = self._moved(name, first(result.shape), as_first(result.shape))
        return build_model(self.tensors, self.operators, ["x"], [name])

    def conv(
        self,
        data: Value,
        filters: int,
        size: tuple[int, int],
        *,
        pads: Pads = NONE,
        stride: int = 1,
        dilation: int = 1,
        relu: bool = True,
    ) -> Value:
        if any(pads):
            data = self._padded(data, pads)
        n, h, w, c = self._image(data.shape)
        rows, columns = (
            (n_ - (k - 1) * dilation - 1) // stride + 1 for n_, k in zip((h, w), size, strict=True)
        )
        weight = self._weight(self.weights.drawn(filters, *size, c))
        options = {
            "strideH": stride,
            "strideW": stride,
            "dilationHFactor": dilation,
            "dilationWFactor": dilation,
        }
        inputs = (self._last(data), weight, self._bias(filters))
        return self._layer("CONV_2D", inputs, (n, rows, columns, filters), data, relu, options)

    def depthwise(self, data: Value) -> Value:
        data = self._padded(data, (1, 1, 1, 1))
        n, h, w, c = self._image(data.shape)
        weight = self._weight(np.moveaxis(self.weights.drawn(c, 3, 3, 1), 0, 3).reshape(1, 3, 3, c))
        options = {"strideH": 1, "strideW": 1, "depthMultiplier": 1}
        inputs = (self._last(data), weight, self._bias(c))
        made = (n, h - 2, w - 2, c)
        return self._layer("DEPTHWISE_CONV_2D", inputs, made, data, True, options)

    def norm(self, data: Value, *, relu: bool = True) -> Value:
        channels = data.shape[-1]
        for code, values in (
            ("MUL", self.weights.factors(channels)),
            ("ADD", self.weights.drawn(channels)),
        ):
            rank = len(data.shape)
            shape = (1, channels, *(1,) * (rank - 2)) if self.is_first else (channels,)
            other = self._constant(values.reshape(shape))
            data = self._same(code, (data.name, other), data, relu and code == "ADD")
        return data

    def pool(self, data: Value) -> Value:
        n, h, w, c = self._image(data.shape)
        size = (1, 2) if h == 1 else (2, 2)
        fields = ("filterHeight", "filterWidth", "strideH", "strideW")
        options = dict(zip(fields, (*size, *size), strict=True))
        made = (n, h // size[0], w // size[1], c)
        return self._layer("MAX_POOL_2D", (self._last(data),), made, data, False, options)

    def mean(self, data: Value) -> Value:
        return self._reduced("MEAN", data)

    def greatest(self, data: Value) -> Value:
        return self._reduced("REDUCE_MAX", data)

    def dense(self, data: Value, units: int) -> Value:
        weight = self.weights.drawn(units, *data.shape[1:])
        if self.is_first:
            weight = weight.transpose(first(weight.shape))
        flat = (1, math.prod(data.shape[1:]))
        name = data.name
        if len(data.shape) > 2:
            name = self._reshaped(name, flat)
        weight = weight.reshape(units, -1)
        inputs = (name, self._weight(weight), self._bias(units))
        made = self._emit("FULLY_CONNECTED", inputs, (1, units))
        return Value(made, (1, units))

    def add(self, left: Value, right: Value) -> Value:
        return self._same("ADD", (left.name, right.name), left, True)

    def gate(self, data: Value, gate: Value) -> Value:
        n, c = gate.shape
        ones = (1,) * (len(data.shape) - 2)
        name = self._reshaped(gate.name, (n, c, *ones) if self.is_first else (n, *ones, c))
        return self._same("MUL", (data.name, name), data, False)

    def sigmoid(self, data: Value) -> Value:
        zero = (1 / 256, -128) if self.dtype == "int8" else None
        return Value(
            self._emit("LOGISTIC", (data.name,), self._own(data.shape), quant=zero), data.shape
        )

    def joined(self, left: Value, right: Value) -> Value:
        shape = (*left.shape[:-1], left.shape[-1] + right.shape[-1])
        axis = {"axis": 1 if self.is_first else len(shape) - 1}
        names = (left.name, right.name)
        return Value(self._emit("CONCATENATION", names, self._own(shape), axis), shape)

    def half(self, data: Value, which: int) -> Value:
        size = data.shape[-1] // 2
        return self._sliced(data, len(data.shape) - 1, which * size, size)

    def last(self, data: Value) -> Value:
        found = self._sliced(data, 1, data.shape[1] - 1, 1)
        shape = (data.shape[0], data.shape[-1])
        return Value(self._reshaped(found.name, shape), shape)

    def padded(self, data: Value, before: int, after: int) -> Value:
        return self._padded(
            data, (0, before, 0, after) if len(data.shape) == 3 else (before, before, after, after)
        )

    def shuffled(self, data: Value, groups: int) -> Value:
        n, *sides, c = data.shape
        if self.is_first:
            name = self._reshaped(data.name, (n, groups, c // groups, *sides))
            axes = (0, 2, 1, *range(3, 3 + len(sides)))
            name = self._moved(name, axes, (n, c // groups, groups, *sides))
        else:
            name = self._reshaped(data.name, (n, *sides, groups, c // groups))
            rank = len(sides) + 1
            axes = (*range(rank), rank + 1, rank)
            name = self._moved(name, axes, (n, *sides, c // groups, groups))
        return Value(self._reshaped(name, self._own(data.shape)), data.shape)

    def pixels(self, data: Value, block: int) -> Value:
        """Torch's PixelShuffle: the block's rows and columns are the inner channels."""
        n, h, w, c = data.shape
        depth = c // block**2
        shape = (n, h * block, w * block, depth)
        if self.is_first:
            name = self._reshaped(data.name, (n * depth, block, block, h * w))
            name = self._moved(name, (0, 1, 3, 2), (n * depth, block, h * w, block))
            name = self._reshaped(name, (n * depth, block, h, w * block))
            name = self._moved(name, (0, 2, 1, 3), (n * depth, h, block, w * block))
        else:
            name = self._reshaped(data.name, (n * h, w, depth * block, block))
            name = self._moved(name, (0, 1, 3, 2), (n * h, w, block, depth * block))
            name = self._reshaped(name, (n * h, w * block, depth, block))
            name = self._moved(name, (0, 3, 1, 2), (n * h, block, w * block, depth))
        return Value(self._reshaped(name, self._own(shape)), shape)

    def _own(self, shape: Shape) -> Shape:
        return as_first(shape) if self.is_first and len(shape) > 2 else shape

    def _image(self, shape: Shape) -> Shape:
        return shape if len(shape) == 4 else (shape[0], 1, *shape[1:])

    def _to_last(self, rank: int) -> tuple[int, ...]:
        return (0, *range(2, rank), 1)

    def _last(self, data: Value) -> str:
        """The data as an image with channels last."""
        name, image = data.name, self._image(data.shape)
        if len(data.shape) == 3:
            name = self._reshaped(name, self._own(image))
        return self._moved(name, (0, 2, 3, 1), image) if self.is_first else name

    def _layer(
        self,
        code: str,
        inputs: Sequence[str],
        shape: Shape,
        data: Value,
        relu: bool,
        options: dict[str, Any],
    ) -> Value:
        """A layer that computes an image, in the layout of the data that it reads."""
        options |= {"padding": 1, "fusedActivationFunction": int(relu)}
        name = self._emit(code, inputs, shape, options)
        if self.is_first:
            name = self._moved(name, first(shape), as_first(shape))
        if len(data.shape) == 3:
            shape = (shape[0], *shape[2:])
            name = self._reshaped(name, self._own(shape))
        return Value(name, shape)

    def _padded(self, data: Value, pads: Pads) -> Value:
        top, left, bottom, right = pads
        cells = [(0, 0), (top, bottom), (left, right), (0, 0)]
        if len(data.shape) == 3:
            del cells[1]
        shape = tuple(n + sum(own) for n, own in zip(data.shape, cells, strict=True))
        if self.is_first:
            cells = [cells[axis] for axis in first(shape)]
        paddings = self._constant(np.array(cells, np.int32))
        return Value(self._emit("PAD", (data.name, paddings), self._own(shape)), shape)

    def _reduced(self, code: str, data: Value) -> Value:
        sides = len(data.shape) - 2
        axes = np.arange(sides, dtype=np.int32) + (2 if self.is_first else 1)
        shape = (data.shape[0], data.shape[-1])
        inputs = (data.name, self._constant(axes))
        return Value(self._emit(code, inputs, shape, {"keepDims": False}), shape)

    def _sliced(self, data: Value, axis: int, begin: int, size: int) -> Value:
        shape = tuple(size if k == axis else n for k, n in enumerate(data.shape))
        place = first(shape).index(axis) if self.is_first else axis
        begins = np.zeros(len(shape), np.int32)
        begins[place] = begin
        own = self._own(shape)
        inputs = (data.name, self._constant(begins), self._constant(np.array(own, np.int32)))
        return Value(self._emit("SLICE", inputs, own), shape)

    def _same(self, code: str, names: Sequence[str], data: Value, relu: bool) -> Value:
        options = {"fusedActivationFunction": int(relu)}
        return Value(self._emit(code, names, self._own(data.shape), options), data.shape)

    def _reshaped(self, name: str, shape: Shape) -> str:
        return self._emit("RESHAPE", (name, self._constant(np.array(shape, np.int32))), shape)

    def _moved(self, name: str, axes: tuple[int, ...], shape: Shape) -> str:
        return self._emit("TRANSPOSE", (name, self._constant(np.array(axes, np.int32))), shape)

    def _emit(
        self,
        code: str,
        inputs: Sequence[str],
        shape: Shape,
        options: dict[str, Any] | None = None,
        quant: tuple[float, int] | None = None,
    ) -> str:
        moves = ("RESHAPE", "TRANSPOSE", "PAD", "SLICE", "MAX_POOL_2D", "REDUCE_MAX")
        if code in moves and self.dtype == "int8":
            own = next(t for t in self.tensors if t.name == inputs[0])
            quant = (own.scale[0], own.zero_point[0])
        name = self._tensor(f"t{len(self.tensors)}", shape, quant)
        table = _TABLES.get(code, "")
        self.operators.append(OperatorSpec(code, inputs, [name], table, options or {}))
        return name

    def _tensor(self, name: str, shape: Shape, quant: tuple[float, int] | None = None) -> str:
        own: dict[str, Any] = {}
        if self.dtype == "int8":
            scale, zero = quant or (self.SCALE, 3)
            own = {"scale": (scale,), "zero_point": (zero,)}
        self.tensors.append(TensorSpec(name, shape, self.dtype, **own))
        return name

    def _constant(self, array: Array, scale: float = WEIGHT, dtype: str = "int8") -> str:
        name, own = f"c{len(self.tensors)}", dict[str, Any]()
        if array.dtype == np.float32 and self.dtype == "int8":
            limit = np.iinfo(dtype).max
            array = np.clip(np.rint(array / scale), -limit, limit).astype(dtype)
            own = {"scale": (scale,), "zero_point": (0,)}
        self.tensors.append(TensorSpec(name, array.shape, array.dtype.name, array, **own))
        return name

    def _weight(self, array: Array) -> str:
        return self._constant(array)

    def _bias(self, count: int) -> str:
        return self._constant(self.weights.drawn(count), self.SCALE * self.WEIGHT, "int32")


_TABLES = {
    "CONV_2D": "Conv2DOptions",
    "FULLY_CONNECTED": "FullyConnectedOptions",
    "DEPTHWISE_CONV_2D": "DepthwiseConv2DOptions",
    "MAX_POOL_2D": "Pool2DOptions",
    "MEAN": "ReducerOptions",
    "REDUCE_MAX": "ReducerOptions",
    "ADD": "AddOptions",
    "MUL": "MulOptions",
    "CONCATENATION": "ConcatenationOptions",
}
