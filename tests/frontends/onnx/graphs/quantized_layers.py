"""Layers of random quantized networks: operators of floats between DequantizeLinear and
QuantizeLinear, operators of stored integers, and both kinds of conversions alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from onnx import helper

from microgen.graph.ir.graph import Array
from tests.frontends.onnx.quantization.quantized import MICROSOFT, Network

Shape = tuple[int, ...]
DTYPES = ("int8", "uint8", "int16")
_CHANNELS = (1, 2, 3, 4, 5, 8, 13)
_FUNCTIONS = (
    *("Sigmoid", "Tanh", "HardSwish", "LeakyRelu", "Relu", "Elu", "HardSigmoid", "Softplus"),
    *("Erf", "Abs", "Neg", "Gelu", "Softsign"),
)
_ELEMENTS = ("Add", "Mul", "Sub")


@dataclass(frozen=True)
class Stored:
    """A tensor of stored integers: its name, the names of its scale and zero point, its type."""

    name: str
    scales: tuple[str, str]
    dtype: str
    shape: Shape


@dataclass(frozen=True)
class Floats:
    """A tensor of floats."""

    name: str
    shape: Shape


class Quantized:
    """A random network while it is written. ``wide``: activations may have 16 bits."""

    def __init__(self, seed: int, *, wide: bool) -> None:
        self.net = Network(seed=seed)
        self.random = self.net.random
        self.dtypes = DTYPES if wide else DTYPES[:2]
        self._floats: dict[str, str] = {}

    def chance(self, share: float) -> bool:
        return bool(self.random.random() < share)

    def one_of(self, values: Any) -> Any:
        return values[int(self.random.integers(len(values)))]

    def scales(self, dtype: str) -> tuple[str, str]:
        """A random scale and zero point, as constants; those of 16 bits are symmetric."""
        scale = np.float32(2.0 ** self.random.uniform(-6, -3))
        middle = 128 if dtype == "uint8" else 0
        zero = int(self.one_of((0, -128, int(self.random.integers(-100, 100)))))
        if dtype == "int16":
            scale, zero = np.float32(scale / 256), 0
        stored = np.dtype(dtype).type(zero + middle)
        return self.net.constant(scale), self.net.constant(stored)

    def quantized(self, data: Floats, dtype: str = "") -> Stored:
        """The floats after QuantizeLinear."""
        dtype = dtype or self.one_of(self.dtypes)
        scales = self.scales(dtype)
        name = self.net.add("QuantizeLinear", [data.name, *scales], output=self.net.name("q"))
        return self.seen(Stored(name, scales, dtype, data.shape))

    def seen(self, stored: Stored) -> Stored:
        """Integers that may be an output."""
        self.net.outputs[stored.name] = stored.dtype
        return stored

    def floats(self, stored: Stored) -> Floats:
        """The integers after DequantizeLinear, which each reader has for itself or shares."""
        if stored.name not in self._floats or self.chance(0.5):
            operands = [stored.name, *stored.scales]
            self._floats[stored.name] = self.net.add("DequantizeLinear", operands)
        return Floats(self._floats[stored.name], stored.shape)

    def weight(self, shape: Shape, axis: int, fan_in: int) -> tuple[list[str], Array]:
        """A weight that roughly keeps magnitudes: values, scales and zero points, per tensor or
        along ``axis``; and its scales."""
        axes = () if self.chance(0.3) else (shape[axis],)
        scale = np.float32(self.random.uniform(0.5, 2, axes) / (60 * max(1, fan_in) ** 0.5))
        dtype = self.one_of(("int8", "int8", "uint8"))
        limits = np.iinfo(dtype)
        values = self.random.integers(limits.min, limits.max + 1, shape).astype(dtype)
        zero = np.full(axes, 128 if dtype == "uint8" else 0)
        if not axes and self.chance(0.3):
            zero = np.asarray(self.random.integers(limits.min, limits.max + 1))
        names = [self.net.constant(each) for each in (values, scale, zero.astype(dtype))]
        return names, np.asarray(scale)

    def bias(self, count: int, scale: Array, data: Stored) -> tuple[str, str]:
        """int32 in the scale of the sums: as integers, and as floats."""
        of_data = self.net.constants[data.scales[0]]
        values = self.net.constant(self.random.integers(-3000, 3000, count).astype(np.int32))
        scales = np.broadcast_to((of_data * scale).astype(np.float32), (count,)).copy()
        zeros = np.zeros(count, np.int32)
        names = [values, self.net.constant(scales), self.net.constant(zeros)]
        return values, self.net.add("DequantizeLinear", names, axis=0)

    def clamped(self, data: Floats) -> Floats:
        """Sometimes with a Relu or a Clip."""
        kind = self.random.integers(5)
        if kind == 0:
            return replace(data, name=self.net.add("Relu", [data.name]))
        if kind > 2:
            return data
        ends = (0, 6) if kind == 1 else sorted(self.random.normal(0, 3, 2))
        limits = [self.net.constant(np.float32(v)) for v in ends]
        return replace(data, name=self.net.add("Clip", [data.name, *limits]))


Layer = Callable[[Quantized, Stored], Stored | None]
"""The result of a further layer of the integers; None if they do not fit the layer."""


def _windowed(shape: Shape, kernel: int, strides: int, pads: list[int]) -> Shape:
    return tuple(
        (n + a + b - kernel) // strides + 1
        for n, a, b in zip(shape[2:], pads[:2], pads[2:], strict=True)
    )


def convolution(q: Quantized, data: Stored) -> Stored | None:
    """Of one image, also depthwise; in floats or as QLinearConv."""
    if len(data.shape) != 4:
        return None
    channels = data.shape[1]
    kernel = min(q.one_of((1, 3)), *data.shape[2:])
    groups = channels if q.chance(0.3) else 1
    filters = channels if groups > 1 else q.one_of(_CHANNELS)
    fan_in = kernel * kernel * channels // groups
    weight, scale = q.weight((filters, channels // groups, kernel, kernel), 0, fan_in)
    pads, stride = [int(v) for v in q.random.integers(0, kernel // 2 + 1, 4)], q.one_of((1, 1, 2))
    shape = (data.shape[0], filters, *_windowed(data.shape, kernel, stride, pads))
    attrs = {"group": groups, "pads": pads, "strides": [stride, stride]}
    biases = q.bias(filters, scale, data) if q.chance(0.7) else None
    if _has_operator(q, data, weight) and q.chance(0.4):
        return _operator(q, "QLinearConv", data, weight, shape, biases, attrs)
    operands = [q.floats(data).name, q.net.add("DequantizeLinear", weight, axis=0)]
    operands += [biases[1]] if biases else []
    return q.quantized(q.clamped(Floats(q.net.add("Conv", operands, **attrs), shape)))


def _has_operator(q: Quantized, data: Stored, weight: list[str]) -> bool:
    """Whether ONNX Runtime has products of such integers."""
    kinds = data.dtype, q.net.constants[weight[0]].dtype.name
    return kinds[0] == "uint8" or kinds == ("int8", "int8")


def _operator(
    q: Quantized,
    op: str,
    data: Stored,
    weight: list[str],
    shape: Shape,
    biases: tuple[str, str] | None,
    attrs: dict[str, Any],
) -> Stored:
    scales = q.scales(data.dtype)
    operands = [data.name, *data.scales, *weight, *scales, *(biases[:1] if biases else ())]
    name = q.net.add(op, operands, output=q.net.name("q"), **attrs)
    return q.seen(Stored(name, scales, data.dtype, shape))


def product(q: Quantized, data: Stored) -> Stored | None:
    """Of a matrix and a constant: Gemm, MatMul or QLinearMatMul."""
    if len(data.shape) != 2:
        return None
    rows, depth = data.shape
    width = q.one_of(_CHANNELS)
    is_gemm = data.dtype == "int16" or q.chance(0.6)
    weight, scale = q.weight((width, depth) if is_gemm else (depth, width), 1 - is_gemm, depth)
    if not is_gemm and _has_operator(q, data, weight) and q.chance(0.7):
        return _operator(q, "QLinearMatMul", data, weight, (rows, width), None, {})
    operands = [q.floats(data).name, q.net.add("DequantizeLinear", weight, axis=1 - is_gemm)]
    if not is_gemm:
        return q.quantized(q.clamped(Floats(q.net.add("MatMul", operands), (rows, width))))
    operands += [q.bias(width, scale, data)[1]] if q.chance(0.7) else []
    return q.quantized(q.clamped(Floats(q.net.add("Gemm", operands, transB=1), (rows, width))))


def product_of_two(q: Quantized, data: Stored) -> Stored | None:
    """Of a matrix and its transpose, with a scale of its own."""
    if len(data.shape) != 2 or data.dtype == "int16":
        return None
    turned = Floats(q.net.add("Transpose", [q.floats(data).name], perm=[1, 0]), data.shape[::-1])
    other = q.floats(q.quantized(turned, q.one_of(DTYPES[:2])))
    found = q.net.add("MatMul", [q.floats(data).name, other.name])
    return q.quantized(Floats(found, (data.shape[0], data.shape[0])))


def function(q: Quantized, data: Stored) -> Stored | None:
    """One or two functions of each value."""
    floats = q.floats(data)
    for _ in range(q.one_of((1, 1, 2))):
        floats = replace(floats, name=q.net.add(q.one_of(_FUNCTIONS), [floats.name]))
    if q.chance(0.3):
        factor = q.net.add("HardSigmoid", [floats.name])
        floats = replace(floats, name=q.net.add("Mul", [floats.name, factor]))
    return q.quantized(floats)


def elements(q: Quantized, data: Stored) -> Stored | None:
    """Two tensors of one shape, as a residual has them."""
    other = function(q, data)
    assert other is not None
    op = q.one_of(_ELEMENTS)
    if op != "Sub" and data.dtype != "int16" and other.dtype == data.dtype and q.chance(0.4):
        scales = q.scales(data.dtype)
        operands = [data.name, *data.scales, other.name, *other.scales, *scales]
        name = q.net.add(f"QLinear{op}", operands, output=q.net.name("q"), domain=MICROSOFT)
        return q.seen(Stored(name, scales, data.dtype, data.shape))
    found = q.net.add(op, [q.floats(data).name, q.floats(other).name])
    return q.quantized(q.clamped(Floats(found, data.shape)))


def elements_and_constant(q: Quantized, data: Stored) -> Stored | None:
    """A tensor and a constant, which is quantized or not, for each channel or for all."""
    channels = (data.shape[1], *(1,) * (len(data.shape) - 2)) if len(data.shape) > 1 else ()
    shape = q.one_of(((), channels))
    if q.chance(0.5):
        values = q.random.integers(-128, 128, shape).astype(np.int8)
        scales = [q.net.constant(np.float32(0.02)), q.net.constant(np.int8(q.one_of((0, 5))))]
        other = q.net.add("DequantizeLinear", [q.net.constant(values), *scales])
    else:
        other = q.net.constant(q.random.normal(0, 1, shape).astype(np.float32))
    found = q.net.add(q.one_of(_ELEMENTS), [q.floats(data).name, other])
    return q.quantized(Floats(found, data.shape))


def joined(q: Quantized, data: Stored) -> Stored | None:
    """Two or three tensors along the channels, each with its own scale, or one without."""
    if len(data.shape) < 2 or data.shape[1] > 16:
        return None
    other = function(q, data)
    assert other is not None
    parts = [q.floats(data).name, q.floats(other).name]
    if q.chance(0.4):
        parts.append(q.net.add("Relu", [parts[0]]))
    shape = (data.shape[0], len(parts) * data.shape[1], *data.shape[2:])
    return q.quantized(Floats(q.net.add("Concat", parts, axis=1), shape))


def pooled(q: Quantized, data: Stored) -> Stored | None:
    """The largest or the mean of windows or of all pixels."""
    if len(data.shape) != 4:
        return None
    n, channels, height, width = data.shape
    floats = q.floats(data).name
    if min(height, width) < 2 or q.chance(0.2):
        op = q.one_of(("GlobalAveragePool", "GlobalMaxPool"))
        return q.quantized(Floats(q.net.add(op, [floats]), (n, channels, 1, 1)))
    stride = q.one_of((1, 2))
    attrs = {"kernel_shape": [2, 2], "strides": [stride, stride]}
    if q.chance(0.3):
        attrs["pads"] = [0, 1, 0, 1]
        width += 2
    shape = (n, channels, (height - 2) // stride + 1, (width - 2) // stride + 1)
    found = Floats(q.net.add(q.one_of(("MaxPool", "AveragePool")), [floats], **attrs), shape)
    return _unquantized(q, data, found) if q.chance(0.2) else q.quantized(found)


def reduced(q: Quantized, data: Stored) -> Stored | None:
    """Means of images or rows."""
    if len(data.shape) < 2 or data.shape[0] * data.shape[1] == 1:
        return None
    axes = q.net.constant(np.array([2, 3] if len(data.shape) == 4 else [1], np.int64))
    found = q.net.add("ReduceMean", [q.floats(data).name, axes], keepdims=1)
    shape = (*data.shape[:2], 1, 1) if len(data.shape) == 4 else (data.shape[0], 1)
    return q.quantized(Floats(found, shape))


def shares(q: Quantized, data: Stored) -> Stored | None:
    """Softmax along the last axis."""
    found = q.net.add("Softmax", [q.floats(data).name], axis=-1)
    return q.quantized(Floats(found, data.shape))


def moved(q: Quantized, data: Stored) -> Stored | None:
    """One to three moves of values, with or without a QuantizeLinear of their own."""
    floats = q.floats(data)
    for _ in range(q.one_of((1, 2, 3))):
        floats = q.one_of(_MOVES)(q, floats)
    return q.quantized(floats) if q.chance(0.5) else _unquantized(q, data, floats)


def _unquantized(q: Quantized, data: Stored, floats: Floats) -> Stored:
    """Moved floats, quantized as they were before."""
    name = q.net.add("QuantizeLinear", [floats.name, *data.scales], output=q.net.name("q"))
    return q.seen(Stored(name, data.scales, data.dtype, floats.shape))


def _turned(q: Quantized, data: Floats) -> Floats:
    perm = [0, *(1 + q.random.permutation(len(data.shape) - 1))]
    shape = tuple(data.shape[i] for i in perm)
    return Floats(q.net.add("Transpose", [data.name], perm=[*map(int, perm)]), shape)


def _padded(q: Quantized, data: Floats) -> Floats:
    pads = np.zeros((2, len(data.shape)), np.int64)
    pads[:, -1] = q.random.integers(0, 3, 2)
    shape = (*data.shape[:-1], data.shape[-1] + int(pads.sum()))
    return Floats(q.net.add("Pad", [data.name, q.net.constant(pads.ravel())]), shape)


def _sliced(q: Quantized, data: Floats) -> Floats:
    if data.shape[-1] < 3:
        return data
    ends = [q.net.constant(np.array([v], np.int64)) for v in (1, data.shape[-1], -1)]
    shape = (*data.shape[:-1], data.shape[-1] - 1)
    return Floats(q.net.add("Slice", [data.name, *ends]), shape)


def _split(q: Quantized, data: Floats) -> Floats:
    if len(data.shape) < 2 or data.shape[1] < 2:
        return data
    names = [q.net.name("part"), q.net.name("part")]
    sizes = q.net.constant(np.array([1, data.shape[1] - 1], np.int64))
    q.net.nodes.append(helper.make_node("Split", [data.name, sizes], names, axis=1))
    return Floats(q.net.add("Concat", names[::-1], axis=1), data.shape)


def _gathered(q: Quantized, data: Floats) -> Floats:
    rows = q.random.integers(-data.shape[-1], data.shape[-1], 3)
    found = q.net.add("Gather", [data.name, q.net.constant(rows)], axis=len(data.shape) - 1)
    return Floats(found, (*data.shape[:-1], 3))


def _enlarged(q: Quantized, data: Floats) -> Floats:
    if len(data.shape) != 4 or max(data.shape[2:]) > 6:
        return data
    sizes = q.net.constant(np.array([*data.shape[:2], *(2 * n for n in data.shape[2:])], np.int64))
    attrs = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    found = q.net.add("Resize", [data.name, "", "", sizes], mode="nearest", **attrs)
    return Floats(found, (*data.shape[:2], *(2 * n for n in data.shape[2:])))


_MOVES = (_turned, _turned, _padded, _sliced, _split, _gathered, _enlarged)


def flattened(q: Quantized, data: Stored) -> Stored | None:
    """Rows of an image as a matrix."""
    if len(data.shape) != 4:
        return None
    n, channels, height, width = data.shape
    if q.chance(0.5):
        shape = q.net.constant(np.array([n * channels, -1], np.int64))
        found = Floats(
            q.net.add("Reshape", [q.floats(data).name, shape]), (n * channels, height * width)
        )
    else:
        name = q.net.add("Flatten", [q.floats(data).name])
        found = Floats(name, (n, channels * height * width))
    return q.quantized(found) if q.chance(0.3) else _unquantized(q, data, found)


def converted(q: Quantized, data: Stored) -> Stored | None:
    """Another scale or dtype, and nothing else."""
    return q.quantized(q.floats(data))


def in_floats(q: Quantized, data: Stored) -> Stored | None:
    """Operators between which nothing is quantized."""
    floats = q.floats(data)
    centred = q.net.add("Sub", [floats.name, q.net.add("ReduceMax", [floats.name])])
    found = q.net.add("Exp", [centred]) if q.chance(0.5) else q.net.add("Neg", [centred])
    return q.quantized(replace(floats, name=found))


def of_operator(q: Quantized, data: Stored) -> Stored | None:
    """One of ONNX Runtime's operators of one tensor."""
    if data.dtype == "int16":
        return None
    is_image = len(data.shape) == 4
    op = q.one_of(("Sigmoid", "LeakyRelu", *(("GlobalAveragePool",) if is_image else ())))
    scales, shape = q.scales(data.dtype), data.shape
    shape = (*shape[:2], 1, 1) if op.startswith("Global") else shape
    operands = [data.name, *data.scales, *scales]
    attrs = {"alpha": 0.1} if op == "LeakyRelu" else {}
    name = q.net.add(f"QLinear{op}", operands, output=q.net.name("q"), domain=MICROSOFT, **attrs)
    return q.seen(Stored(name, scales, data.dtype, shape))


LAYERS: tuple[Layer, ...] = (
    *(convolution, convolution, convolution, product, product, product_of_two, function),
    *(elements, elements, elements_and_constant, joined, pooled, pooled, reduced, shares, moved),
    *(moved, flattened, converted, in_floats, of_operator),
)
