"""The position of the window of a convolution or a pool, and the number of its places.

Kernels compute places in int32. ``output_size`` accepts only windows whose places fit. A place,
y * stride - pad + tap * dilation, is in the padded input, whose height and width fit, and
a place before the input is at most a pad away. ``microgen/window.h`` has the rest of the argument.
"""

from __future__ import annotations

from microgen.graph.ops.base import Padding, Pads, Pair

# TFLite's kernels hold strides, dilations and pads in 16 bits: ConvParams, DepthwiseParams and
# PaddingValues in kernels/internal/types.h.
MOST = 2**15 - 1
_LONGEST = 2**31 - 2**16  # rows or columns with pads: int32 holds these plus a dilation


def extent(kernel: Pair, dilation: Pair) -> Pair:
    """Height and width that a dilated kernel covers."""
    return (kernel[0] - 1) * dilation[0] + 1, (kernel[1] - 1) * dilation[1] + 1


def output_size(padding: Padding, size: Pair, kernel: Pair, strides: Pair, dilation: Pair) -> Pair:
    """The output's (height, width); raises ValueError as ``fitted`` does."""
    return fitted(padding, size, kernel, strides, dilation)[1]


def fitted(
    padding: Padding, size: Pair, kernel: Pair, strides: Pair, dilation: Pair
) -> tuple[Pads, Pair]:
    """The padding in numbers and the output (height, width) of a window over an input of
    (height, width) ``size``.

    ValueError if kernel, strides, dilation or padding make no sense, exceed what TFLite's kernels
    can hold, or leave no output.
    """
    _check_steps(kernel, strides, dilation)
    pads = resolve(padding, size, kernel, strides, dilation)
    _check_pads(pads)
    room = (size[0] + pads[0] + pads[2], size[1] + pads[1] + pads[3])
    if max(room) > _LONGEST:
        raise ValueError(f"the padded input is {room[0]}x{room[1]}; kernels allow {_LONGEST}")
    cover = extent(kernel, dilation)
    if min(size) < 1 or cover[0] > room[0] or cover[1] > room[1]:
        raise ValueError(
            f"the window covers {cover[0]}x{cover[1]}, but the padded input is only "
            f"{room[0]}x{room[1]}: there is no output"
        )
    return pads, ((room[0] - cover[0]) // strides[0] + 1, (room[1] - cover[1]) // strides[1] + 1)


def _check_steps(kernel: Pair, strides: Pair, dilation: Pair) -> None:
    if min(*kernel, *strides, *dilation) < 1:
        raise ValueError(
            f"kernel {kernel}, strides {strides} and dilation {dilation} must all be at least 1"
        )
    if max(*strides, *dilation) > MOST:
        raise ValueError(
            f"strides {strides} and dilation {dilation} must be at most {MOST}, the limit of "
            "TFLite's kernels"
        )


def _check_pads(pads: Pads) -> None:
    if min(pads) < 0:
        raise ValueError(f"padding {pads} must not be negative")
    if max(pads) > MOST:
        raise ValueError(f"padding {pads} must be at most {MOST}, the limit of TFLite's kernels")


def resolve(padding: Padding, size: Pair, kernel: Pair, strides: Pair, dilation: Pair) -> Pads:
    """The padding as (top, left, bottom, right).

    SAME means the same as in TFLite (padding.h): ceil(size / stride) outputs; if the padding is
    odd, the extra pixel comes last.
    """
    if padding == "VALID":
        return 0, 0, 0, 0
    if padding != "SAME":
        return padding
    cover = extent(kernel, dilation)
    total_h, total_w = (_same(n, k, s) for n, k, s in zip(size, cover, strides, strict=True))
    return total_h // 2, total_w // 2, total_h - total_h // 2, total_w - total_w // 2


def explicit(padding: Padding) -> Pads:
    """The padding of a node as numbers, into which the pass ``canonical_padding`` has
    converted it."""
    assert not isinstance(padding, str), "canonical_padding comes first"
    return padding


def _same(size: int, cover: int, stride: int) -> int:
    outputs = -(-size // stride)
    return max((outputs - 1) * stride + cover - size, 0)
