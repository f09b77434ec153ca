"""Nodes that change shapes, move elements or read them by index."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from microgen.graph.ir.graph import Array
from tests.frontends.onnx.one_node import OneNode

_RNG = np.random.default_rng(19)
_SOME = ("float32", "int8", "uint8", "int32", "int64", "bool")
_FEW = ("float32", "int8", "int64")


def _data(shape: tuple[int, ...], dtype: str = "float32") -> Array:
    if dtype == "float32":
        return _RNG.normal(size=shape).astype(np.float32)
    if dtype == "bool":
        return _RNG.integers(0, 2, shape).astype(np.bool_)
    return _RNG.integers(0 if dtype.startswith("u") else -99, 100, shape).astype(dtype)


def _ints(*values: int) -> Array:
    return np.array(values, np.int64)


def _node(op: str, *inputs: Array | None, data: int = 1, outputs: int = 1, **attrs: Any) -> OneNode:
    return OneNode(op, inputs, attrs, data, outputs)


def _shapes() -> Iterator[OneNode]:
    x = _data((2, 3, 4, 1))
    yield _node("Reshape", x, _ints(0, -1, 2))
    yield _node("Reshape", x, _ints(4, 6), allowzero=1)
    yield _node("Reshape", _data((1,)), _ints())
    yield from (_node("Flatten", x, axis=axis) for axis in (-1, 0, 2, 4))
    yield _node("Squeeze", x, _ints(-1))
    yield _node("Squeeze", _data((1, 3, 1)))
    yield _node("Unsqueeze", x, _ints(-1, 0, 3))
    yield _node("Transpose", x)
    for dtype in _SOME:
        yield _node("Transpose", _data((2, 3, 4), dtype), perm=[2, 0, 1])


def _parts() -> Iterator[OneNode]:
    x = _data((5, 6, 3))
    for dtype in _SOME:
        yield _node("Concat", _data((2, 3), dtype), _data((2, 1), dtype), data=2, axis=-1)
    yield _node("Split", x, outputs=3, axis=1, num_outputs=3)
    yield _node("Split", x, _ints(1, 3, 1), outputs=3, axis=-3)
    yield _node("Split", x, outputs=3, axis=0, num_outputs=3)
    yield _node("Slice", x, _ints(1), _ints(2**62), _ints(-2))
    yield _node("Slice", x, _ints(0, 1), _ints(2, 9), _ints(0, 2), _ints(1, 2))
    yield _node("Slice", x, _ints(-1, 9), _ints(-99, 0), _ints(0, 1), _ints(-2, -3))
    yield _node("Compress", x, np.array([True, False, True, True]), axis=1)
    yield _node("Compress", x, np.array([False, True, True]))
    yield _node("CenterCropPad", x, _ints(4, 9, 2))
    yield _node("CenterCropPad", x, _ints(8), axes=[-1])


def _gathers() -> Iterator[OneNode]:
    x = _data((5, 6, 3))
    yield _node("Gather", x, np.array(2, np.int64), axis=1)
    yield _node("Gather", x, np.array(-1, np.int32))
    for dtype, data in itertools.product(_FEW, (1, 2)):
        indices = _RNG.integers(-6, 6, (2, 4)).astype((np.int32, np.int64)[data % 2])
        yield _node("Gather", _data((5, 6, 3), dtype), indices, data=data, axis=-2)
        along = _RNG.integers(-6, 6, (4, 2, 3))
        yield _node("GatherElements", _data((5, 6, 3), dtype), along, data=data, axis=1)
        tuples = np.stack([_RNG.integers(-n, n, (2, 3)) for n in (5, 6)], -1)
        yield _node("GatherND", _data((5, 6, 3), dtype), tuples, data=data)
    batches = np.stack([_RNG.integers(-n, n, (5, 2)) for n in (6, 3)], -1)
    yield _node("GatherND", _data((5, 6, 3, 2)), batches, data=2, batch_dims=1)
    yield _node("GatherND", _data((5, 6, 3)), batches[:, 0, :1], data=2, batch_dims=1)
    hot = np.array([[0, -1, 3], [2, 9, -4]])
    for axis in (-1, 0, 1):
        yield _node("OneHot", hot, _ints(4), _data((2,)), axis=axis)


def _scatters() -> Iterator[OneNode]:
    rows = np.array([[2], [-1], [0]])
    for dtype, data in itertools.product(_FEW, (1, 3)):
        yield _node("ScatterND", _data((5, 4), dtype), rows, _data((3, 4), dtype), data=data)
        places = np.array([[0, -2, 4], [3, 2, -1]])
        given = _data((2, 5), dtype), places, _data((2, 3), dtype)
        yield _node("ScatterElements", *given, data=data, axis=1)
    for reduction, dtype in itertools.product(("add", "mul", "max", "min"), ("float32", "int32")):
        twice = np.array([[1], [1], [3], [1]])
        given = _data((5, 3), dtype), twice, _data((4, 3), dtype)
        yield _node("ScatterND", *given, data=3, reduction=reduction)
        places = np.array([[0, 0, 1, 0]])
        given = _data((2, 4), dtype), places, _data((1, 4), dtype)
        yield _node("ScatterElements", *given, data=3, reduction=reduction)
    pooled = np.array([5, 7, 13, 15]).reshape(1, 1, 2, 2)
    sizes = {"kernel_shape": [2, 2], "strides": [2, 2]}
    yield _node("MaxUnpool", _data((1, 1, 2, 2)), pooled, data=2, **sizes)


def _repeats() -> Iterator[OneNode]:
    for dtype in _SOME:
        yield _node("Expand", _data((3, 1), dtype), _ints(2, 1, 4))
        yield _node("Tile", _data((2, 3), dtype), _ints(2, 3))
    yield _node("Tile", _data((2, 1, 3)), _ints(1, 4, 1))
    yield _node("Tile", _data((2, 3, 2, 3)), _ints(2, 3, 4, 2))
    for mode in ("DCR", "CRD"):
        yield _node("DepthToSpace", _data((2, 12, 2, 3)), blocksize=2, mode=mode)
    yield _node("SpaceToDepth", _data((2, 3, 4, 6)), blocksize=2)
    for k, upper in itertools.product((-9, -1, 0, 2, 9), (0, 1)):
        yield _node("Trilu", _data((2, 3, 4)), np.array(k, np.int64), upper=upper)
    yield _node("Trilu", _data((2, 3, 4)), np.array(-1), data=2)
    yield _node("Trilu", _data((3, 4), "int64"), np.array(1), data=2, upper=0)
    yield _node("ReverseSequence", _data((4, 3, 2)), _ints(1, 4, 0))
    yield _node("ReverseSequence", _data((4, 3, 2)), _ints(1, 4, 3), data=2)
    yield _node("ReverseSequence", _data((3, 4)), _ints(2, 4, 0), data=2, batch_axis=0, time_axis=1)
    yield _node("ReverseSequence", _data((3, 4)), _ints(2, 4, 3), batch_axis=0, time_axis=1)


def _pads() -> Iterator[OneNode]:
    x = _data((3, 4, 2))
    for dtype in ("float32", "int8", "int64"):
        value = np.array(3, dtype)
        yield _node("Pad", _data((3, 4), dtype), _ints(1, 0, 2, 3), value)
    yield _node("Pad", x, _ints(0, -1, 1, -1, 2, 0))
    yield _node("Pad", x, _ints(2, 1), None, _ints(-2), mode="edge")
    for mode in ("reflect", "edge"):
        yield _node("Pad", x, _ints(2, 3, 0, 1, 2, 1), mode=mode)
    yield _node("Pad", x, _ints(2, -1, 1, 1, 2, 0), mode="reflect")


def _sorts() -> Iterator[OneNode]:
    few = _RNG.integers(0, 5, (3, 8, 2)).astype(np.float32)
    for largest, axis in itertools.product((0, 1), (0, 1, -1)):
        yield _node("TopK", few, _ints(2), outputs=2, axis=axis, largest=largest)
    yield _node("TopK", _data((9,), "int64"), _ints(9), outputs=2)
    yield _node("TopK", _data((9,), "int32"), _ints(4), outputs=2, largest=0)


def _resizes() -> Iterator[OneNode]:
    x, sizes = _data((1, 2, 5, 7)), _ints(1, 2, 8, 5)
    modes = ("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel")
    for mode, places in itertools.product(("linear", "cubic"), modes):
        attrs = {"mode": mode, "coordinate_transformation_mode": places}
        yield _node("Resize", x, None, None, sizes, **attrs)
    for rounding in ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"):
        for places in modes[:3]:
            attrs = {"nearest_mode": rounding, "coordinate_transformation_mode": places}
            yield _node("Resize", x, None, None, sizes, **attrs)
    scales = np.array([1, 1, 0.6, 1.7], np.float32)
    yield _node("Resize", x, None, scales, mode="linear")
    yield _node("Resize", x, None, scales, mode="cubic", exclude_outside=1, cubic_coeff_a=-0.5)
    yield _node("Resize", _data((2, 3), "int8"), None, np.array([2, 2], np.float32))
    region = np.array([0, 0, 0.2, -0.3, 1, 1, 1.4, 0.6], np.float32)
    crop = {"coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": 5.0}
    yield _node("Resize", x, region, None, sizes, mode="linear", **crop)
    yield _node("Resize", x, None, None, _ints(1, 2, 3, 4), mode="linear", antialias=1)
    yield _node("Resize", _data((1, 2, 9)), None, None, _ints(1, 2, 4), mode="linear")


def _samples() -> Iterator[OneNode]:
    x = _data((2, 3, 4, 5))
    grid = _RNG.uniform(-1.3, 1.3, (2, 3, 2, 2)).astype(np.float32)
    modes = itertools.product(("nearest", "bilinear", "bicubic"), ("zeros", "border", "reflection"))
    for k, (mode, padding) in enumerate(modes):
        attrs = {"mode": mode, "padding_mode": padding, "align_corners": k % 2}
        yield _node("GridSample", x, grid, data=2, **attrs)
    regions = np.array([[0, 0, 3, 3], [1.2, 0.3, 4.1, 2.2]], np.float32)
    for mode, samples in itertools.product(("avg", "max"), (0, 2)):
        attrs = {"mode": mode, "output_height": 2, "output_width": 3, "sampling_ratio": samples}
        yield _node("RoiAlign", x, regions, _ints(1, 0), data=3, **attrs)
    image = {"strides": [2, 1], "pads": [0, 1, 1, 0], "dilations": [1, 2]}
    yield _node("Col2Im", _data((2, 12, 8)), _ints(4, 5), _ints(2, 2), **image)


CASES = [
    case
    for some in (
        *(_shapes, _parts, _gathers, _scatters, _repeats, _pads, _sorts, _resizes, _samples),
    )
    for case in some()
]


def _of_opset(opset: int, op: str, *inputs: Array | None, **attrs: Any) -> OneNode:
    return OneNode(op, inputs, attrs, opset=opset)


_X = _data((1, 2, 3, 4))
OLD = [
    _of_opset(7, "Pad", _X, pads=[0, 0, 1, 0, 0, 0, 0, 2], mode="constant", value=2.5),
    _of_opset(9, "Pad", _X, pads=[0, 0, 1, 2, 0, 0, 2, 0], mode="reflect"),
    _of_opset(9, "Slice", _X, starts=[-2, 0], ends=[9, 1], axes=[3, 1]),
    _of_opset(7, "Upsample", _X, scales=[1.0, 1.0, 2.0, 3.0], mode="nearest"),
    _of_opset(9, "Upsample", _X, np.array([1, 1, 2, 2], np.float32), mode="linear"),
    _of_opset(10, "Resize", _X, np.array([1, 1, 2, 0.5], np.float32)),
    _of_opset(11, "Squeeze", _X, axes=[0]),
    _of_opset(11, "Unsqueeze", _X, axes=[0, -1]),
    OneNode("Split", (_X,), {"axis": 3, "split": [1, 3]}, n_outputs=2, opset=11),
    OneNode("TopK", (_X,), {"axis": 3, "k": 2}, n_outputs=2, opset=9),
    _of_opset(9, "Scatter", _X, np.zeros((1, 1, 1, 1), np.int64), _X[:, :1, :1, :1], axis=3),
    OneNode("RoiAlign", (_X, np.ones((1, 4), np.float32), _ints(0)), n_data=3, opset=10),
]
