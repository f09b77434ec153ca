"""Sizes in bytes of the buffers that CMSIS-NN's functions need in their context: the results of its
``*_get_buffer_size`` functions when they are compiled for the CPU with GCC or Clang.

Source: CMSIS-NN 7.0.0, Source/**/*_get_buffer_sizes_s8.c. A test compares them with the C.
"""

from __future__ import annotations

from microgen.compiler.codegens.cmsis_nn.cpus import Form
from microgen.compiler.codegens.cmsis_nn.window import Window

_MVE_CHANNELS = 124  # CH_IN_BLOCK_MVE: channels of one pass of arm_depthwise_conv_s8_opt


def convolve(form: Form, window: Window) -> int:
    """``arm_convolve_s8_get_buffer_size``."""
    column = window.kernel[0] * window.kernel[1] * window.data[3]
    if form is Form.MVE:
        return 4 * -(-column // 16) * 16
    return 2 * -(-column // 4) * 4 * 2


def convolve_wrapper(form: Form, window: Window) -> int:
    """``arm_convolve_wrapper_s8_get_buffer_size``."""
    if is_pointwise(window):
        return 0
    if form is Form.MVE and is_row(window):
        return _convolve_row(window)
    return convolve(form, window)


def is_pointwise(window: Window) -> bool:
    """Whether the wrapper takes ``arm_convolve_1x1_s8``, or its fast form."""
    return window.kernel == (1, 1) and window.pads[:2] == (0, 0) and window.groups == 1


def is_row(window: Window) -> bool:
    """Whether the wrapper takes ``arm_convolve_1_x_n_s8``."""
    return (
        window.data[1] == 1
        and window.kernel[0] == 1
        and window.dilation[1] == 1
        and window.strides[1] * window.data[3] % 4 == 0
        and window.groups == 1
    )


def padded_places(window: Window) -> tuple[int, int]:
    """The number of outputs at the left and at the right of a row that ``arm_convolve_1_x_n_s8``
    treats as padded, in its form for MVE."""
    stride, pad = window.strides[1], window.pads[1]
    right = pad + odd_pad(window)
    return (-(-pad // stride), max(1, _truncated(right + stride - 1, stride)) if right else 0)


def odd_pad(window: Window) -> int:
    """The remainder, in C, of all padding of a row by 2."""
    total = window.pads[1] + window.overshoot[1]
    return total - 2 * _truncated(total, 2)


def _truncated(a: int, b: int) -> int:
    """C's quotient for a positive ``b``."""
    return a // b if a >= 0 else -(-a // b)


def _convolve_row(window: Window) -> int:
    """``arm_convolve_1_x_n_s8_get_buffer_size_mve``."""
    left, right = padded_places(window)
    if left + right > window.output[2]:
        return convolve(Form.MVE, window)
    pad, width = window.pads[1], window.kernel[1]
    trailing = right if odd_pad(window) else pad
    return max(width + pad, width - 1 + trailing) * window.data[3]


def depthwise_wrapper(form: Form, window: Window) -> int:
    """``arm_depthwise_conv_wrapper_s8_get_buffer_size``."""
    channels = window.output[3]
    if is_converted(form, window):
        kernel = window.kernel[0] * window.kernel[1]
        return convolve_wrapper(form, window) + kernel * channels
    if channels != window.data[3] or window.data[0] != 1 or window.is_dilated:
        return 0
    return 0 if is_3x3(form, window) else depthwise_opt(form, window)


def is_converted(form: Form, window: Window) -> bool:
    """Whether the wrapper for depthwise convolutions turns it into an ordinary one."""
    return form is Form.MVE and window.data[3] == 1 and window.output[3] > 1


def is_3x3(form: Form, window: Window) -> bool:
    """Whether the wrapper takes ``arm_depthwise_conv_3x3_s8`` for a depthwise convolution of one
    batch, undilated, with multiplier 1."""
    return form is not Form.MVE and window.kernel == (3, 3) and max(window.pads[:2]) <= 1


def depthwise_opt(form: Form, window: Window) -> int:
    """``arm_depthwise_conv_s8_opt_get_buffer_size``."""
    kernel = window.kernel[0] * window.kernel[1]
    sizes = {Form.PLAIN: 0, Form.DSP: 2 * window.data[3] * kernel}
    return sizes.get(form, 4 * _MVE_CHANNELS * kernel)


def fully_connected(form: Form, units: int) -> int:
    """``arm_fully_connected_s8_get_buffer_size``: sums of the weights of each unit."""
    return 4 * units if form is Form.MVE else 0


def average_pool(form: Form, channels: int) -> int:
    """``arm_avgpool_s8_get_buffer_size``."""
    return 4 * channels if form is Form.DSP else 0
