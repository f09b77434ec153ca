"""How often the parts of an op's loops run, from a node's shapes and attributes alone.

The cost of a kernel is a sum of these numbers, each times a coefficient (``cost.py``). A kernel's
cost uses the numbers that fit its loops, so an op has more of them than any one kernel needs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from microgen.arithmetic.terms import Activation, Rounding
from microgen.ir.graph import Graph, Node, TensorType
from microgen.ops.base import Padding, Pair
from microgen.ops.batch_matmul import BatchMatmulAttrs, matrices
from microgen.ops.conv2d import Conv2DAttrs
from microgen.ops.conv2d_hybrid import Conv2DHybridAttrs
from microgen.ops.conv2d_transpose import Conv2DTransposeAttrs
from microgen.ops.depthwise_conv2d import DepthwiseConv2DAttrs
from microgen.ops.depthwise_conv2d_hybrid import DepthwiseConv2DHybridAttrs
from microgen.ops.geometry import resolve
from microgen.ops.lstm import LstmAttrs
from microgen.ops.pooling import PoolAttrs

Work = Mapping[str, int]
_Types = Sequence[TensorType]
_Convolution = Conv2DAttrs | DepthwiseConv2DAttrs | Conv2DHybridAttrs | DepthwiseConv2DHybridAttrs

_BLOCK = 4  # output channels, or values, that the specialised kernels compute at a time
_ONCE = (Rounding.SINGLE, Rounding.NEAREST)
_SHORT = 2  # steps of a loop that compilers unroll
_UNROLLED = 4  # taps of a window that compilers compute without a loop
_VECTOR = 16  # bytes of an MVE vector


def work(node: Node, graph: Graph) -> Work:
    """How often the parts of the node's loops run; docs/costs.md describes each number.

    There are always ``call``, which is 1, and ``output``, the elements of the first output."""
    inputs, output = graph.type_of(node.inputs), graph.types[node.outputs[0]]
    own = _RULES.get(node.op, _elementwise)(node, inputs, output)
    clamps = getattr(node.attrs, "activation", Activation.NONE) is not Activation.NONE
    return {"call": 1, "output": output.size, **own, "clamped": output.size * clamps}


def macs(node: Node, graph: Graph) -> int:
    """Multiply-accumulates of the node with values inside its input; 0 for ops without any."""
    return work(node, graph).get("mac", 0)


def _elementwise(_node: Node, inputs: _Types, output: TensorType) -> Work:
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


def _rows(tensor: TensorType) -> int:
    return tensor.size // max(1, tensor.shape[-1]) if tensor.shape else 1


def _inside(size: int, places: int, kernel: int, stride: int, dilation: int, pad: int) -> list[int]:
    """For each place of a window along an axis, the number of taps that lie inside the input."""
    starts = range(-pad, places * stride - pad, stride)
    return [
        max(0, min(kernel, -((start - size) // dilation)) - max(0, -(start // dilation)))
        for start in starts
    ]


def _seen(
    padding: Padding, size: Pair, places: Pair, kernel: Pair, strides: Pair, dilation: Pair
) -> tuple[list[int], list[int]]:
    """Taps inside the input, for each row and for each column of places."""
    pads = resolve(padding, size, kernel, strides, dilation)
    axes = zip(size, places, kernel, strides, dilation, pads[:2], strict=True)
    rows, columns = (_inside(*axis) for axis in axes)
    return rows, columns


def _spatial(tensor: TensorType) -> Pair:
    return tensor.shape[1], tensor.shape[2]


def _blocks(name: str, count: int, channels: int) -> dict[str, int]:
    """``count`` for each block of four channels, and for each channel that is left."""
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
    """Times that a loop of ``steps`` steps runs; compilers unroll it if these are few."""
    return {name: count, f"looped_{name}": count * (steps > _SHORT)}


def _conv2d(node: Node, inputs: _Types, output: TensorType) -> Work:
    assert isinstance(node.attrs, Conv2DAttrs | Conv2DHybridAttrs)
    filters, height, width, depth = inputs[1].shape
    rows, columns = _windows(node.attrs, inputs, output)
    groups = inputs[0].shape[3] // depth
    lines = sum(rows) * output.shape[0]
    pixels, four = output.size // filters, -(-output.size // filters // _BLOCK) * _BLOCK
    return {
        **_products(pixels, filters, height * width * depth),
        **_runs(lines * groups, [n * depth for n in columns], filters // groups),
        **_clipped(pixels, filters, (rows, columns), (height, width)),
        **_loops(lines * len(columns) * filters, width),
        **_loops(lines * sum(columns) * filters, depth, "tap"),
        "window_line": four * height,
        "window_vector": four * height * -(-width * depth // _VECTOR),
    }


def _windows(
    attrs: _Convolution, inputs: _Types, output: TensorType
) -> tuple[list[int], list[int]]:
    size, places, kernel = _spatial(inputs[0]), _spatial(output), _spatial(inputs[1])
    return _seen(attrs.padding, size, places, kernel, attrs.strides, attrs.dilation)


def _clipped(
    pixels: int, channels: int, seen: tuple[list[int], list[int]], kernel: Pair
) -> dict[str, int]:
    """Pixels, for each axis along which windows reach beyond the input and must be clipped."""
    axes = sum(min(taps) < size for taps, size in zip(seen, kernel, strict=True))
    return {"clipped": pixels * axes, **_blocks("clipped", pixels * axes, channels)}


def _depthwise(node: Node, inputs: _Types, output: TensorType) -> Work:
    assert isinstance(node.attrs, DepthwiseConv2DAttrs | DepthwiseConv2DHybridAttrs)
    rows, columns = _windows(node.attrs, inputs, output)
    _, height, width, channels = inputs[1].shape
    pixels, vectors = output.size // channels, -(-channels // _VECTOR)
    return {
        **_by_channel((rows, columns), (height, width), output),
        "mac": sum(rows) * sum(columns) * output.shape[0] * channels,
        "weight": inputs[1].size,
        "vector": pixels * vectors,
        "vector_tap": pixels * vectors * height * width,
        "window_tap": pixels * height * width,
    }


def _by_channel(
    seen: tuple[list[int], list[int]], kernel: Pair, output: TensorType
) -> dict[str, int]:
    """Parts of ops that compute each channel of a pixel from a window of its own."""
    (rows, columns), (batches, *_, channels) = seen, output.shape
    pixels = output.size // channels
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
        "pixel_tap": taps,
        **clipped,
        **_blocks("pixel", pixels, channels),
        **_blocks("line", lines * looped, channels),
        **_blocks("tap", taps, channels),
    }


def _pool(node: Node, inputs: _Types, output: TensorType) -> Work:
    attrs = node.attrs
    assert isinstance(attrs, PoolAttrs)
    size, places = _spatial(inputs[0]), _spatial(output)
    window = _seen(attrs.padding, size, places, attrs.pool_size, attrs.strides, (1, 1))
    return _by_channel(window, attrs.pool_size, output)


def _transposed(node: Node, inputs: _Types, output: TensorType) -> Work:
    """Taps and lines are those of the convolution in the opposite direction: its places are the
    input's pixels."""
    attrs = node.attrs
    assert isinstance(attrs, Conv2DTransposeAttrs)
    filters, height, width, depth = inputs[1].shape
    places, kernel = _spatial(inputs[0]), (height, width)
    rows, columns = _seen(attrs.padding, attrs.size, places, kernel, attrs.strides, (1, 1))
    lines = sum(rows) * output.shape[0]
    return {
        **_products(output.size // filters, filters, height * width * depth),
        **_runs(lines * sum(columns), [depth], filters),
        **_loops(lines * output.shape[2] * filters, width),
        **_loops(lines * sum(columns) * filters, depth, "tap"),
        "attempt": output.size * height * width,
    }


def _dense(node: Node, inputs: _Types, output: TensorType) -> Work:
    filters, depth = inputs[1].shape
    rows = output.size // filters
    groups, vectors = rows * -(-filters // _BLOCK), depth // _VECTOR
    return {
        **_products(rows, filters, depth),
        **_runs(rows, [depth], filters),
        "rounded_once": output.size * (getattr(node.attrs, "rounding", None) in _ONCE),
        "four_filters": groups,
        "four_filters_vector": groups * vectors,
        "four_filters_tail": groups * (depth % _VECTOR != 0),
    }


def _batch_matmul(node: Node, inputs: _Types, output: TensorType) -> Work:
    assert isinstance(node.attrs, BatchMatmulAttrs)
    _, depth, _, _ = matrices(node.attrs, *inputs)
    return {"batch": math.prod(output.shape[:-2]), "mac": output.size * depth}


def _lstm(node: Node, inputs: _Types, output: TensorType) -> Work:
    assert isinstance(node.attrs, LstmAttrs)
    gates, cells, features = inputs[1].shape
    outputs = inputs[2].shape[2]
    steps = output.size // outputs
    runs = (features, outputs)
    projected = steps * outputs * cells * node.attrs.has_projection
    return {
        "step": steps,
        "cell": steps * cells,
        "quad": steps * cells * sum(n // _BLOCK for n in runs),
        "left": steps * cells * sum(n % _BLOCK for n in runs),
        "mac": steps * cells * gates * sum(runs) + projected,
        "projected": projected,
        "peephole": steps * cells * node.attrs.has_peephole,
        "three_gates": steps * cells * (gates == 3),
    }


def _svdf(_node: Node, inputs: _Types, _output: TensorType) -> Work:
    filters, features = inputs[1].shape
    batches, memory = inputs[0].shape[0], inputs[2].shape[1]
    found = _runs(batches, [features], filters)
    remembered = batches * filters * memory
    return {**found, "filter": batches * filters, "remembered": remembered} | {
        "mac": found["mac"] + remembered
    }


_RULES: Mapping[str, Callable[[Node, _Types, TensorType], Work]] = {
    "nn.conv2d": _conv2d,
    "nn.conv2d_hybrid": _conv2d,
    "nn.conv2d_transpose": _transposed,
    "nn.depthwise_conv2d": _depthwise,
    "nn.depthwise_conv2d_hybrid": _depthwise,
    "nn.dense": _dense,
    "nn.dense_hybrid": _dense,
    "nn.batch_matmul": _batch_matmul,
    "nn.avg_pool2d": _pool,
    "nn.max_pool2d": _pool,
    "nn.lstm": _lstm,
    "nn.svdf": _svdf,
}
