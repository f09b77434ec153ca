"""Pad, in all of its modes."""

from __future__ import annotations

import numpy as np

from microgen.frontends.onnx import move_nodes
from microgen.frontends.onnx.importers import arguments
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import Array
from microgen.graph.ops.base import Pair
from microgen.graph.ops.moves.pads import MirrorPadAttrs

_MODES = ("constant", "reflect", "edge", "wrap")


def _pad(node: OnnxNode) -> BuiltTensor:
    data, mode = node.tensor(0), str(node.attr("mode", "constant"))
    if mode not in _MODES:
        raise node.unsupported(f"has the mode {mode!r}", supported=", ".join(_MODES))
    pads = _pads(node, data)
    sizes = [size + before + after for size, (before, after) in zip(data.shape, pads, strict=True)]
    move_nodes.shape_of(node, sizes, data.dtype)
    data = _cropped(node, data, pads)
    pads = tuple((max(before, 0), max(after, 0)) for before, after in pads)
    if not any(map(any, pads)):
        return data
    if mode == "constant":
        return move_nodes.padded(node, data, pads, _value(node, data))
    # The op mirrors once; larger pads of small axes are selected place by place.
    is_mirrored_once = all(max(pair) < size for size, pair in zip(data.shape, pads, strict=True))
    if mode == "reflect" and is_mirrored_once:
        return node.emit("nn.mirror_pad", MirrorPadAttrs(pads, repeats_edge=False), (data,))
    for axis, pair in enumerate(pads):
        if any(pair):
            data = move_nodes.picked(node, data, axis, _places(mode, data.shape[axis], pair))
    return data


def _pads(node: OnnxNode, data: BuiltTensor) -> tuple[Pair, ...]:
    """(before, after) per axis."""
    rank, numbers = len(data.shape), node.ints_of("pads", 1) or ()
    stated = node.optional_constant(3, "axes")
    # Only opset 18 and later have axes, so by default all are padded.
    axes = arguments.axes(node, range(rank) if stated is None else stated.ravel().tolist(), rank)
    if len(numbers) != 2 * len(axes):
        raise node.invalid(f"has {len(numbers)} pads for {len(axes)} axes; two each are expected")
    by_axis = {axis: (numbers[i], numbers[i + len(axes)]) for i, axis in enumerate(axes)}
    return tuple(by_axis.get(axis, (0, 0)) for axis in range(rank))


def _cropped(node: OnnxNode, data: BuiltTensor, pads: tuple[Pair, ...]) -> BuiltTensor:
    """The data without the elements that negative pads remove."""
    begin = [max(0, -before) for before, _ in pads]
    shape = [
        size - first - max(0, -after)
        for size, first, (_, after) in zip(data.shape, begin, pads, strict=True)
    ]
    if min(shape, default=1) < 1:
        raise node.invalid(f"has the pads {pads} for {data.type}: nothing of it is left")
    return move_nodes.sliced(node, data, begin, (1,) * len(shape), shape)


def _value(node: OnnxNode, data: BuiltTensor) -> float:
    """The number around the data: an attribute in old opsets, then an input."""
    # Before opset 11 the number is an attribute, and there is no such input.
    stated = node.optional_constant(2, "padding values") if node.version > 10 else None
    number: Array = np.ravel(node.attr("value", 0.0) if stated is None else stated)
    if len(number) != 1:
        raise node.invalid(f"has {len(number)} padding values; one is expected")
    # An int64 has more digits than a float, so ``item`` is not converted.
    result: float = number.astype(data.dtype.numpy)[0].item()
    return result


def _places(mode: str, size: int, pair: Pair) -> Array:
    """The index of the data's element at each place of a padded axis."""
    places = np.arange(-pair[0], size + pair[1])
    if mode == "edge":
        return places.clip(0, size - 1)
    if mode == "wrap":
        return places % size
    # A reflection repeats after the way there and back, on which both ends count once.
    period = max(1, 2 * (size - 1))
    folded: Array = places % period
    return np.minimum(folded, period - folded) if size > 1 else np.zeros_like(places)


def _center_crop_pad(node: OnnxNode) -> BuiltTensor:
    """Each axis is cut or padded with zeros; if the number of elements is odd, the end gets one
    more."""
    data = node.tensor(0)
    rank = len(data.shape)
    axes = arguments.axes(node, node.ints("axes", tuple(range(rank))), rank)
    wanted = arguments.declared_sizes(node, 1, axes, rank)
    if wanted is None:
        wanted = node.ints_of("shape", 1) or ()
    if len(wanted) != len(axes):
        raise node.invalid(f"has {len(wanted)} sizes for {len(axes)} axes")
    sizes = list(data.shape)
    for axis, size in zip(axes, wanted, strict=True):
        sizes[axis] = size
    move_nodes.shape_of(node, sizes, data.dtype)
    added = [max(0, size - own) for own, size in zip(data.shape, sizes, strict=True)]
    begin = [max(0, own - size) // 2 for own, size in zip(data.shape, sizes, strict=True)]
    kept = [min(own, size) for own, size in zip(data.shape, sizes, strict=True)]
    pads = [(more // 2, more - more // 2) for more in added]
    return move_nodes.padded(node, move_nodes.sliced(node, data, begin, (1,) * rank, kept), pads)


IMPORTERS = {"CenterCropPad": _center_crop_pad, "Pad": _pad}
