"""Layers of random networks of floats that sum, choose or normalize."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from onnx import helper

from tests.frontends.onnx.quantization.quantized import Network

Shape = tuple[int, ...]
_CHANNELS = (1, 2, 3, 4, 5, 8)


@dataclass(frozen=True)
class Floats:
    """A tensor of floats: its name, the sizes of its axes."""

    name: str
    shape: Shape

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self.shape)


class Net:
    """A random network while it is written."""

    def __init__(self, seed: int) -> None:
        self.net = Network(seed=seed)
        self.random = self.net.random

    def chance(self, share: float) -> bool:
        return bool(self.random.random() < share)

    def one_of(self, values: Sequence[Any]) -> Any:
        return values[int(self.random.integers(len(values)))]

    def constant(self, *shape: int, spread: float = 1.0) -> str:
        """Random floats."""
        return self.net.constant(self.random.normal(0, spread, shape).astype(np.float32))

    def integers(self, *values: int) -> str:
        """A list of sizes, axes or indices."""
        return self.net.constant(np.array(values, np.int64))

    def number(self, value: float) -> str:
        """A scalar."""
        return self.net.constant(np.float32(value))

    def add(self, op: str, inputs: Sequence[str], shape: Sequence[int], **attrs: Any) -> Floats:
        """The result of a further node."""
        name = self.net.add(op, list(inputs), output=self.net.name("t"), **attrs)
        self.net.outputs[name] = "float32"
        return Floats(name, tuple(map(int, shape)))

    def several(self, op: str, inputs: Sequence[str], count: int, **attrs: Any) -> list[str]:
        """The names of several results of one node."""
        names = [self.net.name("part") for _ in range(count)]
        self.net.nodes.append(helper.make_node(op, list(inputs), names, **attrs))
        return names


Layer = Callable[[Net, Floats], Floats | None]
"""The result of a further layer; None if the data does not fit it."""


def convolution(n: Net, data: Floats) -> Floats | None:
    """Along one to three axes, sometimes with a normalization and an activation after it."""
    if not 3 <= data.rank <= 5:
        return None
    channels, sizes = data.shape[1], data.shape[2:]
    kernel = [min(n.one_of((1, 2, 3)), size) for size in sizes]
    groups = n.one_of((1, 1, channels))
    filters = channels if groups > 1 else n.one_of(_CHANNELS)
    strides = [n.one_of((1, 1, 2)) for _ in sizes]
    pads = [int(n.random.integers(0, k)) for k in kernel * 2]
    spread = 1 / max(1, channels // groups * int(np.prod(kernel))) ** 0.5
    inputs = [data.name, n.constant(filters, channels // groups, *kernel, spread=spread)]
    inputs += [n.constant(filters)] if n.chance(0.6) else []
    out = [
        (s + a + b - k) // t + 1
        for s, a, b, k, t in zip(
            sizes, pads[: len(sizes)], pads[len(sizes) :], kernel, strides, strict=True
        )
    ]
    found = n.add(
        "Conv", inputs, (data.shape[0], filters, *out), group=groups, pads=pads, strides=strides
    )
    if n.chance(0.4):
        found = normalized_by_constants(n, found) or found
    return n.add("Relu", [found.name], found.shape) if n.chance(0.3) else found


def transposed_convolution(n: Net, data: Floats) -> Floats | None:
    """Along one or two axes."""
    if not 3 <= data.rank <= 4:
        return None
    channels, sizes = data.shape[1], data.shape[2:]
    kernel, stride, filters = n.one_of((1, 2, 3)), n.one_of((1, 2)), n.one_of(_CHANNELS)
    weight = n.constant(channels, filters, *[kernel] * len(sizes), spread=0.5)
    out = [(size - 1) * stride + kernel for size in sizes]
    attrs = {"strides": [stride] * len(sizes)}
    return n.add("ConvTranspose", [data.name, weight], (data.shape[0], filters, *out), **attrs)


def normalized_by_constants(n: Net, data: Floats) -> Floats | None:
    """BatchNormalization."""
    if data.rank < 2:
        return None
    channels = data.shape[1]
    variance = n.net.constant(n.random.uniform(0.3, 2, channels).astype(np.float32))
    inputs = [data.name, *(n.constant(channels) for _ in range(3)), variance]
    return n.add("BatchNormalization", inputs, data.shape)


def normalized(n: Net, data: Floats) -> Floats | None:
    """By the data's own mean and variance."""
    if data.rank < 3 or int(np.prod(data.shape[2:])) < 4:
        return None
    channels, last = data.shape[1], data.shape[-1]
    op = n.one_of(("InstanceNormalization", "LayerNormalization", "LpNormalization", "LRN"))
    if op == "InstanceNormalization":
        return n.add(op, [data.name, n.constant(channels), n.constant(channels)], data.shape)
    if op == "LayerNormalization":
        return n.add(op, [data.name, n.constant(last), n.constant(last)], data.shape)
    if op == "LpNormalization":
        return n.add(op, [data.name], data.shape, p=n.one_of((1, 2)), axis=-1)
    if data.rank != 4:
        return None
    # ONNX Runtime keeps a running sum of squares, in which large ones leave errors.
    small = n.add("Softsign", [data.name], data.shape)
    return n.add(op, [small.name], data.shape, size=n.one_of((1, 3)))


