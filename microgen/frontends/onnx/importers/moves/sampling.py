"""Operators that sample images at computed coordinates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from microgen.frontends.layouts import axis_last
from microgen.frontends.onnx import move_nodes
from microgen.frontends.onnx.importers import arguments
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import Array, DType
from microgen.graph.ops.dense.batch_matmul import BatchMatmulAttrs
from microgen.graph.ops.detection.roi_align import RoiAlignAttrs
from microgen.graph.ops.detection.sampling import MODES, PADDINGS, GridSampleAttrs

_OLD_MODES = {"bilinear": "linear", "bicubic": "cubic"}  # names before opset 20


def _grid_sample(node: OnnxNode) -> BuiltTensor:
    data, grid = (node.tensor(i, DType.FLOAT32) for i in (0, 1))
    axes = arguments.spatial_rank(node, data)
    mode, padding = str(node.attr("mode", "linear")), str(node.attr("padding_mode", "zeros"))
    mode = _OLD_MODES.get(mode, mode)
    if mode not in MODES or padding not in PADDINGS or axes > 3:
        raise node.unsupported(
            f"has the mode {mode!r} and the padding_mode {padding!r} for {data.type}",
            supported=f"{', '.join(MODES)}; {', '.join(PADDINGS)}; up to three spatial axes",
        )
    image, source, target = axis_last(node, data, 1)
    attrs = GridSampleAttrs(mode, padding, bool(node.attr("align_corners", 0)))
    return node.laid_out(node.emit("grid_sample", attrs, (image, grid)), target, source)


def _roi_align(node: OnnxNode) -> BuiltTensor:
    data, rois = (node.tensor(i, DType.FLOAT32) for i in (0, 1))
    batches = move_nodes.indices_of(node, 2)
    mode = str(node.attr("mode", "avg"))
    default = "output_half_pixel" if node.version < 16 else "half_pixel"
    corners = str(node.attr("coordinate_transformation_mode", default))
    if len(data.shape) != 4 or mode not in ("avg", "max") or len(batches.shape) != 1:
        raise node.unsupported(f"of {data.type} has the mode {mode!r}", supported="avg, max")
    attrs = RoiAlignAttrs(
        (int(node.attr("output_height", 1)), int(node.attr("output_width", 1))),
        float(node.attr("spatial_scale", 1.0)),
        int(node.attr("sampling_ratio", 0)),
        mode == "max",
        corners == "half_pixel",
    )
    places = move_nodes.of_tuples(node, node.reshaped(batches, (*batches.shape, 1)), data.shape[:1])
    image = node.laid_out(data, "NCHW", "NHWC")
    return node.laid_out(node.emit("roi_align", attrs, (image, rois, places)), "NHWC", "NCHW")


def _affine_grid(node: OnnxNode) -> BuiltTensor:
    """Constant coordinates of all places, with a 1 at the end, times the matrices."""
    theta, declared = node.tensor(0), node.declared_for(1)
    if declared is not None:
        size: tuple[int, ...] = (declared[0], 1, *declared[1:-1])
    else:
        size = node.ints_of("size", 1) or ()
    node.expect(theta, DType.FLOAT32)
    axes = len(size) - 2
    if axes not in (2, 3) or theta.shape != (size[0], axes, axes + 1):
        raise node.invalid(f"has matrices {theta.type} for the size {list(size)}")
    move_nodes.budgeted(node, (*size[2:], axes + 1), DType.FLOAT32)
    places = _places(node, size[2:], bool(node.attr("align_corners", 0)))
    rows = node.constant(places.reshape(1, -1, axes + 1), "coordinates")
    product = BatchMatmulAttrs(transpose_a=False, transpose_b=True)
    grid = node.emit("nn.batch_matmul", product, (rows, theta))
    return node.reshaped(grid, (size[0], *size[2:], axes))


def _places(node: OnnxNode, sizes: Sequence[int], aligns: bool) -> Array:
    """The coordinates of each place, last axis first, then a 1."""
    if aligns and min(sizes) == 1:
        raise node.unsupported("aligns the corners of an axis of one element", supported="two")
    # -1 and 1 are the centres of the first and the last pixel if aligned, otherwise their outer
    # edges.
    sides = [
        -1 + 2 * np.arange(n) / (n - 1) if aligns else -1 + (2 * np.arange(n) + 1) / n
        for n in sizes
    ]
    grids = np.meshgrid(*sides, indexing="ij")
    # The 1 multiplies the translation, the last column of a matrix.
    return np.stack([*grids[::-1], np.ones(tuple(sizes))], -1).astype(np.float32)


IMPORTERS = {"AffineGrid": _affine_grid, "GridSample": _grid_sample, "RoiAlign": _roi_align}
