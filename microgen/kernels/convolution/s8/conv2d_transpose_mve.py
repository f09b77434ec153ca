"""Kernels for nn.conv2d_transpose that sum raw products of rows with MVE.

Outputs that are a stride apart are a phase: the same taps of the filters reach them, from adjacent
pixels. So each phase is a convolution of its own, without strides.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, Graph, Node
from microgen.graph.ops.base import Pair
from microgen.graph.ops.convolution.conv2d_transpose import Conv2DTransposeAttrs
from microgen.graph.ops.geometry import explicit
from microgen.kernels import base
from microgen.kernels.constant import Arguments, WeightLayout
from microgen.kernels.convolution.conv2d_transpose import LAYER
from microgen.kernels.convolution.s8.conv2d_mve import FILTERS, PIXELS, in_tiles
from microgen.kernels.requantization import transforms, weighted
from microgen.kernels.requantization.recipe import WeightedSums
from microgen.kernels.requantization.weighted import FLOAT_MVE, TWICE_NARROW, Loop
from microgen.kernels.work import Work, common

OP_NAME = "nn.conv2d_transpose"
PRECEDENCE = 2
_STRIP = 8  # MG_MVE_STRIP of microgen/convolution/s8/conv2d_s8_rows_mve.h
_VECTOR = 16  # bytes
_OFFSETS = 2**15  # bytes between two outputs that vectors of 16-bit offsets reach
_WORD = 4


@dataclass(frozen=True, slots=True)
class _Axis:
    """One of the two axes: taps of the filters, and rows or columns of the full result before the
    output."""

    taps: int
    stride: int
    crop: int

    def phases(self) -> Iterator[tuple[int, list[int]]]:
        """For the outputs n * stride + q, for each q: the last pixel of their windows, less n, and
        the taps of the window's pixels, the last pixel's first; there may be none."""
        for q in range(self.stride):
            last, first = divmod(q + self.crop, self.stride)
            yield last, [*range(first, self.taps, self.stride)]

    def span(self) -> Pair:
        """The pixels that the windows of all phases span, less n: the first, and the one after the
        last."""
        first = min(last - max(1, len(taps)) + 1 for last, taps in self.phases())
        return first, (self.crop + self.stride - 1) // self.stride + 1


def _axes(node: Node, graph: Graph) -> tuple[_Axis, _Axis]:
    """The rows and the columns."""
    attrs = base.attrs_of(node, Conv2DTransposeAttrs)
    kernel = base.spatial(graph.types[node.inputs[1]])
    rows, columns = zip(kernel, attrs.strides, explicit(attrs.padding)[:2], strict=True)
    return _Axis(*rows), _Axis(*columns)


def _arguments(node: Node, graph: Graph) -> Arguments:
    rows, columns = _axes(node, graph)
    return (
        ("stride_height", rows.stride),
        ("stride_width", columns.stride),
        ("crop_top", rows.crop),
        ("crop_left", columns.crop),
    )


def _refuses_few(node: Node, graph: Graph) -> str | None:
    """Refusal of few filters, and of outputs that are far apart."""
    filters, stride = _outputs(node, graph), _axes(node, graph)[1].stride
    if filters < FILTERS:
        return f"there are {filters} output channels, the kernel computes {FILTERS} at a time"
    if filters * stride >= _OFFSETS:
        return f"outputs are {filters * stride} bytes apart, the kernel takes less than {_OFFSETS}"
    return None


def _refuses_many(node: Node, graph: Graph) -> str | None:
    """Refusal of outputs of all phases that are more than a vector, or less than four."""
    rows, columns = _axes(node, graph)
    run = _outputs(node, graph) * columns.stride
    if run > _VECTOR:
        return f"outputs of a row's phases are {run} bytes, the kernel takes {_VECTOR}"
    if run * rows.stride < FILTERS:
        return f"phases have {run * rows.stride} outputs, the kernel computes {FILTERS} at a time"
    if run * rows.stride > _VECTOR**2 // 2:
        return f"phases have {run * rows.stride} outputs, the kernel takes {_VECTOR**2 // 2}"
    return None


def _outputs(node: Node, graph: Graph) -> int:
    return graph.types[node.inputs[1]].shape[0]


def _strip(node: Node, graph: Graph, lines: int) -> int:
    """Bytes of a vector and of a strip."""
    depth = graph.types[node.inputs[1]].shape[3]
    (first, end), width = _axes(node, graph)[1].span(), graph.types[node.outputs[0]].shape[2]
    pixels = min(_STRIP, -(-width // _axes(node, graph)[1].stride))
    return _VECTOR + (pixels - 1 + end - first) * lines * depth


def _scratch(node: Node, graph: Graph) -> int:
    """The scratch of mg_conv2d_transpose_s8_phases_mve in bytes."""
    lines = max(max(1, len(taps)) for _, taps in _axes(node, graph)[0].phases())
    return _strip(node, graph, lines)


def _merged_scratch(node: Node, graph: Graph) -> int:
    """The scratch of mg_conv2d_transpose_s8_merged_mve in bytes."""
    rows, columns = _axes(node, graph)
    (first, end), filters = rows.span(), _outputs(node, graph) * rows.stride * columns.stride
    return filters * (_WORD + 1 + _STRIP) + _strip(node, graph, end - first)


def _counts(outputs: int, stride: int, q: int) -> list[int]:
    """Pixels of a phase in each strip of a row that has ``outputs`` outputs."""
    pixels = max(0, -(-(outputs - q) // stride))
    starts = range(0, -(-outputs // stride), _STRIP)
    return [max(0, min(_STRIP, pixels - start)) for start in starts]


def _work(node: Node, graph: Graph) -> Work:
    """Strips, their lines and columns, and phases of strips; tiles and their vectors."""
    rows, columns = _axes(node, graph)
    depth, (batches, height, width, filters) = (
        graph.types[node.inputs[1]].shape[3],
        graph.types[node.outputs[0]].shape,
    )
    first, end = columns.span()
    strips = [count - 1 + end - first for count in _counts(width, columns.stride, 0)]
    groups, vectors = -(-filters // FILTERS), -(-depth // _VECTOR)
    found = dict.fromkeys(("strip", "line", "column", "phase", "pass", "tile", "tile_step"), 0)
    for y, (_, taps) in enumerate(rows.phases()):
        lines, times = max(1, len(taps)), batches * len(range(y, height, rows.stride))
        found["strip"] += times * len(strips)
        found["line"] += times * len(strips) * lines
        found["column"] += times * sum(strips) * lines * vectors
        for x, (_, across) in enumerate(columns.phases()):
            counts = [n for n in _counts(width, columns.stride, x) if n]
            passes = times * sum(-(-n // PIXELS) for n in counts)
            steps = -(-lines * max(1, len(across)) * depth // _VECTOR)
            found["phase"] += times * len(counts)
            found["pass"] += passes
            found["tile"] += passes * groups
            found["tile_step"] += passes * groups * steps
    return {**common(node, graph), **{f"phase_{name}": n for name, n in found.items()}}


def _merged_work(node: Node, graph: Graph) -> Work:
    """The same for phases that are one."""
    rows, columns = _axes(node, graph)
    depth = graph.types[node.inputs[1]].shape[3]
    batches, height, width, channels = graph.types[node.outputs[0]].shape
    (top, bottom), (left, right) = rows.span(), columns.span()
    lines, span, times = bottom - top, right - left, batches * -(-height // rows.stride)
    counts = _counts(width, columns.stride, 0)
    run, filters = channels * columns.stride, channels * columns.stride * rows.stride
    passes = times * sum(-(-n // PIXELS) for n in counts)
    tiles = passes * -(-filters // FILTERS)
    stores = sum(-(-n // (_VECTOR // run)) for n in counts)
    return {
        **common(node, graph),
        "phase_strip": times * len(counts),
        "phase_line": times * len(counts) * lines,
        "phase_column": times * sum(n - 1 + span for n in counts) * lines * -(-depth // _VECTOR),
        "phase_pass": passes,
        "phase_tile": tiles,
        "phase_tile_step": tiles * -(-lines * span * depth // _VECTOR),
        "phase_row": batches * height * len(counts),
        "phase_store": batches * height * stores,
        "phase_filter": filters,
    }


def _arranged(
    weight: Array, arguments: transforms.Arguments
) -> Iterator[tuple[tuple[int, list[int]], tuple[int, list[int]]]]:
    """The phases of rows and of columns, as ``_Axis.phases`` returns them, in their order."""
    rows, columns = _axes_of(weight, arguments)
    for row in rows.phases():
        for column in columns.phases():
            yield row, column


def _axes_of(weight: Array, arguments: transforms.Arguments) -> tuple[_Axis, _Axis]:
    _, height, width, _ = weight.shape
    return (
        _Axis(height, int(arguments["stride_height"]), int(arguments["crop_top"])),
        _Axis(width, int(arguments["stride_width"]), int(arguments["crop_left"])),
    )


# tiles_of_phases: a weight of int8 [filters, height, width, channels]; ``stride_height``,
# ``stride_width``, ``crop_top``, ``crop_left``. int8 [values]: for each phase the tiles of the
# filters' taps, in the order [width, height, channels] of the phase's windows, the last tap first.
def _tiled(sources: Sequence[Array], arguments: transforms.Arguments) -> Array:
    (weight,) = sources
    tiles = []
    for (_, ys), (_, xs) in _arranged(weight, arguments):
        filters = np.zeros(
            (len(weight), max(1, len(xs)), max(1, len(ys)), weight.shape[3]), weight.dtype
        )
        if ys and xs:
            filters[:] = weight[:, ys[::-1]][:, :, xs[::-1]].transpose(0, 2, 1, 3)
        tiles.append(in_tiles(filters.reshape(len(weight), -1)).ravel())
    return np.concatenate(tiles)


# tiles_of_merged_phases: the same. int8 [groups, 2, vectors, 2, 16]: tiles of filters for each
# phase and channel, whose windows span those of all phases.
def _merged(sources: Sequence[Array], arguments: transforms.Arguments) -> Array:
    (weight,) = sources
    rows, columns = _axes_of(weight, arguments)
    (top, bottom), (left, right) = rows.span(), columns.span()
    phases = []
    for (below, ys), (after, xs) in _arranged(weight, arguments):
        filters = np.zeros((len(weight), right - left, bottom - top, weight.shape[3]), weight.dtype)
        for i, y in enumerate(ys):
            for j, x in enumerate(xs):
                filters[:, after - j - left, below - i - top] = weight[:, y, x]
        phases.append(filters.reshape(len(weight), -1))
    return in_tiles(np.concatenate(phases))


# fold_zero_of_phases: sources and arguments of fold_zero, and arguments of tiles_of_phases. int32
# [phases * channels]: for each phase the bias that fold_zero makes with its taps.
def _folded(sources: Sequence[Array], arguments: transforms.Arguments) -> Array:
    weight, *bias = sources
    biases = []
    for (_, ys), (_, xs) in _arranged(weight, arguments):
        taps = weight[:, ys][:, :, xs].reshape(len(weight), -1)
        # A phase without taps has the sum 0, which a weight of 0 has, too.
        values = taps if taps.size else np.zeros((len(weight), 1), weight.dtype)
        biases.append(transforms.apply("fold_zero", (values, *bias), arguments))
    return np.concatenate(biases)


TRANSFORMS: Mapping[str, transforms.Function] = {
    "tiles_of_phases": _tiled,
    "tiles_of_merged_phases": _merged,
    "fold_zero_of_phases": _folded,
}

_SUMS = WeightedSums("fold_zero_of_phases", _arguments)
_CORES = (
    *("mg_mve_tile_compute", "mg_mve_strip_fill", "mg_mve_strip_lines"),
    "mg_mve_phase_compute",
)
_PHASES = weighted.vectors(
    Loop(
        stem="conv2d_transpose_s8_phases",
        refusal=_refuses_few,
        scratch=_scratch,
        sums=_SUMS,
        layout=WeightLayout("tiles_of_phases", arguments=_arguments),
        cores=_CORES,
        work=_work,
    )
)
_MERGED = dataclasses.replace(
    _PHASES,
    stem="conv2d_transpose_s8_merged",
    family="conv2d_transpose_s8_merged_mve",
    refusal=_refuses_many,
    scratch=_merged_scratch,
    layout=WeightLayout("tiles_of_merged_phases", arguments=_arguments),
    work=_merged_work,
)
_LOOPS = (_PHASES, _MERGED)


def _in_floats(loop: Loop) -> Loop:
    """The same loop with scales in float32; it copies strips with the same functions."""
    cores = (core if "strip" in core else f"{core}_float" for core in loop.cores)
    return dataclasses.replace(loop, cores=tuple(cores))


IMPLEMENTATIONS = (
    *LAYER.kernels(_LOOPS, (TWICE_NARROW,)),
    *LAYER.kernels(tuple(map(_in_floats, _LOOPS)), (FLOAT_MVE,)),
)
