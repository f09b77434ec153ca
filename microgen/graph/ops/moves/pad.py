"""nn.pad: a constant around the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, Attrs, DType, TensorType
from microgen.graph.ops import bounds
from microgen.graph.ops.base import Op, Operands, Pair, Shape, one_input
from microgen.graph.ops.constraints import EVERY_DTYPE, unchanged_constraint
from microgen.graph.ops.cost import moved


@dataclass(frozen=True, slots=True)
class PadAttrs(Attrs):
    """Input: data of any dtype. ``pads`` are (before, after) per axis. ``value`` is a stored value:
    an integer, or a float32 for float32 data."""

    pads: tuple[Pair, ...]
    value: float


def infer(attrs: PadAttrs, inputs: Sequence[TensorType]) -> tuple[Shape, ...]:
    """The padded shape."""
    one_input("nn.pad", inputs)
    shape = inputs[0].shape
    if len(attrs.pads) != len(shape):
        raise ValueError(f"there are pads for {len(attrs.pads)} axes; the input is {inputs[0]}")
    if any(min(pair) < 0 for pair in attrs.pads):
        raise ValueError(f"pads {attrs.pads} must not be negative")
    return (tuple(b + n + a for n, (b, a) in zip(shape, attrs.pads, strict=True)),)


def check(
    attrs: PadAttrs, inputs: Sequence[TensorType], outputs: Sequence[TensorType]
) -> str | None:
    """Dtype and quantization unchanged; the dtype has the value."""
    if not _is_stored(attrs.value, outputs[0].dtype):
        return f"the padding's value is {attrs.value}; it must be of {outputs[0].dtype.value}"
    return unchanged_constraint(inputs[0], outputs[0], EVERY_DTYPE)


def _is_stored(value: float, dtype: DType) -> bool:
    """Whether the dtype can represent the value exactly."""
    if dtype is DType.FLOAT32:
        with np.errstate(over="ignore"):
            return float(np.float32(value)) == value
    if dtype is DType.BOOL:
        return value in (0, 1)
    limits = np.iinfo(dtype.numpy)
    return isinstance(value, int) and limits.min <= value <= limits.max


def reference(attrs: PadAttrs, operands: Operands) -> tuple[Array, ...]:
    """The data, surrounded by the value."""
    data = operands.inputs[0]
    return (np.pad(data, attrs.pads, constant_values=attrs.value) if attrs.pads else data,)


def parts(_attrs: PadAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return ("nn_pad",)


OP = Op(
    "nn.pad", PadAttrs, infer, check, reference, parts, cost=moved, bound=bounds.moves(reference)
)
