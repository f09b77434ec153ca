"""Pooling and resizing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from microgen.frontends.relay.calls import Importer, RelayCall
from microgen.frontends.relay.importers import arguments
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import Array, ArrayType, DType
from microgen.graph.ops import budget
from microgen.graph.ops.base import Pads, Pair
from microgen.graph.ops.cost import elementwise
from microgen.graph.ops.detection.resize2d import Resize2DAttrs
from microgen.graph.ops.moves.indexed import TakeAttrs
from microgen.graph.ops.moves.pads import PadAttrs
from microgen.graph.ops.pooling.pooling import AvgPool2DAttrs, MaxPool2DAttrs
from microgen.graph.ops.reductions.extremes import MaxAttrs
from microgen.graph.ops.reductions.reduction import MeanAttrs

_NO_PADS = (0, 0, 0, 0)


def _max_pool2d(call: RelayCall) -> BuiltTensor:
    call.expect(call.tensor(0), DType.FLOAT32, DType.INT8, DType.INT16)

    def pooled(data: BuiltTensor, pads: Pads) -> BuiltTensor:
        attrs = MaxPool2DAttrs(*_pool(call), pads, Activation.NONE)
        return call.emit("nn.max_pool2d", attrs, (data,), hint="NHWC")

    return _spatial(call, pooled)


def _avg_pool2d(call: RelayCall) -> BuiltTensor:
    # Means of int32 are truncated.
    # int8 is refused: Relay sums it in int8, and TVM's importers never need that.
    call.expect(call.tensor(0), DType.FLOAT32, DType.INT32)

    def pooled(data: BuiltTensor, pads: Pads) -> BuiltTensor:
        if call.attrs["count_include_pad"] and pads != _NO_PADS:
            # Padding that is included in the mean becomes zeros around the data.
            top, left, bottom, right = pads
            around = ((0, 0), (top, bottom), (left, right), (0, 0))
            zero = 0.0 if data.dtype is DType.FLOAT32 else 0
            data = call.emit("nn.pad", PadAttrs(around, zero), (data,), hint="pad")
            pads = _NO_PADS
        attrs = AvgPool2DAttrs(*_pool(call), pads, Activation.NONE)
        return call.emit("nn.avg_pool2d", attrs, (data,), hint="NHWC")

    return _spatial(call, pooled)


def _pool(call: RelayCall) -> tuple[Pair, Pair]:
    return arguments.pair(call, "pool_size"), arguments.pair(call, "strides")


def _spatial(call: RelayCall, pooled: Callable[[BuiltTensor, Pads], BuiltTensor]) -> BuiltTensor:
    """A pool of NHWC data with its padding, moved to and from the call's layouts."""
    if tuple(call.attrs["dilation"]) != (1, 1):
        raise call.unsupported("has a dilation", supported="dilation 1")
    layout = call.attrs["layout"]
    out_layout = call.attrs["out_layout"] or layout
    data = call.laid_out(call.tensor(0), layout, "NHWC")
    sizes = dict(zip(out_layout, call.output().shape, strict=True))
    result = pooled(data, _pads(call, data, (sizes["H"], sizes["W"])))
    return call.laid_out(result, "NHWC", out_layout)


def _pads(call: RelayCall, data: BuiltTensor, output: Pair) -> Pads:
    """The padding. ``ceil_mode`` adds padding at the end, for a last window that the data do not
    fill."""
    top, left, bottom, right = arguments.pads(call)
    if not call.attrs["ceil_mode"]:
        return top, left, bottom, right
    (height, width), strides = _pool(call)
    bottom = max(bottom, (output[0] - 1) * strides[0] + height - data.shape[1] - top)
    right = max(right, (output[1] - 1) * strides[1] + width - data.shape[2] - left)
    return top, left, bottom, right


def _global(op: str, attrs: type[MeanAttrs] | type[MaxAttrs], *accepted: DType) -> Importer:
    def importer(call: RelayCall) -> BuiltTensor:
        data, layout = call.tensor(0), call.attrs["layout"]
        if op == "mean" and data.dtype is DType.INT32:
            return _integer_mean(call)
        call.expect(data, *accepted)
        axes = tuple(i for i, letter in enumerate(layout) if letter in "HW")
        result = call.emit(op, attrs(axes, True), (data,))
        return call.laid_out(result, layout, call.attrs.get("out_layout") or layout)

    return importer


