"""Layers without weights: arithmetic, pools, shapes, activations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from scripts.bench.networks import windows
from scripts.bench.networks.drawing import Activation, Input
from scripts.bench.networks.layers import NONE, WeightedDrawing
from scripts.bench.networks.windows import SAME, VALID, Pair, pair

Array = npt.NDArray[Any]

_ARITHMETIC: dict[str, tuple[Callable[[Array, Array], Array], str]] = {
    "ADD": (np.add, "AddOptions"),
    "SUB": (np.subtract, "SubOptions"),
    "MUL": (np.multiply, "MulOptions"),
    "SQUARED_DIFFERENCE": (lambda a, b: (a - b) ** 2, "SquaredDifferenceOptions"),
}
_UNARY: dict[str, tuple[Callable[[Array], Array], str]] = {
    "LOGISTIC": (lambda x: 1 / (1 + np.exp(-x)), ""),
    "TANH": (np.tanh, ""),
    "HARD_SWISH": (lambda x: x * np.clip(x + 3, 0, 6) / 6, ""),
    "ELU": (lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))), ""),
    "GELU": (lambda x: x / (1 + np.exp(-1.702 * x)), "GeluOptions"),
    "RSQRT": (lambda x: 1 / np.sqrt(np.maximum(x, 1e-2)), ""),
    "RELU": (lambda x: np.maximum(x, 0), ""),
}
# The quantization that TFLite's specification gives results: of int8, and of int16.
_FIXED = {
    "LOGISTIC": ((1 / 256, -128), (1 / 32768, 0)),
    "TANH": ((1 / 128, 0), (1 / 32768, 0)),
    "SOFTMAX": ((1 / 256, -128), (1 / 32768, 0)),
}


class PlainDrawing(WeightedDrawing):
    """A network in the making, with all layers but recurrent ones."""

    def two(self, code: str, left: Activation, right: Activation, *, act: int = NONE) -> Activation:
        """ADD, SUB, MUL or SQUARED_DIFFERENCE; the shapes may be broadcast."""
        compute, table = _ARITHMETIC[code]
        reals = compute(left.reals, right.reals)
        if act != NONE:
            reals = np.maximum(reals, 0)
        options = {} if code == "SQUARED_DIFFERENCE" else {"fusedActivationFunction": act}
        return self.add(code, [left, right], reals, table, options)

    def number(self, value: float) -> Activation:
        """A constant of one element, for arithmetic."""
        return self.vector(np.array([value]))

    def vector(self, reals: Array) -> Activation:
        """A constant for arithmetic: its shape is broadcast to that of the data."""
        made = Activation("", reals, dtype=self.kind)
        made.low, made.high = min(0.0, float(reals.min())), max(0.0, float(reals.max()))
        made.name = self.constant(lambda name: self.stored_constant(name, made))
        return made

    def one(self, code: str, data: Activation) -> Activation:
        """LOGISTIC, TANH, HARD_SWISH, ELU, GELU, RSQRT or RELU."""
        compute, table = _UNARY[code]
        return self.add(code, [data], compute(data.reals), table, fixed=self._fixed(code))

    def leaky(self, data: Activation, alpha: float = 0.1) -> Activation:
        """A leaky ReLU."""
        reals = np.where(data.reals > 0, data.reals, alpha * data.reals)
        return self.add("LEAKY_RELU", [data], reals, "LeakyReluOptions", {"alpha": alpha})

    def softmax(self, data: Activation) -> Activation:
        """Probabilities along the last axis."""
        grown = np.exp(data.reals - data.reals.max(-1, keepdims=True))
        reals = grown / grown.sum(-1, keepdims=True)
        fixed = self._fixed("SOFTMAX")
        return self.add("SOFTMAX", [data], reals, "SoftmaxOptions", {"beta": 1.0}, fixed=fixed)

    def pool(
        self,
        code: str,
        data: Activation,
        size: int | Pair = 2,
        stride: int | Pair = 2,
        *,
        same: bool = False,
    ) -> Activation:
        """MAX_POOL_2D or AVERAGE_POOL_2D."""
        sizes, strides = pair(size), pair(stride)
        seen = windows.of(data.reals, sizes, strides, (1, 1), same, np.nan)
        reals = np.nanmax(seen, 3) if code == "MAX_POOL_2D" else np.nanmean(seen, 3)
        return self.add(
            *(code, [data], reals, "Pool2DOptions"),
            {
                "padding": SAME if same else VALID,
                "strideH": strides[0],
                "strideW": strides[1],
                "filterHeight": sizes[0],
                "filterWidth": sizes[1],
            },
            tied=True,
        )

    def mean(
        self, data: Activation, axes: Sequence[int] = (1, 2), *, keep: bool = False
    ) -> Activation:
        """The mean along axes."""
        constant = self.numbers(np.array(axes))
        reals = data.reals.mean(tuple(axes), keepdims=keep)
        return self.add("MEAN", [data, constant], reals, "ReducerOptions", {"keepDims": keep})

    def joined(self, *parts: Activation, axis: int = -1) -> Activation:
        """Parts after each other; TFLite gives them one quantization."""
        reals = np.concatenate([each.reals for each in parts], axis)
        options = {"axis": axis % reals.ndim, "fusedActivationFunction": NONE}
        return self.add("CONCATENATION", parts, reals, "ConcatenationOptions", options, tied=True)

    def split(self, data: Activation, count: int, axis: int = -1) -> list[Activation]:
        """Equal parts."""
        axis %= data.reals.ndim
        parts = np.split(data.reals, count, axis)
        inputs: list[Input] = [self.numbers(np.array(axis)), data]
        return self.several("SPLIT", inputs, parts, "SplitOptions", {"numSplits": count}, tied=True)

    def steps(self, data: Activation) -> list[Activation]:
        """The parts of the axis after the batch, without that axis."""
        parts = [data.reals[:, i] for i in range(data.reals.shape[1])]
        options = {"num": len(parts), "axis": 1}
        return self.several("UNPACK", [data], parts, "UnpackOptions", options, tied=True)

    def shaped(self, data: Activation, *shape: int) -> Activation:
        """The same elements in another shape, without the batch."""
        reals = data.reals.reshape(len(data.reals), *shape)
        size = self.numbers(np.array((1, *shape)))
        return self.add("RESHAPE", [data, size], reals, "ReshapeOptions", tied=True)

    def turned(self, data: Activation, *order: int) -> Activation:
        """Axes in another order, of which the first is the batch."""
        constant = self.numbers(np.array(order))
        reals = data.reals.transpose(order)
        return self.add("TRANSPOSE", [data, constant], reals, "TransposeOptions", tied=True)

    def padded(self, data: Activation, *pads: Pair) -> Activation:
        """Zeros before and after the axes, without the batch."""
        every = ((0, 0), *pads)
        constant, reals = self.numbers(np.array(every)), np.pad(data.reals, every)
        return self.add("PAD", [data, constant], reals, "PadOptions", tied=True)

    def enlarged(self, data: Activation, factor: int = 2, *, smooth: bool = False) -> Activation:
        """A larger image: of the nearest elements, or bilinear."""
        reals = data.reals.repeat(factor, 1).repeat(factor, 2)
        size = self.numbers(np.array(reals.shape[1:3]))
        code, table = ("RESIZE_NEAREST_NEIGHBOR", "ResizeNearestNeighborOptions")
        if smooth:
            code, table = ("RESIZE_BILINEAR", "ResizeBilinearOptions")
        return self.add(code, [data, size], reals, table, {"halfPixelCenters": True}, tied=True)

    def spread(self, data: Activation, block: int) -> Activation:
        """DEPTH_TO_SPACE."""
        n, rows, columns, depth = data.reals.shape
        parts = data.reals.reshape(n, rows, columns, block, block, depth // block**2)
        reals = parts.transpose(0, 1, 3, 2, 4, 5).reshape(n, rows * block, columns * block, -1)
        options = {"blockSize": block}
        table = "DepthToSpaceOptions"
        return self.add("DEPTH_TO_SPACE", [data], reals, table, options, tied=True)

    def matmul(self, left: Activation, right: Activation, *, turned: bool = False) -> Activation:
        """Products of matrices; with ``turned`` by the transposes of the right ones."""
        other = right.reals.swapaxes(-1, -2) if turned else right.reals
        options = {"adjX": False, "adjY": turned}
        reals = left.reals @ other
        return self.add("BATCH_MATMUL", [left, right], reals, "BatchMatMulOptions", options)

    def stored(self, data: Activation) -> Activation:
        """QUANTIZE of float32."""
        return self.add("QUANTIZE", [data], data.reals, "QuantizeOptions")

    def floats(self, data: Activation) -> Activation:
        """DEQUANTIZE to float32."""
        made = self.add("DEQUANTIZE", [data], data.reals, "DequantizeOptions")
        made.dtype = "float32"
        return made

    def _fixed(self, code: str) -> tuple[float, int] | None:
        both = _FIXED.get(code)
        return both[self.kind == "int16"] if both else None
