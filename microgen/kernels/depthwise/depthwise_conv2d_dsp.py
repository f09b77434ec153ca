"""Kernels for nn.depthwise_conv2d on cores with the DSP extension, which copy four channels at a
time to planes of int16."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, Graph, Node
from microgen.graph.ops.depthwise.depthwise_conv2d import DepthwiseConv2DAttrs
from microgen.kernels import base, lags, window
from microgen.kernels.constant import Arguments, WeightLayout
from microgen.kernels.depthwise import planes
from microgen.kernels.requantization import transforms
from microgen.kernels.requantization.recipe import RAW
from microgen.kernels.requantization.weighted import (
    FLOATS,
    LINEAR,
    LINEAR_MIXED,
    TWICE_NARROW,
    UPWARD_NARROW,
    Layer,
    Loop,
)
from microgen.kernels.work import Work, common

OP_NAME = "nn.depthwise_conv2d"
PRECEDENCE = 2
_CORES = tuple(f"mg_planes_{part}" for part in ("describe", "fill", "fill_one"))
# The fields ``<name>_fast`` and ``<name>_slow`` of the kernels, and the parts of a WindowAxis.
_AXIS_FIELDS = {
    "input": "values",
    "output": "outputs",
    "kernel": "taps",
    "stride": "stride",
    "pad": "pad",
}
_ROW = "021"  # of filters_3x3_s8.h: sxtb16 makes words of taps 0 and 1
_END = 4  # bytes that are read after the last filter


@dataclass(frozen=True, slots=True)
class _Filters:
    """The filters that one of the loops computes: 3x3 with a stride, or any filter."""

    suffix: str
    constant: str
    stride: int | None = None

    @property
    def is_3x3(self) -> bool:
        return self.stride is not None

    def shape(self, node: Node, graph: Graph) -> planes.Shape:
        """The node's shape; the loop must not refuse it."""
        shape = planes.chosen(node, graph, is_3x3=self.is_3x3, stride=self.stride)
        assert shape is not None
        return shape

    def refusal(self, node: Node, graph: Graph) -> str | None:
        attrs = base.attrs_of(node, DepthwiseConv2DAttrs)
        if attrs.dilation != (1, 1):
            return f"the filters are dilated by {attrs.dilation}, the kernel takes (1, 1)"
        size = base.spatial(graph.types[node.inputs[1]])
        if self.is_3x3 and size != (3, 3):
            return f"the filters are {size[0]}x{size[1]}, the kernel takes 3x3"
        if planes.chosen(node, graph, is_3x3=self.is_3x3, stride=self.stride) is None:
            taken = self.stride or "1 or 2"
            return f"the strides are {attrs.strides}, the kernel takes {taken} with short lines"
        return None

    def scratch(self, node: Node, graph: Graph) -> int:
        return self.shape(node, graph).scratch(self.is_3x3)

    def in_place(self, node: Node, graph: Graph) -> base.Lags:
        """The data, if a channel's values of a band are all copied before the first of its outputs
        is stored, and these have their places below the next bands' values."""
        shape = self.shape(node, graph)
        # With a multiplier, the outputs of a channel take the places of other channels' values.
        if shape.multiplier > 1:
            return {}
        written, read = shape.order(self.is_3x3)
        return lags.of_pixels(node, graph, written, read)

    def work(self, node: Node, graph: Graph) -> Work:
        return {**common(node, graph), **self.shape(node, graph).work(self.is_3x3)}

    def params(self, node: Node, graph: Graph) -> base.Fields:
        shape = self.shape(node, graph)
        usual = dict(window.fields(node, graph))
        last = ("input_offset", "output_offset", "activation_min", "activation_max")
        return (
            ("batches", shape.batches),
            ("input_channels", shape.channels),
            ("depth_multiplier", shape.multiplier),
            *(
                (f"{name}_{axis}", getattr(extents, part))
                for name, part in _AXIS_FIELDS.items()
                for axis, extents in (("fast", shape.fast), ("slow", shape.slow))
            ),
            ("is_upright", int(shape.is_upright)),
            *((name, usual[name]) for name in last),
        )

    def order(self, node: Node, graph: Graph) -> Arguments:
        is_upright = int(self.shape(node, graph).is_upright)
        return (("is_upright", is_upright), ("order", _ROW if self.is_3x3 else ""))

    def kernels(self) -> tuple[base.Implementation, ...]:
        loop = Loop(
            stem="depthwise_conv2d_s8",
            suffix=self.suffix,
            family="depthwise_conv2d_s8_planes",
            variant=(self.constant,),
            needs=base.DSP,
            refusal=self.refusal,
            scratch=self.scratch,
            in_place=self.in_place,
            cores=_CORES,
            work=self.work,
            sums=RAW,
            layout=WeightLayout("filters_by_channel", arguments=self.order),
        )
        layer = Layer(axis=3, params=self.params, constants=window.constants)
        rounded = (TWICE_NARROW, UPWARD_NARROW, *FLOATS)
        return tuple(layer.kernels((loop,), (LINEAR, LINEAR_MIXED, *rounded)))


# filters_by_channel: the weight int8 [1, height, width, channels]; ``is_upright``, 1 if the height
# is the fast axis, 0 if the width is; ``order``, the order of a row's taps, as digits, or "" for
# the usual one. int8 [channels * height * width + 4]: the filters, one after the other, with the
# fast axis as the last one, and then four zeros, which kernels read but do not use.
def _filters_by_channel(sources: Sequence[Array], arguments: transforms.Arguments) -> Array:
    (weight,) = sources
    if weight.ndim != 4 or weight.shape[0] != 1 or weight.dtype.name != "int8":
        raise ValueError(f"the weight is {weight.dtype.name}{list(weight.shape)}")
    axes = (3, 2, 1) if arguments["is_upright"] else (3, 1, 2)
    filters = weight[0].transpose([axis - 1 for axis in axes])
    order = [int(digit) for digit in str(arguments["order"])]
    ordered = filters[..., order] if order else filters
    return np.pad(ordered.reshape(-1), (0, _END))


TRANSFORMS: Mapping[str, transforms.Function] = {"filters_by_channel": _filters_by_channel}
IMPLEMENTATIONS = (
    *_Filters("3x3", "MG_FILTERS_3X3", 1).kernels(),
    *_Filters("3x3_stride_2", "MG_FILTERS_3X3_2", 2).kernels(),
    *_Filters("planes", "MG_FILTERS_ANY").kernels(),
)
