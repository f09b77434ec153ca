"""What float32 references share.

Elementwise arithmetic is in float32, where IEEE 754 leaves no choice. Sums and functions that a
library would approximate are computed in float64 and rounded to float32 at the end: kernels state
how far they may be from that.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from microgen.ir.graph import Array, DType, TensorType
from microgen.ops.base import Activation
from microgen.quantize import float_range


def is_float(tensor: TensorType) -> bool:
    """Whether an op of that operand computes in floating point."""
    return tensor.dtype is DType.FLOAT32


def constraint(tensors: Sequence[TensorType]) -> str | None:
    """Everything that such an op reads and writes must be float32."""
    for tensor in tensors:
        if not is_float(tensor):
            return f"the input is {tensors[0]}, but an operand or the output is {tensor}"
    return None


def activated(values: Array, activation: Activation) -> tuple[Array, ...]:
    """Real values rounded to float32 and clamped, as the only output of an op.

    NaN stays NaN.
    """
    with np.errstate(over="ignore"):
        rounded = values.astype(np.float32)
    low, high = (np.float32(limit) for limit in float_range(activation))
    return (np.clip(rounded, low, high),)
