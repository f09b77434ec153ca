"""How often the parts of an op's loops run, from a node's shapes and attributes alone.

The cost of a kernel is a sum of these numbers, each times a coefficient (``cost.py``). A kernel's
cost uses the numbers that fit its loops, so an op has more of them than any one kernel needs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from microgen.graph.arithmetic.int8 import activation_range
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import ArrayType, Attrs, Graph, Node
from microgen.graph.ops.base import Padding, Pair, Shape
from microgen.graph.ops.convolution.conv2d import Conv2DWindow
from microgen.graph.ops.convolution.conv2d_transpose import TransposeWindow
from microgen.graph.ops.dense.batch_matmul import BatchMatmulAttrs
from microgen.graph.ops.depthwise.depthwise_conv2d import DepthwiseWindow
from microgen.graph.ops.geometry import resolve
from microgen.graph.ops.pooling.pooling import PoolAttrs
from microgen.graph.ops.recurrent.lstm import LstmAttrs

Work = Mapping[str, int]
_Shapes = tuple[Shape, ...]
_Convolution = Conv2DWindow | DepthwiseWindow

_BLOCK = 4  # output channels, or values, that the specialised kernels compute at a time
_ONCE = (Rounding.SINGLE, Rounding.NEAREST)
_SHORT = 2  # steps of a loop that compilers unroll
_UNROLLED = 4  # taps of a window that compilers compute without a loop
_VECTOR = 16  # bytes of an MVE vector
_TILE = 4  # pixels that MVE computes at a time, see microgen/blocks/mve_tiles.h
_STRIP = 8  # pixels of a strip, see microgen/convolution/s8/conv2d_s8_rows_mve.h
_STEP = 64  # products of a step of dense rows, see microgen/dense/dense_s8_rows_mve.h
_LANES = 8  # channels of a block of rings, see microgen/depthwise/depthwise_conv2d_s8_ring_mve.h
_RING = 4  # bytes of a ring


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of one operator: a call's instructions and modelled cycles, and bytes of flash."""

    instructions: int
    cycles: int  # without wait states of flash
    code_bytes: int  # of the operator's function and parameters, without its weights
    # Of the kernel's out-of-line functions, which all of its operators share. Operators that are
    # compiled for their own shapes have few or none.
    shared_bytes: int = 0
    # functions that several kernels have in common, with their bytes
    cores: tuple[tuple[str, int], ...] = ()
    waited: int = 0  # lines for which a core with wait states waits: ``timing.Flash.waiting``
    followed: int = 0

    @property
    def bytes(self) -> int:
        """Bytes of everything, as if nothing else was in the firmware."""
        return self.code_bytes + self.common_bytes

    @property
    def common_bytes(self) -> int:
        """Bytes of code that the operator may share with others."""
        return self.shared_bytes + sum(nbytes for _, nbytes in self.cores)


def work(node: Node, graph: Graph) -> Work:
    """How often the parts of the node's loops run; docs/explanation/costs.md describes each number.

    There are always ``call``, which is 1, and ``output``, the elements of the first output."""
    inputs, output = graph.type_of(node.inputs), graph.types[node.outputs[0]]
    if node.op in _RULES:
        own = _counted(node.op, node.attrs, tuple(t.shape for t in inputs), output.shape)
    else:
        own = _elementwise(inputs, output)
    return {"call": 1, "output": output.size, **own, "clamped": output.size * _clamps(node, output)}


def common(node: Node, graph: Graph) -> dict[str, int]:
    """The parts of the node's work that do not depend on the kernel's loops."""
    found = work(node, graph)
    return {name: found[name] for name in ("call", "output", "clamped")}


def _clamps(node: Node, output: ArrayType) -> bool:
    """Whether an activation excludes some values of the output's dtype."""
    activation = getattr(node.attrs, "activation", Activation.NONE)
    if not activation.clamps or output.quant is None:
        return activation.clamps
    low, high = activation_range(activation, output.quant, output.dtype)
    limits = np.iinfo(output.dtype.numpy)
    return bool(low > limits.min or high < limits.max)


# Each kernel that can compute a node needs these numbers.
@lru_cache
def _counted(op: str, attrs: Attrs, inputs: _Shapes, output: Shape) -> Work:
    return _RULES[op](attrs, inputs, output)