def _integer_mean(call: RelayCall) -> BuiltTensor:
    """The truncated mean of an int32 image, computed as a pool with one window."""
    layout = call.attrs["layout"]
    data = call.laid_out(call.tensor(0), layout, "NHWC")
    size = (data.shape[1], data.shape[2])
    attrs = AvgPool2DAttrs(size, size, _NO_PADS, Activation.NONE)
    mean = call.emit("nn.avg_pool2d", attrs, (data,), hint="NHWC")
    return call.laid_out(mean, "NHWC", call.attrs.get("out_layout") or layout)


_MODES = ("half_pixel", "align_corners", "asymmetric")
_METHODS = ("linear", "nearest_neighbor")
_EPSILON = 1e-5  # with it TVM keeps quotients that are whole from being rounded to the next one


def _resize2d(call: RelayCall) -> BuiltTensor:
    if call.output().dtype is not call.tensor(0).dtype:
        raise call.unsupported("has another out_dtype than its data", supported="the data's")
    mode = call.attrs["coordinate_transformation_mode"]
    return _resized(call, call.attrs["method"], mode, call.attrs["rounding_method"])


def _upsampling(call: RelayCall) -> BuiltTensor:
    # Source: TVM v0.14, topi/nn/upsampling.py, which calls image.resize2d.
    mode = "align_corners" if call.attrs["align_corners"] else "asymmetric"
    method = "linear" if call.attrs["method"] == "bilinear" else call.attrs["method"]
    return _resized(call, method, mode, "")


def _resized(call: RelayCall, method: str, mode: str, rounding: str) -> BuiltTensor:
    if mode not in _MODES or method not in _METHODS:
        raise call.unsupported(
            f"has the method {method!r} and the coordinates {mode!r}",
            supported=f"{' and '.join(_METHODS)}; {', '.join(_MODES)}",
        )
    layout = call.attrs["layout"]
    data = call.laid_out(call.tensor(0), layout, "NHWC")
    sizes = dict(zip(layout, call.output().shape, strict=True))
    if method == "linear":
        call.expect(data, DType.FLOAT32)
        attrs = Resize2DAttrs(
            (sizes["H"], sizes["W"]), mode == "align_corners", mode == "half_pixel"
        )
        image = call.emit("image.resize2d", attrs, (data,), hint="NHWC")
    else:
        # Without a method TVM rounds for align_corners, and takes the floor otherwise.
        rounding = rounding or ("round" if mode == "align_corners" else "floor")
        image = _nearest(call, data, 1, _places(call, data.shape[1], sizes["H"], mode, rounding))
        image = _nearest(call, image, 2, _places(call, data.shape[2], sizes["W"], mode, rounding))
    return call.laid_out(image, "NHWC", layout)


def _nearest(call: RelayCall, data: BuiltTensor, axis: int, places: Array) -> BuiltTensor:
    if np.array_equal(places, np.arange(data.shape[axis])):
        return data
    indices = call.constant(places.astype(np.int32), "indices")
    return call.emit("take", TakeAttrs(axis), (data, indices))


def _places(call: RelayCall, size: int, target: int, mode: str, rounding: str) -> Array:
    """The input's index for each index of the output along an axis."""
    # Source: TVM v0.14, topi/image/resize.py, get_inx and get_closest_index.
    places = ArrayType((target,), DType.FLOAT32)
    budget.spend(elementwise(None, (), (places,)), call.where)
    x = np.arange(target, dtype=np.float64)
    if mode == "align_corners":
        exact = x * (size - 1) / max(target - 1, 1)
    else:
        exact = (x + 0.5) * size / target - 0.5 if mode == "half_pixel" else x * size / target
    rounded = {
        "round": np.sign(exact) * np.floor(np.abs(exact) + 0.5),
        "round_prefer_floor": np.ceil(exact - 0.5),
        "round_prefer_ceil": np.floor(exact + 0.5),
        "floor": np.floor(exact + _EPSILON),
        "ceil": np.ceil(exact - _EPSILON),
    }
    if rounding not in rounded:
        raise call.unsupported(
            f"has the rounding_method {rounding!r}", supported=", ".join(rounded)
        )
    inside: Array = np.clip(rounded[rounding], 0, size - 1)
    return inside


IMPORTERS = {
    "nn.max_pool2d": _max_pool2d,
    "nn.avg_pool2d": _avg_pool2d,
    "nn.global_avg_pool2d": _global("mean", MeanAttrs, DType.FLOAT32),
    "nn.global_max_pool2d": _global("max", MaxAttrs, DType.FLOAT32, DType.INT8, DType.INT16),
    "image.resize2d": _resize2d,
    "nn.upsampling": _upsampling,
}
