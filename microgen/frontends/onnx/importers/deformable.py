"""DeformConv: images sampled at computed places, then a product with the weights."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from microgen.frontends.onnx import convolution_nodes, move_nodes, windows
from microgen.frontends.onnx.composing import binary
from microgen.frontends.onnx.importers import arguments
from microgen.frontends.onnx.move_nodes import cut, flipped, joined, transposed
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.frontends.onnx.windows import OnnxWindow
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import Array, DType
from microgen.graph.ops.detection.sampling import GridSampleAttrs

_ONES, _NONE = (1, 1), (0, 0)


@dataclass(frozen=True, slots=True)
class _Layer:
    """The operands of a node."""

    node: OnnxNode
    data: BuiltTensor  # [N, C, H, W]
    weight: BuiltTensor  # [O, I, taps...]
    offset: BuiltTensor  # [N, 2 taps of each offset group, places...]
    mask: BuiltTensor | None  # [N, taps of each offset group, places...]
    window: OnnxWindow
    groups: int  # of offsets

    @property
    def taps(self) -> int:
        """The number of taps of a window."""
        return math.prod(self.window.kernel)


def _deform_conv(node: OnnxNode) -> BuiltTensor:
    """Source: ONNX's specification of DeformConv."""
    layer, bias = _read(node), node.optional(3)
    groups = arguments.groups(node, layer.data, layer.weight, bias)
    if layer.weight.shape[1] * groups != layer.data.shape[1] or layer.weight.shape[0] % groups:
        raise node.invalid(
            f"has the weight {layer.weight.type} and {groups} groups for {layer.data.type}"
        )
    image = convolution_nodes.channels_last(node, layer.data)
    each = image.shape[3] // layer.groups
    sampled = [_sampled(layer, cut(node, image, 3, k * each, each), k) for k in range(layer.groups)]
    # [N, taps, places..., C] -> [N, places..., taps, C], as the filters read them.
    columns = transposed(node, joined(node, sampled, 4), (0, 2, 3, 1, 4))
    result = joined(node, list(_products(layer, columns, bias, groups)), 3)
    return convolution_nodes.channels_second(node, result)


def _read(node: OnnxNode) -> _Layer:
    data, weight, offset = (node.tensor(i, DType.FLOAT32) for i in range(3))
    mask = node.optional(4, DType.FLOAT32)
    if len(data.shape) != 4 or len(weight.shape) != 4:
        raise node.unsupported(f"of {data.type} has no kernel", supported="2 spatial axes")
    kernel = windows.kernel_shape(node, 2, weight.shape[2:])
    window = windows.window(node, data.shape[2:], kernel)
    groups, taps = int(node.attr("offset_group", 1)), math.prod(kernel)
    if groups < 1 or data.shape[1] % groups:
        raise node.invalid(f"has {groups} groups of offsets for {data.shape[1]} channels")
    for tensor, count in ((offset, 2 * taps * groups), (mask, taps * groups)):
        wanted = (data.shape[0], count, *window.places)
        if tensor is not None and tensor.shape != wanted:
            raise node.invalid(f"has the input {tensor.type}; {list(wanted)} is expected")
    return _Layer(node, data, weight, offset, mask, window, groups)


def _sampled(layer: _Layer, image: BuiltTensor, group: int) -> BuiltTensor:
    """The channels of an offset group at its places: [N, taps, places..., channels]. Offsets are
    added to the taps, both in grid_sample's coordinates, in which an image is 2 wide."""
    node, taps, places = layer.node, layer.taps, layer.window.places
    batches, size = image.shape[0], layer.data.shape[2:]
    own = cut(node, layer.offset, 1, 2 * taps * group, 2 * taps)
    pairs = node.reshaped(own, (batches, taps, 2, *places))
    # Offsets are row before column, and grid_sample reads the column first.
    shifts = flipped(node, transposed(node, pairs, (0, 1, 3, 4, 2)), (4,))
    # grid_sample's coordinates, in which an image is 2 wide.
    scale = node.constant(np.array([2 / size[1], 2 / size[0]], np.float32), "scale")
    grid = binary(node, "add", binary(node, "multiply", shifts, scale), _places(layer))
    samples = node.emit("grid_sample", GridSampleAttrs("linear", "zeros", False), (image, grid))
    if layer.mask is None:
        return samples
    mask = cut(node, layer.mask, 1, taps * group, taps)
    return binary(node, "multiply", samples, node.reshaped(mask, (batches, taps, *places, 1)))


def _places(layer: _Layer) -> BuiltTensor:
    """The places of the taps without offsets, x before y: [1, taps, places..., 2]."""
    window, node = layer.window, layer.node
    kind = move_nodes.budgeted(node, (1, layer.taps, *window.places, 2), DType.FLOAT32)
    sides = [_side(layer, axis) for axis in (0, 1)]
    rows, columns = sides[0][:, None, :, None], sides[1][None, :, None, :]
    grids = [np.broadcast_to(each, (*window.kernel, *window.places)) for each in (columns, rows)]
    return node.constant(np.stack(grids, -1).reshape(kind.shape).astype(np.float32), "places")


def _side(layer: _Layer, axis: int) -> Array:
    """The coordinates along an axis, of each tap at each place."""
    # The image reaches from -1 to 1, and a coordinate is the centre of a pixel.
    return np.asarray((2 * layer.window.cells(axis) + 1) / layer.data.shape[2 + axis] - 1)


def _products(
    layer: _Layer, columns: BuiltTensor, bias: BuiltTensor | None, groups: int
) -> Iterator[BuiltTensor]:
    """For each group, its channels of the columns [N, places..., taps, C] times its filters."""
    node, places = layer.node, columns.shape[:3]
    outputs, inputs = layer.weight.shape[0] // groups, layer.weight.shape[1]
    depth = layer.taps * inputs
    # The taps are channels of the columns, so the kernel is 1 by 1.
    window = OnnxWindow(*(_ONES,) * 3, *(_NONE,) * 3, layer.window.places)
    for k in range(groups):
        image = node.reshaped(cut(node, columns, 4, k * inputs, inputs), (*places, depth))
        own = cut(node, layer.weight, 0, k * outputs, outputs)
        weight = node.reshaped(transposed(node, own, (0, 2, 3, 1)), (outputs, depth, 1, 1))
        added = None if bias is None else cut(node, bias, 0, k * outputs, outputs)
        yield convolution_nodes.OnnxConvolution(node, weight, added, 1, window).of(image)


IMPORTERS = {"DeformConv": _deform_conv}
