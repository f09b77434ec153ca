"""ConvTranspose.

With stride 1 it is a convolution with the weight flipped. With other strides, one group and no
dilation it is nn.conv2d_transpose. Otherwise zeros between the data's cells make the stride 1.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from microgen.frontends.onnx import convolution_nodes, windows
from microgen.frontends.onnx.convolution_nodes import OnnxConvolution
from microgen.frontends.onnx.importers import arguments
from microgen.frontends.onnx.move_nodes import flipped, padded, transposed
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.frontends.onnx.windows import OnnxWindow, Sizes
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.builder import BuiltTensor
from microgen.graph.ops.convolution.conv2d_transpose import Conv2DTransposeAttrs


def _conv_transpose(node: OnnxNode) -> BuiltTensor:
    """Source: ONNX's specification of ConvTranspose; the weight is [C, O / groups, axes...]."""
    data, weight, bias = node.tensor(0), node.tensor(1), node.optional(2)
    rank = arguments.spatial_rank(node, data)
    groups = arguments.groups(node, data, weight, bias)
    if weight.shape[0] != data.shape[1]:
        raise node.invalid(f"has the weight {weight.type} for the input {data.type}")
    kernel = windows.kernel_shape(node, rank, weight.shape[2:])
    spread = _spread(node, data.shape[2:], kernel)
    layer = OnnxConvolution(node, weight, bias, groups, spread)
    image = convolution_nodes.channels_last(node, data)
    is_plain = groups == 1 and max(spread.dilations) == 1 and rank <= 2
    after = _opposite(spread, data.shape[2:]) if is_plain and max(spread.strides) > 1 else None
    if after is not None:
        result = _transposed(layer, image, after)
    else:
        # Zeros between the cells make the stride 1, and the layer a convolution with the weight
        # flipped.
        result = _of_stride_1(layer, _with_zeros(node, image, spread.strides))
    return convolution_nodes.channels_second(node, result)


def _spread(node: OnnxNode, sizes: Sequence[int], kernel: Sizes) -> OnnxWindow:
    """The output cells of the taps, per spatial axis: tap t at cell x of the data adds to the cell
    ``x * stride + t * dilation - before`` of an output of ``places`` cells."""
    rank = len(sizes)
    strides, dilations = (
        windows.positive(node, name, rank, (1,) * rank) for name in ("strides", "dilations")
    )
    added = node.ints("output_padding", (0,) * rank)
    if len(added) != rank or min(added) < 0:
        what = f"has the output_padding {list(added)}; {rank} numbers from 0 on are expected"
        raise node.invalid(what)
    full = tuple(
        (n - 1) * s + c + a
        for n, s, c, a in zip(sizes, strides, windows.covers(kernel, dilations), added, strict=True)
    )
    before, outputs = _cropped(node, full, sizes, strides)
    if min(outputs) < 1:
        raise node.invalid(f"has pads that leave an output of {list(outputs)}")
    zeros = (0,) * rank
    return OnnxWindow(kernel, strides, dilations, before, zeros, zeros, outputs)


def _cropped(
    node: OnnxNode, full: Sizes, sizes: Sequence[int], strides: Sizes
) -> tuple[Sizes, Sizes]:
    """The number of cells that are cropped before the output, and the output's sizes."""
    rank, kind = len(full), windows.auto_pad(node)
    wanted = node.ints("output_shape", ())[-rank:]
    if kind.startswith("SAME") and not wanted:
        wanted = tuple(n * s for n, s in zip(sizes, strides, strict=True))
        if any(w > n for w, n in zip(wanted, full, strict=True)):
            raise node.unsupported(
                f"has an output of {list(wanted)} by auto_pad, but its taps reach {list(full)}, "
                "which is what ONNX Runtime returns",
                supported="a kernel as large as the strides, or output_shape",
            )
    if not wanted:
        before, after = windows.pads(node, rank) if kind == "NOTSET" else ((0,) * rank,) * 2
        left = zip(full, before, after, strict=True)
        return before, tuple(n - b - a for n, b, a in left)
    if len(wanted) != rank or min(wanted) < 1:
        raise node.invalid(f"has the output_shape {list(wanted)} for {rank} spatial axes")
    # An output_shape beyond the taps adds zeros after the output.
    totals = [max(n - w, 0) for n, w in zip(full, wanted, strict=True)]
    return tuple(windows.halves(t, kind)[0] for t in totals), wanted