def _elementwise(inputs: Sequence[ArrayType], output: ArrayType) -> Work:
    """Parts of ops without loops of their own: elements and rows of the first input, the output's
    rows, and the number of inputs."""
    return {
        "input": inputs[0].size,
        "row": _rows(output),
        "input_row": _rows(inputs[0]),
        "part": len(inputs),
        "part_row": _rows(output) * len(inputs),
        "byte": output.nbytes,
        "input_byte": inputs[0].nbytes,
    }


def _rows(tensor: ArrayType) -> int:
    return tensor.size // max(1, tensor.shape[-1]) if tensor.shape else 1


def _inside(size: int, places: int, kernel: int, stride: int, dilation: int, pad: int) -> list[int]:
    """For each place of a window along an axis, the number of taps that lie inside the input."""
    # Both quotients are rounded up: the taps before the input's end, less those before its
    # beginning.
    starts = range(-pad, places * stride - pad, stride)
    return [
        max(0, min(kernel, -((start - size) // dilation)) - max(0, -(start // dilation)))
        for start in starts
    ]


def seen(
    padding: Padding, size: Pair, places: Pair, kernel: Pair, strides: Pair, dilation: Pair
) -> tuple[list[int], list[int]]:
    """The number of taps inside the input, for each row and for each column of places."""
    pads = resolve(padding, size, kernel, strides, dilation)
    axes = zip(size, places, kernel, strides, dilation, pads[:2], strict=True)
    rows, columns = (_inside(*axis) for axis in axes)
    return rows, columns


def _spatial(shape: Shape) -> Pair:
    return shape[1], shape[2]


def _blocks(name: str, count: int, channels: int) -> dict[str, int]:
    """``count`` for each block of four channels, and for each of the remaining channels."""
    blocks, rest = divmod(channels, _BLOCK)
    return {f"block_{name}": count * blocks, f"rest_{name}": count * rest}


def _products(pixels: int, filters: int, size: int) -> dict[str, int]:
    """Parts of all ops with ``filters`` filters of ``size`` weights for each of ``pixels``."""
    four = -(-pixels // _BLOCK) * filters
    return {
        "pixel": pixels,
        "next_pixel": pixels - 1,
        **_blocks("pixel", pixels, filters),
        "four_pixels": four,
        "four_pixels_vector": four * -(-size // _VECTOR),
        "weight": filters * size,
    }


def _runs(lines: int, lengths: Sequence[int], filters: int) -> dict[str, int]:
    """Parts of loops over runs of values: ``lines`` times runs of each of ``lengths``."""
    values, quads = sum(lengths), sum(n // _BLOCK for n in lengths)
    left = values - quads * _BLOCK
    return {
        **_blocks("run", lines * len(lengths), filters),
        "ragged_run": lines * sum(n % _BLOCK != 0 for n in lengths) * (filters // _BLOCK),
        **_blocks("value", lines * values, filters),
        "block_quad": lines * quads * (filters // _BLOCK),
        "block_left": lines * left * (filters // _BLOCK),
        "mac": lines * values * filters,
    }


def _loops(count: int, steps: int, name: str = "line") -> dict[str, int]:
    """The number of runs of a loop of ``steps`` steps; compilers unroll loops of few steps."""
    return {name: count, f"looped_{name}": count * (steps > _SHORT)}


def _conv2d(attrs: Attrs, inputs: _Shapes, output: Shape) -> Work:
    assert isinstance(attrs, Conv2DWindow)
    filters, height, width, depth = inputs[1]
    rows, columns = _windows(attrs, inputs, output)
    groups = inputs[0][3] // depth
    lines = sum(rows) * output[0]
    pixels, four = math.prod(output) // filters, -(-math.prod(output) // filters // _BLOCK) * _BLOCK
    return {
        **_products(pixels, filters, height * width * depth),
        **_runs(lines * groups, [n * depth for n in columns], filters // groups),
        **_clipped(pixels, filters, (rows, columns), (height, width)),
        **_loops(lines * len(columns) * filters, width),
        **_loops(lines * sum(columns) * filters, depth, "tap"),
        "window_line": four * height,
        "window_vector": four * height * -(-width * depth // _VECTOR),
        **_tiles(attrs, inputs[1], output),
    }


def _tiles(attrs: _Convolution, weight: Shape, output: Shape) -> dict[str, int]:
    """Parts of loops over rows of pixels: passes of four pixels over all filters, tiles of four
    pixels and four filters, and the columns of strips. Pixels are left after each row of long ones,
    after some rows of short ones, or at the end if windows are pixels."""
    filters, height, width, depth = weight
    rows, pixels = output[0] * output[1], output[2]
    if height * width == 1 or (pixels < _STRIP and pixels % _TILE):
        passes = output[0] * -(-output[1] * pixels // _TILE)
    else:
        passes = rows * -(-pixels // _TILE)
    tiles, vectors = passes * -(-filters // _BLOCK), -(-height * width * depth // _VECTOR)
    strips = rows * -(-pixels // _STRIP)
    columns = (pixels - 1) * attrs.strides[1] + width
    copies = columns * -(-depth // _VECTOR) if 2 * depth > _VECTOR else columns * depth // _VECTOR
    return {
        "vector_pass": passes,
        "vector_tile": tiles,
        "vector_tile_step": tiles * vectors,
        "vector_strip": strips * height,
        "vector_column": rows * copies * height,
    }


def _windows(attrs: _Convolution, inputs: _Shapes, output: Shape) -> tuple[list[int], list[int]]:
    size, places, kernel = _spatial(inputs[0]), _spatial(output), _spatial(inputs[1])
    return seen(attrs.padding, size, places, kernel, attrs.strides, attrs.dilation)


def _clipped(
    pixels: int, channels: int, seen: tuple[list[int], list[int]], kernel: Pair
) -> dict[str, int]:
    """Pixels, for each axis along which windows reach beyond the input and must be clipped."""
    axes = sum(min(taps) < size for taps, size in zip(seen, kernel, strict=True))
    return {"clipped": pixels * axes, **_blocks("clipped", pixels * axes, channels)}


def _depthwise(attrs: Attrs, inputs: _Shapes, output: Shape) -> Work:
    assert isinstance(attrs, DepthwiseWindow)
    rows, columns = _windows(attrs, inputs, output)
    _, height, width, channels = inputs[1]
    pixels, vectors = math.prod(output) // channels, -(-channels // _VECTOR)
    return {
        **_by_channel((rows, columns), (height, width), output),
        "mac": sum(rows) * sum(columns) * output[0] * channels,
        "weight": math.prod(inputs[1]),
        "vector": pixels * vectors,
        "vector_tap": pixels * vectors * height * width,
        "vector_part": pixels * (channels % _VECTOR != 0),
        "window_tap": pixels * height * width,
        **_rings(attrs, inputs[0], (height, width), output),
    }


def _rings(attrs: _Convolution, data: Shape, kernel: Pair, output: Shape) -> dict[str, int]:
    """Parts of loops over rings of bytes: channels at one place or two of the shorter axis, their
    groups of eight outputs or two times four, and copied values."""
    is_tall = output[1] > output[2]
    longer, shorter = max(output[1:3]), min(output[1:3])
    places = 2 if attrs.strides == (1, 1) and 1 < kernel[is_tall] < _RING else 1
    together, passes = _LANES // places, -(-shorter // places)
    lines, blocks = output[0] * passes * output[3], output[0] * -(-output[3] // _LANES)
    groups = lines * -(-longer // together)
    return {
        "ring_line": lines,
        "ring_eight": groups * (places == 1),
        "ring_pair": groups * (places == 2),
        "ring_rest": lines * (longer > together and longer % together != 0),
        "ring_pass": blocks * passes,
        "ring_place": blocks * data[1 + is_tall],
        "vector_line": output[0] * shorter * output[3],
        "vector_rest": output[0] * shorter * output[3] * (longer % _BLOCK != 0),
        "vector_block": blocks,
        "vector_value": blocks * data[1] * data[2],
    }


def _by_channel(seen: tuple[list[int], list[int]], kernel: Pair, output: Shape) -> dict[str, int]:
    """Parts of ops that compute each channel of a pixel from a window of its own."""
    (rows, columns), (batches, *_, channels) = seen, output
    pixels = math.prod(output) // channels
    clipped = _clipped(pixels, channels, seen, kernel)
    lines, taps = (sum(rows) * n * batches for n in (len(columns), sum(columns)))
    is_unrolled = math.prod(kernel) <= _UNROLLED and not clipped["clipped"]
    looped = 0 if is_unrolled else 1
    return {
        "pixel": pixels,
        "next_pixel": pixels - 1,
        "line": lines * channels * looped,
        "tap": taps * channels * looped,
        "unrolled_tap": taps * channels * is_unrolled,
        # Addresses need a multiplication unless the number of channels is a power of two.
        "uneven_tap": taps * channels * (channels & (channels - 1) != 0),
        "pixel_tap": taps,
        **clipped,
        **_blocks("pixel", pixels, channels),
        **_blocks("line", lines * looped, channels),
        **_blocks("tap", taps, channels),
    }


def _pool(attrs: Attrs, inputs: _Shapes, output: Shape) -> Work:
    assert isinstance(attrs, PoolAttrs)
    size, places = _spatial(inputs[0]), _spatial(output)
    window = seen(attrs.padding, size, places, attrs.pool_size, attrs.strides, (1, 1))
    return _by_channel(window, attrs.pool_size, output)


def _transposed(attrs: Attrs, inputs: _Shapes, output: Shape) -> Work:
    """Taps and lines are counted for the convolution in the opposite direction. Its places are the
    input's pixels.
    """
    assert isinstance(attrs, TransposeWindow)
    filters, height, width, depth = inputs[1]
    places, kernel = _spatial(inputs[0]), (height, width)
    rows, columns = seen(attrs.padding, attrs.size, places, kernel, attrs.strides, (1, 1))
    lines = sum(rows) * output[0]
    return {
        **_products(math.prod(output) // filters, filters, height * width * depth),
        **_runs(lines * sum(columns), [depth], filters),
        **_loops(lines * output[2] * filters, width),
        **_loops(lines * sum(columns) * filters, depth, "tap"),
        "attempt": math.prod(output) * height * width,
    }


def _dense(attrs: Attrs, inputs: _Shapes, output: Shape) -> Work:
    filters, depth = inputs[1]
    rows = math.prod(output) // filters
    is_once, output_size = getattr(attrs, "rounding", None) in _ONCE, rows * filters
    groups, vectors = rows * -(-filters // _BLOCK), depth // _VECTOR
    return {
        **_products(rows, filters, depth),
        **_runs(rows, [depth], filters),
        "rounded_once": output_size * is_once,
        "rounded_twice": output_size * (not is_once),
        "four_filters": groups,
        "four_filters_vector": groups * vectors,
        "four_filters_tail": groups * (depth % _VECTOR != 0),
        "four_filters_other": groups * (depth % _STEP != 0),
        "four_filters_other_vector": groups * vectors * (depth % _STEP != 0),
    }


def _batch_matmul(attrs: Attrs, inputs: _Shapes, output: Shape) -> Work:
    assert isinstance(attrs, BatchMatmulAttrs)
    depth = inputs[0][-2 if attrs.transpose_a else -1]
    return {"batch": math.prod(output[:-2]), "mac": math.prod(output) * depth}


def _lstm(attrs: Attrs, inputs: _Shapes, output: Shape) -> Work:
    assert isinstance(attrs, LstmAttrs)
    gates, cells, features = inputs[1]
    outputs = inputs[2][2]
    steps = math.prod(output) // outputs
    runs = (features, outputs)
    projected = steps * outputs * cells * attrs.has_projection
    return {
        "step": steps,
        "cell": steps * cells,
        "quad": steps * cells * sum(n // _BLOCK for n in runs),
        "left": steps * cells * sum(n % _BLOCK for n in runs),
        "mac": steps * cells * gates * sum(runs) + projected,
        "projected": projected,
        "peephole": steps * cells * attrs.has_peephole,
        "three_gates": steps * cells * (gates == 3),
    }


def _svdf(_attrs: Attrs, inputs: _Shapes, _output: Shape) -> Work:
    filters, features = inputs[1]
    batches, memory = inputs[0][0], inputs[2][1]
    found = _runs(batches, [features], filters)
    remembered = batches * filters * memory
    return {**found, "filter": batches * filters, "remembered": remembered} | {
        "mac": found["mac"] + remembered
    }


_RULES: Mapping[str, Callable[[Any, _Shapes, Shape], Work]] = {
    "nn.conv2d": _conv2d,
    "nn.conv2d_hybrid": _conv2d,
    "nn.conv2d_transpose": _transposed,
    "nn.conv2d_transpose_hybrid": _transposed,
    "nn.conv2d_transpose_weight_only": _transposed,
    "nn.conv2d_weight_only": _conv2d,
    "nn.depthwise_conv2d": _depthwise,
    "nn.depthwise_conv2d_hybrid": _depthwise,
    "nn.depthwise_conv2d_weight_only": _depthwise,
    "nn.dense": _dense,
    "nn.dense_hybrid": _dense,
    "nn.dense_weight_only": _dense,
    "nn.batch_matmul": _batch_matmul,
    "nn.avg_pool2d": _pool,
    "nn.max_pool2d": _pool,
    "nn.lstm": _lstm,
    "nn.svdf": _svdf,
}
