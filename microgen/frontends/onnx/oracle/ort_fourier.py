"""Bounds of the distance of ONNX Runtime's Fourier transforms from exact transforms.

The graph multiplies by a constant matrix, and an element of it that is 0 makes no error. ONNX
Runtime (signal/dft.cc) computes each root of unity as cos and sin of a float32 angle, and every
element has their errors. So its error is relative to the transform: to S, the sum of the magnitudes
that are transformed. With u = 2**-24:

- The angle of element j for the output k is 2 pi j k / N. The constant, the quotient, the index and
  the product are rounded, so it is off by 4 u of itself, and cos and sin by 2 u more.
- A length N that is not a power of two is computed as N products and sums for each output, with
  angles up to 2 pi k: (8 pi k + 2) u, and 2 (N + 3) u for the roundings of the products and sums.
- A power of two is computed in log2 N stages. Their angles are below 2 pi, so the root is off by
  (8 pi + 2) u, and the product and the sum by 4 u. No stage increases S.
- The window and the division by N of an inverse round twice each: 4 u.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from microgen.graph.ir.graph import Array, Node
from microgen.graph.ops import registry
from microgen.graph.ops.balls import UNIT, gamma
from microgen.graph.ops.base import Inexact

OPERATORS = ("DFT", "STFT")
_OF_STAGE = 8 * math.pi + 2 + 4


def slack(node: Node, inexact: Inexact) -> Array | float:
    """The error of the products with the matrix. The moves around the products make no error. If an
    inverse transform has real results, each row of its matrix computes a real part only."""
    if node.op not in ("nn.dense", "nn.conv2d"):
        return 0.0
    data, weight, *_ = inexact.operands.inputs
    # ONNX Runtime multiplies by a root for each element, also if the matrix has a 0.
    largest = np.broadcast_to(np.abs(weight).max(axis=0), weight.shape)
    sizes = (np.abs(data) + inexact.errors[0]).astype(np.float32)
    operands = dataclasses.replace(inexact.operands, inputs=(sizes, np.ascontiguousarray(largest)))
    (sums,) = registry()[node.op].reference(node.attrs, operands)
    return np.asarray(_roundings(weight) * sums.astype(np.float64))


def _roundings(weight: Array) -> Array:
    """The error of each output relative to S."""
    length = _length(weight)
    if length & (length - 1) == 0:
        stages = max(1, length.bit_length() - 1)
        return np.full(len(weight), gamma(math.ceil(_OF_STAGE * stages + 4)))
    outputs = np.arange(len(weight)) // _parts(weight)
    return UNIT * (8 * math.pi * outputs + 2 + 2 * (length + 3) + 4)


def _parts(weight: Array) -> int:
    """The number of parts of a result: 1 for an inverse with real results, otherwise 2, real and
    imaginary. If there are 2, the second row is an imaginary part, to which the real part of the
    first input adds nothing."""
    return 1 if len(weight) > 1 and weight[1].ravel()[0] else 2


def _length(weight: Array) -> int:
    """The length N of the transform. The filters of frames have the length N. A matrix has the
    angle of one N-th of a turn where the second output reads the second input; without such an
    element, every angle is 0."""
    if weight.ndim == 4:
        return int(weight.shape[2])
    made = _parts(weight)
    is_complex = weight.shape[1] > 1 and weight[0, 1] == 0  # the imaginary part of the first input
    read = 2 if is_complex else 1
    if len(weight) <= made or weight.shape[1] <= read:
        return int(max(weight.shape))
    row = weight[made].astype(np.float64)
    sine = weight[made + 1, read] if made == 2 else row[read + 1]
    return round(2 * math.pi / abs(math.atan2(sine, row[read])))
