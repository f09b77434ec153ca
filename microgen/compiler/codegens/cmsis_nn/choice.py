"""The public function for a convolution, and the sizes of the buffers that functions need."""

from __future__ import annotations

from dataclasses import dataclass

from microgen.compiler.codegens.cmsis_nn.numbers import CmsisWindow
from microgen.compiler.codegens.cmsis_nn.tree import LibraryForm

# Sizes in bytes of the buffers that CMSIS-NN's functions need in their context: the results of its
# ``*_get_buffer_size`` functions when they are compiled for the CPU with GCC or Clang.
#
# Source: CMSIS-NN 7.0.0, Source/**/*_get_buffer_sizes_s8.c. A test compares them with the C.

_MVE_CHANNELS = 124  # CH_IN_BLOCK_MVE: channels of one pass of arm_depthwise_conv_s8_opt


def convolve(form: LibraryForm, window: CmsisWindow) -> int:
    """``arm_convolve_s8_get_buffer_size``."""
    column = window.kernel[0] * window.kernel[1] * window.data[3]
    if form is LibraryForm.MVE:
        # Four columns of the im2col matrix in int8, each a multiple of 16 bytes.
        return 4 * -(-column // 16) * 16
    # Two columns in int16, each a multiple of four elements.
    return 2 * -(-column // 4) * 4 * 2


def convolve_wrapper(form: LibraryForm, window: CmsisWindow) -> int:
    """``arm_convolve_wrapper_s8_get_buffer_size``."""
    if is_pointwise(window):
        return 0
    if form is LibraryForm.MVE and is_row(window):
        return _convolve_row(window)
    return convolve(form, window)


def is_pointwise(window: CmsisWindow) -> bool:
    """Whether the wrapper takes ``arm_convolve_1x1_s8``, or its fast form."""
    return window.kernel == (1, 1) and window.pads[:2] == (0, 0) and window.groups == 1


def is_row(window: CmsisWindow) -> bool:
    """Whether the wrapper takes ``arm_convolve_1_x_n_s8``."""
    return (
        window.data[1] == 1
        and window.kernel[0] == 1
        and window.dilation[1] == 1
        and window.strides[1] * window.data[3] % 4 == 0
        and window.groups == 1
    )


def padded_places(window: CmsisWindow) -> tuple[int, int]:
    """The number of outputs at the left and at the right of a row that ``arm_convolve_1_x_n_s8``
    treats as padded, in its form for MVE."""
    stride, pad = window.strides[1], window.pads[1]
    right = pad + odd_pad(window)
    return (-(-pad // stride), max(1, _truncated(right + stride - 1, stride)) if right else 0)


def odd_pad(window: CmsisWindow) -> int:
    """The remainder, in C, of all padding of a row by 2."""
    total = window.pads[1] + window.overshoot[1]
    return total - 2 * _truncated(total, 2)


def _truncated(a: int, b: int) -> int:
    """C's quotient for a positive ``b``."""
    return a // b if a >= 0 else -(-a // b)


def _convolve_row(window: CmsisWindow) -> int:
    """``arm_convolve_1_x_n_s8_get_buffer_size_mve``."""
    left, right = padded_places(window)
    if left + right > window.output[2]:
        return convolve(LibraryForm.MVE, window)
    pad, width = window.pads[1], window.kernel[1]
    trailing = right if odd_pad(window) else pad
    return max(width + pad, width - 1 + trailing) * window.data[3]


def depthwise_wrapper(form: LibraryForm, window: CmsisWindow) -> int:
    """``arm_depthwise_conv_wrapper_s8_get_buffer_size``."""
    channels = window.output[3]
    if is_converted(form, window):
        kernel = window.kernel[0] * window.kernel[1]
        return convolve_wrapper(form, window) + kernel * channels
    if channels != window.data[3] or window.data[0] != 1 or window.is_dilated:
        return 0
    return 0 if is_3x3(form, window) else depthwise_opt(form, window)


def is_converted(form: LibraryForm, window: CmsisWindow) -> bool:
    """Whether the wrapper for depthwise convolutions turns it into an ordinary one."""
    return form is LibraryForm.MVE and window.data[3] == 1 and window.output[3] > 1


def is_3x3(form: LibraryForm, window: CmsisWindow) -> bool:
    """Whether the wrapper takes ``arm_depthwise_conv_3x3_s8`` for a depthwise convolution of one
    batch, undilated, with multiplier 1."""
    return form is not LibraryForm.MVE and window.kernel == (3, 3) and max(window.pads[:2]) <= 1


def depthwise_opt(form: LibraryForm, window: CmsisWindow) -> int:
    """``arm_depthwise_conv_s8_opt_get_buffer_size``."""
    kernel = window.kernel[0] * window.kernel[1]
    sizes = {LibraryForm.PLAIN: 0, LibraryForm.DSP: 2 * window.data[3] * kernel}
    return sizes.get(form, 4 * _MVE_CHANNELS * kernel)


def fully_connected(form: LibraryForm, units: int) -> int:
    """``arm_fully_connected_s8_get_buffer_size``: sums of the weights of each unit."""
    return 4 * units if form is LibraryForm.MVE else 0


def average_pool(form: LibraryForm, channels: int) -> int:
    """``arm_avgpool_s8_get_buffer_size``."""
    return 4 * channels if form is LibraryForm.DSP else 0


@dataclass(frozen=True, slots=True)
class FunctionChoice:
    """A function, and the bytes of the buffer in its context."""

    function: str
    buffer: int


def convolution(form: LibraryForm, window: CmsisWindow) -> FunctionChoice:
    """``arm_convolve_wrapper_s8``, or ``arm_convolve_s8`` if the wrapper is wrong."""
    if _wrapper_is_right(form, window):
        return FunctionChoice("arm_convolve_wrapper_s8", convolve_wrapper(form, window))
    return FunctionChoice("arm_convolve_s8", convolve(form, window))


def _wrapper_is_right(form: LibraryForm, window: CmsisWindow) -> bool:
    """Whether the wrapper is right; for MVE's form for rows see ``_row_is_right``."""
    # The wrapper knows the buffer's size only for some groups.
    if window.groups > 1:
        return False
    if is_pointwise(window):
        # The 1x1 forms ignore all padding.
        return max(window.overshoot) <= 0
    return form is not LibraryForm.MVE or not is_row(window) or _row_is_right(window)


def _row_is_right(window: CmsisWindow) -> bool:
    """Whether ``arm_convolve_1_x_n_s8`` is right. It fails unless the total padding is twice the
    left one, or one more. It assumes that the first window that ends in padding has one column of
    padding. At the beginning of the row it reads as many columns as a window has, and after the
    unpadded outputs one column less."""
    left, right = padded_places(window)
    pad, odd = window.pads[1], odd_pad(window)
    total = pad + window.overshoot[1]
    if window.output[1] != 1 or window.pads[0] or total < 0 or 2 * pad + odd != total:
        return False
    if left + right > window.output[2]:
        return True
    first = window.strides[1] * (window.output[2] - right) - pad
    trailing = right if odd else pad
    return (
        window.kernel[1] <= window.data[2]
        and first + window.kernel[1] - 1 <= window.data[2]
        and trailing >= window.overshoot[1]
    )


def depthwise(form: LibraryForm, window: CmsisWindow) -> FunctionChoice:
    """``arm_depthwise_conv_wrapper_s8``, or ``arm_depthwise_conv_s8`` if that is wrong."""
    if _depthwise_wrapper_is_right(form, window):
        return FunctionChoice("arm_depthwise_conv_wrapper_s8", depthwise_wrapper(form, window))
    return FunctionChoice("arm_depthwise_conv_s8", 0)


def _depthwise_wrapper_is_right(form: LibraryForm, window: CmsisWindow) -> bool:
    if is_converted(form, window):
        return _wrapper_is_right(form, window)
    if window.output[3] != window.data[3] or window.data[0] != 1 or window.is_dilated:
        return True
    if is_3x3(form, window):
        # The 3x3 form assumes that the middle of a window is always inside.
        return window.overshoot[1] <= 1
    above, below = window.pads[0], window.overshoot[0]
    # The form for DSP clears as many rows of its buffer as a window has outside the input.
    return form is not LibraryForm.DSP or max(above, below) <= window.kernel[0]
