"""Convolutions of one to three spatial axes as nodes of two, in NHWC.

A convolution of one axis has height 1. One of three axes reads, at each depth of its output, the
slices under its taps as further channels of one image.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from microgen.frontends.onnx.move_nodes import cut, joined, padded
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.frontends.onnx.windows import OnnxWindow, pair
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.builder import BuiltTensor
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs
from microgen.graph.ops.depthwise.depthwise_conv2d import DepthwiseConv2DAttrs

_LETTERS = {1: "W", 2: "HW", 3: "DHW"}
_VOLUME = 3  # spatial axes
_DEEPEST = 64  # taps in depth: each is a node
_ROUNDING = Rounding.DOUBLE  # floats are not rounded, but the attribute needs a value


def spatial_letters(node: OnnxNode, data: BuiltTensor) -> str:
    """The letters of the axes after batch and channels. UnsupportedError for more than three."""
    rank = len(data.shape) - 2
    if rank not in _LETTERS:
        raise node.unsupported(f"of {data.type} has no kernel", supported="1 to 3 spatial axes")
    return _LETTERS[rank]


def channels_last(node: OnnxNode, data: BuiltTensor) -> BuiltTensor:
    """Data [N, C, spatial axes...] as [N, spatial axes..., C]."""
    letters = spatial_letters(node, data)
    return node.laid_out(data, f"NC{letters}", f"N{letters}C")


def channels_second(node: OnnxNode, data: BuiltTensor) -> BuiltTensor:
    """The opposite of ``channels_last``."""
    letters = spatial_letters(node, data)
    return node.laid_out(data, f"N{letters}C", f"NC{letters}")


@dataclass(frozen=True, slots=True)
class OnnxConvolution:
    """A convolution while it is imported."""

    node: OnnxNode
    # [O, I, spatial axes...]: all filters, and the channels that each of them reads
    weight: BuiltTensor
    bias: BuiltTensor | None  # [O]
    groups: int
    window: OnnxWindow

    @property
    def biases(self) -> tuple[BuiltTensor, ...]:
        """The bias as the last operand of a node, if there is one."""
        return () if self.bias is None else (self.bias,)

    def of(self, data: BuiltTensor) -> BuiltTensor:
        """The convolution of data [N, spatial axes..., C]; the result has the same layout."""
        rank = len(data.shape) - 2
        if rank == 1:
            return self._of_rows(data)
        return self._of_volumes(data) if rank == _VOLUME else self._of_images(data)

    def _of_rows(self, data: BuiltTensor) -> BuiltTensor:
        node, (batches, width, channels) = self.node, data.shape
        outputs, inputs, taps = self.weight.shape
        image = node.reshaped(data, (batches, 1, width, channels))
        weight = node.reshaped(self.weight, (outputs, inputs, 1, taps))
        flat = dataclasses.replace(self, weight=weight, window=self.window.with_height())
        result = flat.of(image)
        return node.reshaped(result, (batches, result.shape[2], outputs))

    def _of_images(self, data: BuiltTensor) -> BuiltTensor:
        node, window = self.node, self.window
        where = (pair(window.strides), pair(window.dilations), window.padding)
        # Each filter reads one channel. With one channel in all, a plain convolution is the same.
        if self.groups == data.shape[3] > 1:
            weight = node.laid_out(self.weight, "OIHW", "IHWO")
            multiplier = weight.shape[3] // data.shape[3]
            attrs = DepthwiseConv2DAttrs(*where, multiplier, Activation.UNLIMITED, _ROUNDING)
            inputs = (data, weight, *self.biases)
            return node.emit("nn.depthwise_conv2d", attrs, inputs, hint="NHWC")
        weight = node.laid_out(self.weight, "OIHW", "OHWI")
        plain = Conv2DAttrs(*where, Activation.UNLIMITED, _ROUNDING)
        return node.emit("nn.conv2d", plain, (data, weight, *self.biases), hint="NHWC")

    def _of_volumes(self, data: BuiltTensor) -> BuiltTensor:
        node, window = self.node, self.window
        # Each tap in depth becomes a slice of the data, and they are joined.
        if window.kernel[0] > _DEEPEST:
            what = f"has a kernel of depth {window.kernel[0]}"
            raise node.unsupported(what, supported=f"depths up to {_DEEPEST}")
        batches, _, height, width, channels = data.shape
        outputs, inputs, depth, *kernel = self.weight.shape
        places = window.places[0]
        image = (batches * places, height, width)
        taps = [node.reshaped(each, (*image, self.groups, inputs)) for each in self._slices(data)]
        images = node.reshaped(joined(node, taps, 4), (*image, channels * depth))
        # The sum over the taps in depth is a sum over further channels of an image.
        moved = node.laid_out(self.weight, "OIDHW", "ODIHW")
        weight = node.reshaped(moved, (outputs, depth * inputs, *kernel))
        flat = dataclasses.replace(self, weight=weight, window=window.part(slice(1, None)))
        result = flat.of(images)
        return node.reshaped(result, (batches, places, *result.shape[1:]))

    def _slices(self, data: BuiltTensor) -> list[BuiltTensor]:
        """For each tap in depth, the values that it reads at all places, [N, places, H, W, C]."""
        window = self.window
        ends = (window.before[0], window.after[0])
        whole = padded(self.node, data, ((0, 0), ends, (0, 0), (0, 0), (0, 0)))
        starts = range(0, window.kernel[0] * window.dilations[0], window.dilations[0])
        places, stride = window.places[0], window.strides[0]
        return [cut(self.node, whole, 1, at, places, stride) for at in starts]
