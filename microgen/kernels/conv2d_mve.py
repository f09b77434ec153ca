"""Kernels for nn.conv2d that sum raw products of rows with MVE.

Kind of transform: ``columns_first``, a weight of int8 [filters, height, width, channels]; no
arguments. The same weights as [filters, width, height, channels].
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np

from microgen.ir.graph import Array, Graph, Node
from microgen.kernels import base, mve, transforms, weighted
from microgen.kernels.conv2d import LAYER
from microgen.kernels.weighted import TWICE_NARROW, Loop
from microgen.ops.conv2d import Conv2DAttrs

OP_NAME = "nn.conv2d"
STRIP = 9  # MG_MVE_STRIP of microgen/conv2d_s8_rows_mve.h
FILTERS = 4  # MG_MVE_FILTERS of microgen/mve_rows.h


def _few(node: Node, graph: Graph) -> str | None:
    filters = graph.types[node.inputs[1]].shape[0]
    if filters < FILTERS:
        return f"there are {filters} output channels, the kernel computes {FILTERS} at a time"
    return None


def _refuses_pointwise(node: Node, graph: Graph) -> str | None:
    """Refusal unless the kernel is 1x1, in one group, with four filters at least."""
    return mve.pointwise(node, graph) or _few(node, graph)


def _refuses(node: Node, graph: Graph) -> str | None:
    """Refusal of groups, of dilated columns, and of few filters."""
    attrs = node.attrs
    assert isinstance(attrs, Conv2DAttrs)
    if attrs.dilation[1] != 1:
        return f"columns are dilated by {attrs.dilation[1]}, the kernel takes contiguous ones"
    return mve.one_group(node, graph) or _few(node, graph)


def _strip(node: Node, graph: Graph) -> int:
    """The scratch of mg_conv2d_s8_rows_mve in bytes."""
    attrs = node.attrs
    assert isinstance(attrs, Conv2DAttrs)
    _, height, width, channels = graph.types[node.inputs[1]].shape
    pixels = min(graph.types[node.outputs[0]].shape[2], STRIP)
    return ((pixels - 1) * attrs.strides[1] + width) * height * channels


def _columns_first(weight: base.KernelConstant, _node: Node, _graph: Graph) -> base.KernelConstant:
    return dataclasses.replace(weight, transform="columns_first")


def _transposed(sources: Sequence[Array], _arguments: transforms.Arguments) -> Array:
    (weight,) = sources
    return np.ascontiguousarray(weight.transpose(0, 2, 1, 3))


TRANSFORMS: Mapping[str, transforms.Function] = {"columns_first": _transposed}

_CORES = ("mg_mve_compute_rows",)
_POINTWISE = weighted.vectors(
    Loop(stem="conv2d_1x1_s8_rows", refusal=_refuses_pointwise, cores=_CORES, is_raw=True)
)
_WINDOWS = weighted.vectors(
    Loop(
        stem="conv2d_s8_rows",
        refusal=_refuses,
        scratch=_strip,
        cores=(*_CORES, "mg_mve_strip_line"),
        is_raw=True,
        layout=_columns_first,
    )
)

IMPLEMENTATIONS = tuple(LAYER.kernels((_POINTWISE, _WINDOWS), (TWICE_NARROW,)))
