"""image.resize2d and nn.upsampling."""

from __future__ import annotations

import numpy as np

from microgen.frontends.relay.calls import RelayCall
from microgen.frontends.tensors import Tensor
from microgen.graph.ir.graph import Array, DType, TensorType
from microgen.graph.ops import budget
from microgen.graph.ops.cost import elementwise
from microgen.graph.ops.detection.resize2d import Resize2DAttrs
from microgen.graph.ops.moves.indexed import TakeAttrs

_MODES = ("half_pixel", "align_corners", "asymmetric")
_METHODS = ("linear", "nearest_neighbor")
_EPSILON = 1e-5  # with it TVM keeps quotients that are whole from being rounded to the next one


def _resize2d(call: RelayCall) -> Tensor:
    if call.output().dtype is not call.tensor(0).dtype:
        raise call.unsupported("has another out_dtype than its data", supported="the data's")
    mode = call.attrs["coordinate_transformation_mode"]
    return _resized(call, call.attrs["method"], mode, call.attrs["rounding_method"])


def _upsampling(call: RelayCall) -> Tensor:
    """Source: TVM v0.14, topi/nn/upsampling.py, which calls image.resize2d."""
    mode = "align_corners" if call.attrs["align_corners"] else "asymmetric"
    method = "linear" if call.attrs["method"] == "bilinear" else call.attrs["method"]
    return _resized(call, method, mode, "")


def _resized(call: RelayCall, method: str, mode: str, rounding: str) -> Tensor:
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
        found = call.emit("image.resize2d", attrs, (data,), hint="NHWC")
    else:
        rounding = rounding or ("round" if mode == "align_corners" else "floor")
        found = _nearest(call, data, 1, _places(call, data.shape[1], sizes["H"], mode, rounding))
        found = _nearest(call, found, 2, _places(call, data.shape[2], sizes["W"], mode, rounding))
    return call.laid_out(found, "NHWC", layout)


def _nearest(call: RelayCall, data: Tensor, axis: int, places: Array) -> Tensor:
    if np.array_equal(places, np.arange(data.shape[axis])):
        return data
    indices = call.constant(places.astype(np.int32), "indices")
    return call.emit("take", TakeAttrs(axis), (data, indices))


def _places(call: RelayCall, size: int, target: int, mode: str, rounding: str) -> Array:
    """The input's index for each of the output's along an axis.

    Source: TVM v0.14, topi/image/resize.py, get_inx and get_closest_index.
    """
    places = TensorType((target,), DType.FLOAT32)
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


IMPORTERS = {"image.resize2d": _resize2d, "nn.upsampling": _upsampling}
