"""What convolutions and pools share: padded inputs seen through a window."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from microgen.ir.graph import MAX_BYTES, Array, TensorType
from microgen.ops.base import Padding, Pads, Pair, Shape
from microgen.ops.geometry import extent, output_size, resolve

Pool = tuple[Padding, Pair, Pair]  # padding, pool size, strides


def nhwc(role: str, tensor: TensorType) -> Shape:
    """The shape of a 4-D tensor; ValueError if it is not 4-D."""
    if len(tensor.shape) != 4:
        raise ValueError(f"the {role} {tensor} must have 4 dimensions")
    return tensor.shape


def spatial(shape: Shape) -> Pair:
    """(height, width) of an NHWC, OHWI or 1HWC shape."""
    return shape[1], shape[2]


def check_dilation(data: Shape, dilation: Pair) -> None:
    """Raise ValueError unless int32 counts the values of the NHWC data from one tap to the next:
    kernels compute that even where no more than one tap is ever in the data."""
    _, _, width, channels = data
    step = channels * max(dilation[0] * width, dilation[1])
    if step > MAX_BYTES:
        raise ValueError(
            f"with the dilation {dilation}, taps are {step} values apart; kernels count to "
            f"{MAX_BYTES}"
        )


def pad_spatial(data: Array, pads: Pads, value: float) -> Array:
    """NHWC data with rows and columns of ``value`` around it."""
    top, left, bottom, right = pads
    widths = ((0, 0), (top, bottom), (left, right), (0, 0))
    return np.pad(data, widths, constant_values=value)


def windows(padded: Array, kernel: Pair, strides: Pair, dilation: Pair) -> Array:
    """View [N, OH, OW, C, KH, KW] of NHWC data: what the window sees at each place."""
    cover = extent(kernel, dilation)
    every = np.lib.stride_tricks.sliding_window_view(padded, cover, axis=(1, 2))
    stride_h, stride_w = strides
    return every[:, ::stride_h, ::stride_w, :, :: dilation[0], :: dilation[1]]


def pool_shape(name: str, inputs: Sequence[TensorType], pool: Pool) -> Shape:
    """Output shape of a pool; ValueError if there is none, or a window sees only padding."""
    if len(inputs) != 1:
        raise ValueError(f"{name} has {len(inputs)} inputs; one is expected")
    batches, *_, channels = nhwc("input", inputs[0])
    padding, pool_size, strides = pool
    size = spatial(inputs[0].shape)
    height, width = output_size(padding, size, pool_size, strides, (1, 1))
    pads = resolve(padding, size, pool_size, strides, (1, 1))
    if max(pads[0], pads[2]) >= pool_size[0] or max(pads[1], pads[3]) >= pool_size[1]:
        raise ValueError(f"padding {pads} must be smaller than the pool's {pool_size}")
    return batches, height, width, channels


def pool_windows(data: Array, pool: Pool, value: float) -> Array:
    """``windows`` of the data padded with ``value``."""
    padding, pool_size, strides = pool
    pads = resolve(padding, spatial(data.shape), pool_size, strides, (1, 1))
    return windows(pad_spatial(data, pads, value), pool_size, strides, (1, 1))
