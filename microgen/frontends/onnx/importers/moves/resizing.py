"""Resize and Upsample, one axis at a time."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgen.frontends.onnx import move_nodes
from microgen.frontends.onnx.importers import arguments
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.frontends.onnx.resize_coordinates import (
    COORDINATES,
    ROUNDINGS,
    Filter,
    ResizedAxis,
    nearest,
    positions,
)
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import Array, ArrayType, DType
from microgen.graph.ops import budget
from microgen.graph.ops.cost import elementwise
from microgen.graph.ops.detection.resize2d import Resize2DAttrs
from microgen.graph.ops.detection.sampling import ResampleAttrs

_MODES = ("nearest", "linear", "cubic")
_POLICY = "keep_aspect_ratio_policy"
_POLICIES = {"not_larger": min, "not_smaller": max}
_MOST_PLACES = 2**16  # on an axis, because tables of them are computed here
_OF_RESIZE2D = ("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel")


@dataclass(frozen=True, slots=True)
class _Wanted:
    """How to resize: the axes that change, and the attributes of the operator."""

    axes: dict[int, ResizedAxis]
    coordinates: str
    mode: str
    rounding: str = "floor"
    cubic: float = -0.75
    antialias: bool = False
    excludes: bool = False

    @property
    def filter(self) -> Filter:
        """The weights by distance."""
        cubic = self.cubic if self.mode == "cubic" else None
        return Filter(cubic, self.antialias, self.excludes)

    def sizes(self, shape: tuple[int, ...]) -> list[int]:
        """The sizes of the resized tensor."""
        return [self.axes[k].places if k in self.axes else size for k, size in enumerate(shape)]


def _upsample(node: OnnxNode) -> BuiltTensor:
    """Upsample, and Resize of opset 10: the scales are an input or an attribute."""
    data, stated = node.tensor(0), node.attr("scales", None)
    scales = stated if stated is not None else node.constant_of(1, "scales").ravel().tolist()
    axes = _scaled(node, data, scales, range(len(data.shape)))
    return _resized(node, data, _Wanted(axes, "asymmetric", str(node.attr("mode", "nearest"))))


def _resize(node: OnnxNode) -> BuiltTensor:
    if node.version < 11:
        return _upsample(node)
    data, rank = node.tensor(0), len(node.tensor(0).shape)
    if not data.type.size:
        raise node.unsupported(f"of {data.type} has no elements", supported="axes of 1 or more")
    coordinates = str(node.attr("coordinate_transformation_mode", "half_pixel"))
    chosen = arguments.axes(node, node.ints("axes", tuple(range(rank))), rank)
    axes = _new_axes(node, data, chosen)
    axes = _with_roi(node, axes) if coordinates == "tf_crop_and_resize" else axes
    wanted = _Wanted(
        axes,
        coordinates,
        str(node.attr("mode", "nearest")),
        str(node.attr("nearest_mode", "round_prefer_floor")),
        float(node.attr("cubic_coeff_a", -0.75)),
        bool(node.attr("antialias", 0)),
        bool(node.attr("exclude_outside", 0)),
    )
    return _resized(node, data, wanted)


def _new_axes(node: OnnxNode, data: BuiltTensor, chosen: Sequence[int]) -> dict[int, ResizedAxis]:
    """The chosen axes, by scales or by sizes."""
    scales, policy = node.optional_constant(2, "scales"), node.attr(_POLICY, "stretch")
    if scales is not None and scales.size:
        return _scaled(node, data, scales.ravel().tolist(), chosen)
    is_stretched = policy == "stretch"
    sizes = arguments.declared_sizes(node, 3, chosen, len(data.shape)) if is_stretched else None
    if sizes is None:
        sizes = node.ints_of("sizes", 3) or ()
    if len(sizes) != len(chosen):
        raise node.invalid(f"needs as many scales or sizes as the {len(chosen)} axes")
    wanted = dict(zip(chosen, sizes, strict=True))
    ratios = {axis: size / data.shape[axis] for axis, size in wanted.items()}
    if policy in _POLICIES:
        # One ratio for all axes keeps the aspect.
        ratio = _POLICIES[policy](ratios.values())
        ratios = dict.fromkeys(chosen, ratio)
        wanted = {k: int(ratio * data.shape[k] + 0.5) for k in chosen}
    elif not is_stretched:
        known = ", ".join(("stretch", *_POLICIES))
        raise node.unsupported(f"has the {_POLICY} {policy!r}", supported=known)
    return {k: ResizedAxis(data.shape[k], wanted[k], ratios[k]) for k in chosen}


def _scaled(
    node: OnnxNode, data: BuiltTensor, scales: Sequence[float], chosen: Sequence[int]
) -> dict[int, ResizedAxis]:
    ratios = [float(np.float32(scale)) for scale in scales]
    if len(ratios) != len(chosen) or not all(0 < ratio <= _MOST_PLACES for ratio in ratios):
        raise node.invalid(
            f"has the scales {ratios}; {len(chosen)}, each up to {_MOST_PLACES}, are expected"
        )
    return {
        k: ResizedAxis(data.shape[k], int(np.float32(ratio) * np.float32(data.shape[k])), ratio)
        for k, ratio in zip(chosen, ratios, strict=True)
    }


def _with_roi(node: OnnxNode, axes: dict[int, ResizedAxis]) -> dict[int, ResizedAxis]:
    """The axes with their regions of interest. The operand has all starts first, then all ends."""
    roi = node.constant_of(1, "regions").ravel()
    if roi.size != 2 * len(axes):
        raise node.invalid(f"has {roi.size} limits of a region for {len(axes)} axes")
    limits = zip(axes.items(), roi, roi[len(axes) :], strict=False)
    return {
        k: dataclasses.replace(axis, start=float(start), end=float(end))
        for (k, axis), start, end in limits
    }


def _resized(node: OnnxNode, data: BuiltTensor, wanted: _Wanted) -> BuiltTensor:
    changed = {k: axis for k, axis in wanted.axes.items() if axis.is_changed}
    wanted = dataclasses.replace(wanted, axes=changed)
    _check(node, data, wanted)
    return (_resize2d if _is_resize2d(data, wanted) else _by_axes)(node, data, wanted)


def _check(node: OnnxNode, data: BuiltTensor, wanted: _Wanted) -> None:
    for name, value, known in (
        ("mode", wanted.mode, _MODES),
        ("coordinate_transformation_mode", wanted.coordinates, tuple(COORDINATES)),
        ("nearest_mode", wanted.rounding, tuple(ROUNDINGS)),
    ):
        if value not in known:
            raise node.unsupported(f"has the {name} {value!r}", supported=", ".join(known))
    if not abs(wanted.cubic) <= _MOST_PLACES:
        raise node.invalid(f"has the cubic_coeff_a {wanted.cubic}; a small number is expected")
    for axis in wanted.axes.values():
        if not 1 <= axis.places <= _MOST_PLACES or axis.size > _MOST_PLACES:
            raise node.unsupported(
                f"resizes an axis from {axis.size} to {axis.places} elements",
                supported=f"1 to {_MOST_PLACES}",
            )
    move_nodes.shape_of(node, wanted.sizes(data.shape), data.dtype)
    if wanted.mode != "nearest":
        node.expect(data, DType.FLOAT32)


def _by_axes(node: OnnxNode, data: BuiltTensor, wanted: _Wanted) -> BuiltTensor:
    pads = [(0, 0)] * len(data.shape)
    # Axes that get shorter come first, so that the tensors between are small.
    axes = sorted(wanted.axes.items(), key=lambda each: each[1].places / each[1].size)
    for k, axis in axes:
        at = _positions(node, wanted, axis)
        # Only tf_crop_and_resize extrapolates. Positions are finite, so at == at is true
        # everywhere.
        crops = wanted.coordinates == "tf_crop_and_resize"
        inside = (at >= 0) & (at <= axis.size - 1) if crops else at == at
        if not inside.any():
            value = np.array(_extrapolated(node, data), data.dtype.numpy)
            return move_nodes.filled(node, wanted.sizes(data.shape), value)
        first, last = int(np.argmax(inside)), len(at) - int(np.argmax(inside[::-1]))
        # Positions are monotone, so the places outside are at the two ends.
        pads[k] = (first, len(at) - last)
        data = _along(node, data, k, wanted, axis, at[first:last])
    return move_nodes.padded(node, data, pads, _extrapolated(node, data))


def _positions(node: OnnxNode, wanted: _Wanted, axis: ResizedAxis) -> Array:
    # Numbers per place while the tables are computed.
    each = 1 if wanted.mode == "nearest" else 2 * wanted.filter.reach(axis.scale) + 2
    kind = ArrayType((axis.places * each,), DType.FLOAT32)
    budget.spend(elementwise(None, (), (kind,)), node.where)
    at = positions(wanted.coordinates, axis)
    if not np.isfinite(at).all():
        raise node.invalid(f"has the scale {axis.scale:g} and a region from {axis.start:g}")
    return at


def _extrapolated(node: OnnxNode, data: BuiltTensor) -> float:
    value: float = np.array(node.attr("extrapolation_value", 0.0)).astype(data.dtype.numpy).item()
    return value


def _along(
    node: OnnxNode, data: BuiltTensor, k: int, wanted: _Wanted, axis: ResizedAxis, at: Array
) -> BuiltTensor:
    if wanted.mode == "nearest":
        places = nearest(wanted.rounding, at, axis.size)
        if np.array_equal(places, np.arange(axis.size)):
            return data
        return move_nodes.picked(node, data, k, places)
    first, weights = wanted.filter.terms(at, axis)
    operands = (data, node.constant(first, "first"), node.constant(weights, "weights"))
    return node.emit("resample", ResampleAttrs(k), operands)


def _is_resize2d(data: BuiltTensor, wanted: _Wanted) -> bool:
    """Whether ``image.resize2d``, which needs no tables, computes the resize."""
    is_plain = not wanted.antialias and wanted.coordinates in _OF_RESIZE2D
    # PyTorch's places equal half_pixel's, except for a single place.
    if wanted.coordinates == "pytorch_half_pixel":
        is_plain = is_plain and all(axis.places > 1 for axis in wanted.axes.values())
    # image.resize2d computes the scale from the sizes, so the scale may have no other fraction.
    is_whole = all(axis.length == axis.places for axis in wanted.axes.values())
    is_image = len(data.shape) == 4 and set(wanted.axes) == {2, 3}
    return wanted.mode == "linear" and is_plain and is_whole and is_image


def _resize2d(node: OnnxNode, data: BuiltTensor, wanted: _Wanted) -> BuiltTensor:
    attrs = Resize2DAttrs(
        (wanted.axes[2].places, wanted.axes[3].places),
        wanted.coordinates == "align_corners",
        wanted.coordinates in ("half_pixel", "pytorch_half_pixel"),
    )
    image = node.laid_out(data, "NCHW", "NHWC")
    return node.laid_out(node.emit("image.resize2d", attrs, (image,)), "NHWC", "NCHW")


IMPORTERS = {"Resize": _resize, "Upsample": _upsample}
