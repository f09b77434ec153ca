"""Functions that float32 references share.

Elementwise arithmetic is in float32, where IEEE 754 determines every result. Plain sums are also in
float32, in TFLite's order. Sums of products, and functions that a library would approximate, are
computed in float64 and rounded to float32 at the end; kernels state the bound of their distance
from this result.
"""

from __future__ import annotations

import numpy as np

from microgen.graph.arithmetic.int8 import float_range
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import Array, Arrays, ArrayType, DType
from microgen.graph.ops.balls import Ball


def is_float(tensor: ArrayType) -> bool:
    """Whether an op with that operand computes in floating point."""
    return tensor.dtype is DType.FLOAT32


def below_largest(x: Array) -> Array:
    """Each value minus the largest of its row (the last axis), float64."""
    with np.errstate(invalid="ignore"):
        difference: Array = x.astype(np.float64) - _largest(x)
    return difference


def ball_below_largest(x: Ball) -> Ball:
    """``below_largest`` of numbers with errors, computed in float32."""
    return x - Ball.of(_largest(x.value), x.error.max(axis=-1, keepdims=True))


def _largest(x: Array) -> Array:
    """The largest value of each row, at least the least finite number. NaN is ignored, as in
    TFLite's softmax."""
    return np.asarray(np.fmax.reduce(x, axis=-1, keepdims=True, initial=-np.finfo(np.float32).max))


def activated(values: Array, activation: Activation) -> Arrays:
    """The only output of an op: real values rounded to float32 and clamped.

    NaN remains NaN.
    """
    low, high = (np.float32(limit) for limit in float_range(activation))
    return (np.clip(rounded(values), low, high),)


def sums(values: Array, axes: tuple[int, ...], *, keep_dims: bool = False) -> Array:
    """Sums over some axes in float32, added one after another in the order of the axes, as TFLite's
    reference kernels do. So with many equal values both have the same rounding error.

    Sums of opposite infinities are NaN.
    """
    kept = [n for axis, n in enumerate(values.shape) if axis not in axes]
    moved = np.moveaxis(values, sorted(axes), range(len(kept), values.ndim))
    with np.errstate(invalid="ignore", over="ignore"):
        # cumsum adds one number after another. np.sum would add in pairs, and so round otherwise.
        added = np.cumsum(moved.reshape(*kept, -1), axis=-1, dtype=np.float32)[..., -1]
    return np.expand_dims(added, sorted(axes)) if keep_dims else np.asarray(added)


def rounded(values: Array) -> Array:
    """Real values rounded to float32. Values that are too large become infinity."""
    with np.errstate(over="ignore"):
        return np.asarray(values.astype(np.float32))
