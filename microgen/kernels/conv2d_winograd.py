"""Kernels for nn.conv2d by Winograd's F(2x2, 3x3), for the Arm DSP extension.

Kind of transform: ``winograd``. Its source is an int8 weight [output channels, 3, 3, input
channels]; it has no arguments. It makes int32 [pairs, 16, steps, 2], as
``crt/include/microgen/conv2d_winograd_s8.h`` describes it: each word has the transformed weights of
two input channels, for each of two output channels.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np

from microgen.ir.graph import Array, Graph, Node
from microgen.kernels import base, blocks, conv2d, transforms
from microgen.kernels.weighted import LINEAR, TWICE_NARROW, UPWARD_NARROW, Loop
from microgen.kernels.work import Work, work
from microgen.ops.conv2d import Conv2DAttrs

OP_NAME = "nn.conv2d"

_GROUP = 4  # input channels
_WIDTH = 8  # outputs in a row of four tiles, whose input is an area
_STEPS = 4  # MG_WINOGRAD_STEP in a loop
_MOST_CHANNELS = 404  # MG_WINOGRAD_CHANNELS
# The weights grow from 9 bytes to 32, which buys less time the more channels share a transform.
_MOST_BYTES = 32 * 1024
_G = np.array([[2, 0, 0], [1, 1, 1], [1, -1, 1], [0, 0, 2]])


def refusal(node: Node, graph: Graph) -> str | None:
    """Refusal unless the filters are 3x3, of one group, with stride 1 and without dilation, and
    neither the sums nor the weights are too large."""
    attrs = node.attrs
    assert isinstance(attrs, Conv2DAttrs)
    weight = graph.types[node.inputs[1]]
    if base.spatial(weight) != (3, 3):
        return "the kernel must be 3x3"
    if attrs.strides != (1, 1) or attrs.dilation != (1, 1):
        return "strides and dilations must be 1"
    return blocks.rows(node, graph) or _size(*weight.shape)


def _size(filters: int, height: int, width: int, depth: int) -> str | None:
    if not _GROUP <= depth <= _MOST_CHANNELS:
        return f"there are {depth} input channels, the kernel takes {_GROUP} to {_MOST_CHANNELS}"
    nbytes = -(-filters // 2) * 2 * 16 * 4 * _steps(depth)
    if nbytes > _MOST_BYTES:
        return (
            f"{filters * height * width * depth} bytes of weights would become {nbytes}, "
            f"the kernel takes {_MOST_BYTES}"
        )
    return None


def scratch(node: Node, graph: Graph) -> int:
    """Sums, four tiles of all channels, and zero points, in bytes."""
    depth = graph.types[node.inputs[0]].shape[3]
    return 512 + 256 * _steps(depth) + 10 * depth


def _steps(depth: int) -> int:
    """Pairs of input channels, rounded up to those of the loop."""
    return -(-depth // (2 * _STEPS)) * _STEPS


def parts(node: Node, graph: Graph) -> Work:
    """How often the parts of the loop run; docs/costs.md describes each number."""
    (data, *_), output = base.types(node, graph)
    batches, height, width, filters = output.shape
    rows, depth = batches * -(-height // 2), data.shape[3]
    areas = rows * -(-width // _WIDTH)
    return {
        **{name: work(node, graph)[name] for name in ("call", "output", "clamped")},
        "area": areas,
        "area_group": areas * -(-depth // _GROUP),
        "area_filter": areas * filters,
        "area_pair": areas * -(-filters // 2),
        "area_product": areas * -(-filters // 2) * _steps(depth),
        "tile": rows * -(-width // 2) * filters,
    }


def _layout(weight: base.KernelConstant, _node: Node, _graph: Graph) -> base.KernelConstant:
    return dataclasses.replace(weight, ctype="int32_t", transform="winograd")


def _winograd(sources: Sequence[Array], arguments: transforms.Arguments) -> Array:
    (weight,) = sources
    if arguments:
        raise TypeError("winograd takes no arguments")
    filters, height, width, depth = weight.shape
    if weight.dtype != np.int8 or (height, width) != (3, 3) or depth < _GROUP:
        raise ValueError("the weights are not int8 [filters, 3, 3, 4 or more]")
    padded = np.zeros((-(-filters // 2), 2, 3, 3, 2 * _steps(depth)), np.int64)
    padded.reshape(-1, *padded.shape[2:])[:filters, ..., _places(depth)] = weight
    made = np.einsum("iy,jx,fpyxc->fijcp", _G, _G, padded)
    made = made.reshape(len(made), 16, -1, 2, 2, 2)  # ..., groups, halves, steps of a group, pair
    halves = np.moveaxis(made, 3, 5).reshape(len(made), 16, -1, 2, 2)
    words: Array = np.ascontiguousarray(halves.astype("<i2")).view("<i4")[..., 0]
    return words


def _places(depth: int) -> Array:
    """Where each channel is. The last group begins ``_GROUP`` channels before the end, and what it
    has in common with the one before it counts there."""
    whole = depth - depth % _GROUP
    return np.array([c if c < whole else c - depth + whole + _GROUP for c in range(depth)])


TRANSFORMS: Mapping[str, transforms.Function] = {"winograd": _winograd}

IMPLEMENTATIONS = tuple(
    conv2d.LAYER.kernels(
        (
            Loop(
                stem="conv2d_winograd_s8",
                needs=base.DSP,
                refusal=refusal,
                scratch=scratch,
                is_raw=True,
                layout=_layout,
                work=parts,
            ),
        ),
        (LINEAR, TWICE_NARROW, UPWARD_NARROW),
    )
)
