"""What float32 references share.

Elementwise arithmetic is in float32, where IEEE 754 leaves no choice. Sums and functions that a
library would approximate are computed in float64 and rounded to float32 at the end: kernels state
how far they may be from that.
"""

from __future__ import annotations

import numpy as np

from microgen.ir.graph import Array, DType, TensorType
from microgen.ops.base import Activation
from microgen.quantize import float_range


def is_float(tensor: TensorType) -> bool:
    """Whether an op of that operand computes in floating point."""
    return tensor.dtype is DType.FLOAT32


def below_largest(x: Array) -> Array:
    """Each value less the largest of its row (the last axis), float64.

    The largest is a finite number at least, and NaN does not count, as in TFLite's softmax.
    """
    least = -np.finfo(np.float32).max
    largest = np.fmax.reduce(x, axis=-1, keepdims=True, initial=least)
    with np.errstate(invalid="ignore"):
        difference: Array = x.astype(np.float64) - largest
    return difference


def activated(values: Array, activation: Activation) -> tuple[Array, ...]:
    """Real values rounded to float32 and clamped, as the only output of an op.

    NaN stays NaN.
    """
    low, high = (np.float32(limit) for limit in float_range(activation))
    return (np.clip(rounded(values), low, high),)


def sums(values: Array, axes: tuple[int, ...], *, keep_dims: bool = False) -> Array:
    """Sums over some axes, float64. Those of opposite infinities are NaN."""
    with np.errstate(invalid="ignore"):
        return np.asarray(values.sum(axes, np.float64, keepdims=keep_dims))


def rounded(values: Array) -> Array:
    """Real values rounded to float32, the largest to infinity."""
    with np.errstate(over="ignore"):
        return np.asarray(values.astype(np.float32))
