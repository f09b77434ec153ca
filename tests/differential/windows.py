"""Windows of convolutions and pools."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import tflite

from tests.differential.network import Network, UnfitError
from tests.support.tflite_builder import OptionValue


@dataclass(frozen=True)
class Window:
    """The (height, width) of a kernel and of its output, and the operator's options."""

    kernel: tuple[int, int]
    output: tuple[int, int]
    options: dict[str, OptionValue]


def random_window(net: Network, data: str, *, dilates: bool = True) -> Window:
    """A random window that fits into the image."""
    rng, size = net.rng, np.array(net.shape(data)[1:3])
    kernel, stride = rng.integers(1, 5, 2), rng.integers(1, 4, 2)
    dilation = rng.integers(1, 3, 2) if dilates and net.chance(0.3) else np.array([1, 1])
    same = net.chance(0.6)
    cover = (kernel - 1) * dilation + 1
    out = -(-size // stride) if same else (size - cover) // stride + 1
    if out.min() < 1:
        raise UnfitError("no output")
    options = {**padding(same), "strideH": int(stride[0]), "strideW": int(stride[1])}
    options["fusedActivationFunction"] = net.fused()
    if dilates:
        options |= {"dilationHFactor": int(dilation[0]), "dilationWFactor": int(dilation[1])}
    return Window((int(kernel[0]), int(kernel[1])), (int(out[0]), int(out[1])), options)


def padding(same: bool) -> dict[str, OptionValue]:
    """The operator's padding option."""
    return {"padding": tflite.Padding.SAME if same else tflite.Padding.VALID}
