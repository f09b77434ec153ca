"""Layers of random networks of floats that compute elements, or move them."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx

from tests.frontends.onnx.graphs.float_layers import Floats, Layer, Net

_FUNCTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    *((op, {}) for op in ("Relu", "Sigmoid", "Tanh", "Elu", "Selu", "Softplus", "Softsign")),
    *((op, {}) for op in ("HardSwish", "HardSigmoid", "Gelu", "Mish", "Erf", "Abs", "Neg", "Sin")),
    *((op, {}) for op in ("Cos", "Atan", "Floor", "Ceil", "Round", "Sign", "Celu", "Asinh")),
    ("LeakyRelu", {"alpha": 0.125}),
    ("ThresholdedRelu", {"alpha": 0.5}),
    ("Gelu", {"approximate": "tanh"}),
    ("Shrink", {"lambd": 0.5, "bias": 0.25}),
)
_OF_POSITIVES = ("Sqrt", "Log", "Reciprocal")


def function(n: Net, data: Floats) -> Floats | None:
    """A function that is defined everywhere."""
    op, attrs = n.one_of(_FUNCTIONS)
    return n.add(op, [data.name], data.shape, **attrs)


def function_of_positives(n: Net, data: Floats) -> Floats | None:
    """A function of magnitudes that are not near 0."""
    sizes = n.add("Abs", [data.name], data.shape)
    positive = n.add("Add", [sizes.name, n.number(0.75)], data.shape)
    return n.add(n.one_of(_OF_POSITIVES), [positive.name], data.shape)


def exponential(n: Net, data: Floats) -> Floats | None:
    """Of numbers within bounds."""
    limits = [n.number(value) for value in sorted(n.random.uniform(-4, 3, 2))]
    clipped = n.add("Clip", [data.name, *limits], data.shape)
    return n.add("Exp", [clipped.name], data.shape) if n.chance(0.6) else clipped


def elements(n: Net, data: Floats) -> Floats | None:
    """Two tensors that the data gave."""
    other = function(n, data)
    assert other is not None
    op = n.one_of(("Add", "Mul", "Sub", "Max", "Min", "Sum", "Mean"))
    return n.add(op, [data.name, other.name], data.shape)


def elements_and_constant(n: Net, data: Floats) -> Floats | None:
    """A tensor and a constant that is broadcast to it."""
    axis = int(n.random.integers(data.rank))
    shape = [size if i == axis else 1 for i, size in enumerate(data.shape)]
    other = n.constant(*n.one_of(([], shape, data.shape, shape[1:] if axis else shape)))
    if n.chance(0.3):
        return n.add("Sub", [other, data.name], data.shape)
    op = n.one_of(("Add", "Mul", "Sub", "PRelu"))
    return n.add(op, [data.name, other], data.shape)


def quotient(n: Net, data: Floats) -> Floats | None:
    """By numbers that are not near 0."""
    sizes = n.add("Abs", [data.name], data.shape)
    divisor = n.add("Add", [sizes.name, n.number(0.5)], data.shape)
    return n.add("Div", [data.name, divisor.name], data.shape)


def chosen(n: Net, data: Floats) -> Floats | None:
    """By a comparison with a constant."""
    other = function(n, data)
    assert other is not None
    is_greater = n.net.add(n.one_of(("Greater", "LessOrEqual")), [data.name, n.number(0.1)])
    return n.add("Where", [is_greater, data.name, other.name], data.shape)


def largest(n: Net, data: Floats) -> Floats | None:
    """The largest elements of an axis, or their places."""
    axis = int(n.random.integers(data.rank))
    count = min(2, data.shape[axis])
    shape = [count if i == axis else size for i, size in enumerate(data.shape)]
    if n.chance(0.6):
        names = n.several("TopK", [data.name, n.integers(count)], 2, axis=axis)
        return n.add("Neg", names[:1], shape)
    place = n.net.add("ArgMax", [data.name], axis=axis, keepdims=1)
    shape[axis] = 1
    return n.add("Cast", [place], shape, to=onnx.TensorProto.FLOAT)


def turned(n: Net, data: Floats) -> Floats | None:
    """Axes in another order."""
    perm = [int(i) for i in n.random.permutation(data.rank)]
    return n.add("Transpose", [data.name], [data.shape[i] for i in perm], perm=perm)


def reshaped(n: Net, data: Floats) -> Floats | None:
    """The same elements with other sizes."""
    if n.chance(0.4) and data.rank > 2:
        shape = [data.shape[0], int(np.prod(data.shape[1:]))]
        return n.add("Flatten", [data.name], shape)
    sizes = [size for size in data.shape if size > 1] or [1]
    sizes = sizes if n.chance(0.5) else [*sizes[:-1], 1, sizes[-1]]
    return n.add("Reshape", [data.name, n.integers(*sizes)], sizes) if len(sizes) < 6 else None


def padded(n: Net, data: Floats) -> Floats | None:
    """Around the last axis, in any mode."""
    mode, size = n.one_of(("constant", "edge", "reflect")), data.shape[-1]
    pads = np.zeros((2, data.rank), np.int64)
    pads[:, -1] = n.random.integers(0, min(3, size), 2)
    inputs = [data.name, n.net.constant(pads.ravel())]
    inputs += [n.number(1.5)] if mode == "constant" and n.chance(0.5) else []
    return n.add("Pad", inputs, (*data.shape[:-1], size + int(pads.sum())), mode=mode)


def sliced(n: Net, data: Floats) -> Floats | None:
    """Every element but the first of an axis, forwards or backwards."""
    axis = int(n.random.integers(data.rank))
    size = data.shape[axis]
    if size < 2:
        return None
    ends = (1, size, 1) if n.chance(0.5) else (size - 1, 0, -1)
    inputs = [data.name, *(n.integers(v) for v in (ends[0], ends[1], axis, ends[2]))]
    return n.add("Slice", inputs, [v - (i == axis) for i, v in enumerate(data.shape)])


def split(n: Net, data: Floats) -> Floats | None:
    """Two parts of an axis in the other order."""
    axis = int(n.random.integers(data.rank))
    size = data.shape[axis]
    if size < 2:
        return None
    parts = n.several("Split", [data.name, n.integers(1, size - 1)], 2, axis=axis)
    return n.add("Concat", parts[::-1], data.shape, axis=axis)


def joined(n: Net, data: Floats) -> Floats | None:
    """With a function of itself along an axis."""
    axis, other = int(n.random.integers(data.rank)), function(n, data)
    assert other is not None
    shape = [2 * v if i == axis else v for i, v in enumerate(data.shape)]
    return n.add("Concat", [data.name, other.name], shape, axis=axis)


def gathered(n: Net, data: Floats) -> Floats | None:
    """Some places of an axis."""
    axis = int(n.random.integers(data.rank))
    size = data.shape[axis]
    places = n.integers(*map(int, n.random.integers(-size, size, 3)))
    shape = [3 if i == axis else v for i, v in enumerate(data.shape)]
    return n.add("Gather", [data.name, places], shape, axis=axis)


def scattered(n: Net, data: Floats) -> Floats | None:
    """Rows that a constant replaces or is added to."""
    if data.rank < 2:
        return None
    rows = n.net.constant(np.array([[int(n.random.integers(data.shape[0]))]]))
    inputs = [data.name, rows, n.constant(1, *data.shape[1:])]
    return n.add("ScatterND", inputs, data.shape, reduction=n.one_of(("none", "add", "max")))


def resized(n: Net, data: Floats) -> Floats | None:
    """An image of another size."""
    if data.rank != 4 or max(data.shape[2:]) > 8:
        return None
    sizes = [*data.shape[:2], *(int(v) for v in n.random.integers(1, 9, 2))]
    attrs = {
        "mode": n.one_of(("nearest", "linear", "cubic")),
        "coordinate_transformation_mode": n.one_of(("half_pixel", "asymmetric", "align_corners")),
    }
    return n.add("Resize", [data.name, "", "", n.integers(*sizes)], sizes, **attrs)


def blocks(n: Net, data: Floats) -> Floats | None:
    """Channels as pixels, or pixels as channels."""
    if data.rank != 4:
        return None
    b, c, h, w = data.shape
    if c % 4 == 0:
        mode = n.one_of(("DCR", "CRD"))
        shape = (b, c // 4, 2 * h, 2 * w)
        return n.add("DepthToSpace", [data.name], shape, blocksize=2, mode=mode)
    if h % 2 or w % 2:
        return None
    return n.add("SpaceToDepth", [data.name], (b, 4 * c, h // 2, w // 2), blocksize=2)


def repeated(n: Net, data: Floats) -> Floats | None:
    """Along an axis, by Tile or Expand."""
    axis = int(n.random.integers(data.rank))
    counts = [2 if i == axis else 1 for i in range(data.rank)]
    shape = [a * b for a, b in zip(counts, data.shape, strict=True)]
    op = "Expand" if data.shape[axis] == 1 else "Tile"
    return n.add(op, [data.name, n.integers(*(shape if op == "Expand" else counts))], shape)


def triangle(n: Net, data: Floats) -> Floats | None:
    """Matrices with zeros."""
    if data.rank < 2:
        return None
    diagonal = n.net.constant(np.array(n.random.integers(-2, 3)))
    return n.add("Trilu", [data.name, diagonal], data.shape, upper=n.one_of((0, 1)))


LAYERS: tuple[Layer, ...] = (
    *(function, function, function, function_of_positives, exponential, elements, elements),
    *(elements_and_constant, elements_and_constant, quotient, chosen, largest, turned, reshaped),
    *(reshaped, padded, sliced, split, joined, gathered, scattered, resized, blocks, repeated),
    triangle,
)
