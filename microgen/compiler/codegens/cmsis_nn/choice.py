"""The public function for a convolution, and the buffer that it needs.

The wrappers choose without checking everything that their special forms need. If they would
choose wrongly, a general function is called instead. The conditions are from the sources of
CMSIS-NN 7.0.0.
"""

from __future__ import annotations

from dataclasses import dataclass

from microgen.compiler.codegens.cmsis_nn import buffers
from microgen.compiler.codegens.cmsis_nn.cpus import Form
from microgen.compiler.codegens.cmsis_nn.window import Window


@dataclass(frozen=True, slots=True)
class Choice:
    """A function, and the bytes of the buffer in its context."""

    function: str
    buffer: int


def convolution(form: Form, window: Window) -> Choice:
    """``arm_convolve_wrapper_s8``, or ``arm_convolve_s8`` if the wrapper is wrong."""
    if _wrapper_is_right(form, window):
        return Choice("arm_convolve_wrapper_s8", buffers.convolve_wrapper(form, window))
    return Choice("arm_convolve_s8", buffers.convolve(form, window))


def _wrapper_is_right(form: Form, window: Window) -> bool:
    """Whether the wrapper is right. It knows the buffer's size only for some groups. The 1x1 forms
    ignore all padding. For MVE's form for rows see ``_row_is_right``."""
    if window.groups > 1:
        return False
    if buffers.is_pointwise(window):
        return max(window.overshoot) <= 0
    return form is not Form.MVE or not buffers.is_row(window) or _row_is_right(window)


def _row_is_right(window: Window) -> bool:
    """Whether ``arm_convolve_1_x_n_s8`` is right. It fails unless the total padding is twice the
    left one, or one more. It assumes that the first window that ends in padding has one column of
    padding. At the beginning of the row it reads as many columns as a window has. After the
    unpadded outputs it reads one column less than a window has."""
    left, right = buffers.padded_places(window)
    pad, odd = window.pads[1], buffers.odd_pad(window)
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


def depthwise(form: Form, window: Window) -> Choice:
    """``arm_depthwise_conv_wrapper_s8``, or ``arm_depthwise_conv_s8`` if that is wrong."""
    if _depthwise_wrapper_is_right(form, window):
        return Choice("arm_depthwise_conv_wrapper_s8", buffers.depthwise_wrapper(form, window))
    return Choice("arm_depthwise_conv_s8", 0)


def _depthwise_wrapper_is_right(form: Form, window: Window) -> bool:
    """Whether the wrapper is right. The 3x3 form assumes that the middle of a window is always
    inside. The form for DSP clears as many rows of its buffer as a window has outside the input."""
    if buffers.is_converted(form, window):
        return _wrapper_is_right(form, window)
    if window.output[3] != window.data[3] or window.data[0] != 1 or window.is_dilated:
        return True
    if buffers.is_3x3(form, window):
        return window.overshoot[1] <= 1
    above, below = window.pads[0], window.overshoot[0]
    return form is not Form.DSP or max(above, below) <= window.kernel[0]