def _opposite(spread: OnnxWindow, sizes: Sequence[int]) -> Sizes | None:
    """The padding at the end of each axis with which a convolution from the output to the data has
    the model's sizes; None if there is no such convolution.
    """
    cells = zip(sizes, spread.strides, spread.kernel, spread.before, spread.places, strict=True)
    after = []
    for size, stride, kernel, before, output in cells:
        needed = (size - 1) * stride + kernel - before - output
        # If the output ends a stride or more beyond the last tap, that convolution has another
        # place there.
        if needed <= -stride:
            return None
        after.append(max(needed, 0))
    return tuple(after)


def _transposed(layer: OnnxConvolution, data: BuiltTensor, after: Sizes) -> BuiltTensor:
    """nn.conv2d_transpose, of height 1 for one spatial axis."""
    node, (batches, *sizes, channels) = layer.node, data.shape
    window = dataclasses.replace(layer.window, after=after)
    if len(sizes) == 1:
        window, sizes = window.with_height(), [1, *sizes]
    image = node.reshaped(data, (batches, *sizes, channels))
    count = layer.weight.shape[1]
    weight = node.reshaped(layer.weight, (channels, count, *window.kernel))
    attrs = Conv2DTransposeAttrs(
        windows.pair(window.strides),
        window.padding,
        windows.pair(window.places),
        Activation.UNLIMITED,
        Rounding.DOUBLE,
    )
    inputs = (image, node.laid_out(weight, "IOHW", "OHWI"), *layer.biases)
    result = node.emit("nn.conv2d_transpose", attrs, inputs, hint="NHWC")
    return node.reshaped(result, (batches, *layer.window.places, count))


def _with_zeros(node: OnnxNode, data: BuiltTensor, strides: Sizes) -> BuiltTensor:
    """Data [N, axes..., C] whose cells are a stride apart on each axis, with zeros between and
    after them.
    """
    batches, *sizes, channels = data.shape
    if max(strides) == 1:
        return data
    # Each cell gets an axis of its own, which is padded with the zeros after it.
    pairs = [number for size in sizes for number in (size, 1)]
    apart = node.reshaped(data, (batches, *pairs, channels))
    inner = [pads for stride in strides for pads in ((0, 0), (0, stride - 1))]
    spaced = padded(node, apart, ((0, 0), *inner, (0, 0)))
    whole = tuple(n * s for n, s in zip(sizes, strides, strict=True))
    return node.reshaped(spaced, (batches, *whole, channels))


def _of_stride_1(layer: OnnxConvolution, data: BuiltTensor) -> BuiltTensor:
    """The convolution with the flipped weight, over the data with as much padding as the output
    needs."""
    spread, sizes = layer.window, data.shape[1:-1]
    covers = spread.covers
    before = tuple(c - 1 - b for c, b in zip(covers, spread.before, strict=True))
    after = tuple(
        o + c - 1 - n - b for o, c, n, b in zip(spread.places, covers, sizes, before, strict=True)
    )
    crops = tuple((min(b, 0), min(a, 0)) for b, a in zip(before, after, strict=True))
    # Data that the output does not need is removed.
    kept = padded(layer.node, data, ((0, 0), *crops, (0, 0)))
    window = dataclasses.replace(
        spread,
        strides=(1,) * len(covers),
        before=tuple(max(b, 0) for b in before),
        after=tuple(max(a, 0) for a in after),
    )
    return dataclasses.replace(layer, weight=_flipped(layer), window=window).of(kept)


def _flipped(layer: OnnxConvolution) -> BuiltTensor:
    """The weight [O, C / groups, axes...], with the taps in the opposite order."""
    node, (channels, count, *kernel) = layer.node, layer.weight.shape
    groups, rank = layer.groups, len(kernel)
    # The weight is [C, O / groups, axes...]; the convolution needs the outputs first in each group.
    split = node.reshaped(layer.weight, (groups, channels // groups, count, *kernel))
    turned = transposed(node, split, (0, 2, 1, *range(3, 3 + rank)))
    weight = node.reshaped(turned, (groups * count, channels // groups, *kernel))
    return flipped(node, weight, range(2, 2 + rank))


IMPORTERS = {"ConvTranspose": _conv_transpose}