def product(n: Net, data: Floats) -> Floats | None:
    """Gemm or MatMul with a constant."""
    if data.rank < 2:
        return None
    depth, width = data.shape[-1], n.one_of(_CHANNELS)
    spread = 1 / depth**0.5
    if data.rank == 2 and n.chance(0.6):
        inputs = [data.name, n.constant(width, depth, spread=spread), n.constant(width)]
        attrs = {"transB": 1, "alpha": n.one_of((1.0, 0.5)), "beta": n.one_of((1.0, 2.0))}
        return n.add("Gemm", inputs, (data.shape[0], width), **attrs)
    weight = n.constant(depth, width, spread=spread)
    found = n.add("MatMul", [data.name, weight], (*data.shape[:-1], width))
    return n.add("Add", [found.name, n.constant(width)], found.shape) if n.chance(0.5) else found


def attention(n: Net, data: Floats) -> Floats | None:
    """The data's products with itself, as shares, times the data."""
    if data.rank < 2:
        return None
    perm = [*range(data.rank - 2), data.rank - 1, data.rank - 2]
    turned = n.add("Transpose", [data.name], [data.shape[i] for i in perm], perm=perm)
    rows = data.shape[-2]
    scores = n.add("MatMul", [data.name, turned.name], (*data.shape[:-1], rows))
    scaled = n.add("Mul", [scores.name, n.number(0.3)], scores.shape)
    weights = n.add("Softmax", [scaled.name], scaled.shape, axis=-1)
    return n.add("MatMul", [weights.name, data.name], data.shape)


def pooled(n: Net, data: Floats) -> Floats | None:
    """Windows of an image, or all of it."""
    if data.rank != 4:
        return None
    height, width = data.shape[2:]
    if min(height, width) < 2 or n.chance(0.2):
        op = n.one_of(("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"))
        return n.add(op, [data.name], (*data.shape[:2], 1, 1))
    op, stride = n.one_of(("MaxPool", "AveragePool", "AveragePool", "LpPool")), n.one_of((1, 2))
    attrs: dict[str, Any] = {"kernel_shape": [2, 2], "strides": [stride, stride]}
    pad = int(op != "LpPool" and n.chance(0.4))
    if pad:
        attrs["pads"] = [0, 0, 1, 1]
    if pad and op == "AveragePool":
        attrs["count_include_pad"] = n.one_of((0, 1))
    out = ((size + pad - 2) // stride + 1 for size in (height, width))
    return n.add(op, [data.name], (*data.shape[:2], *out), **attrs)


_REDUCTIONS = ("Mean", "Sum", "Max", "Min", "L1", "L2", "LogSumExp", "SumSquare", "Prod")


def reduced(n: Net, data: Floats) -> Floats | None:
    """One axis, which becomes 1, or is subtracted from the data."""
    if data.rank < 2:
        return None
    axis = int(n.random.integers(data.rank))
    shape = tuple(1 if i == axis else size for i, size in enumerate(data.shape))
    found = n.add(f"Reduce{n.one_of(_REDUCTIONS)}", [data.name, n.integers(axis)], shape)
    if n.chance(0.5) or int(np.prod(shape)) == 1:
        return n.add(n.one_of(("Sub", "Add", "Mul")), [data.name, found.name], data.shape)
    return found


def shares(n: Net, data: Floats) -> Floats | None:
    """Softmax and similar functions of rows."""
    op, axis = n.one_of(("Softmax", "LogSoftmax")), int(n.random.integers(data.rank))
    return n.add(op, [data.name], data.shape, axis=axis)


def summed(n: Net, data: Floats) -> Floats | None:
    """Running sums."""
    axis = n.net.constant(np.array(n.random.integers(data.rank)))
    return n.add("CumSum", [data.name, axis], data.shape, exclusive=n.one_of((0, 1)))


def contracted(n: Net, data: Floats) -> Floats | None:
    """Einsum with a constant."""
    if data.rank != 3:
        return None
    a, b, c = data.shape
    return n.add("Einsum", [data.name, n.constant(c, b, spread=0.5)], (b, a), equation="abc,cb->ba")


LAYERS: tuple[Layer, ...] = (
    *(convolution, convolution, convolution, transposed_convolution, normalized_by_constants),
    *(normalized, product, product, attention, pooled, pooled, reduced, reduced, shares, summed),
    contracted,
)
