"""Tensors with a border."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Arrays, Attrs, DType, Types
from microgen.graph.ops import bounds
from microgen.graph.ops.base import OpDefinition, Operands, Pair, Shapes, one_input
from microgen.graph.ops.constraints import EVERY_DTYPE, unchanged, unchanged_constraint
from microgen.graph.ops.cost import moved


@dataclass(frozen=True, slots=True)
class PadAttrs(Attrs):
    """Input: data of any dtype. ``pads`` are (before, after) per axis. ``value`` is a stored value:
    an integer, or a float32 for float32 data."""

    pads: tuple[Pair, ...]
    value: float


def _pad_infer(attrs: PadAttrs, inputs: Types) -> Shapes:
    """The padded shape."""
    one_input("nn.pad", inputs)
    shape = inputs[0].shape
    if len(attrs.pads) != len(shape):
        raise ValueError(f"there are pads for {len(attrs.pads)} axes; the input is {inputs[0]}")
    if any(min(pair) < 0 for pair in attrs.pads):
        raise ValueError(f"pads {attrs.pads} must not be negative")
    return (tuple(b + n + a for n, (b, a) in zip(shape, attrs.pads, strict=True)),)


def _pad_check(attrs: PadAttrs, inputs: Types, outputs: Types) -> str | None:
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


def _pad_reference(attrs: PadAttrs, operands: Operands) -> Arrays:
    """The data, surrounded by the value."""
    data = operands.inputs[0]
    return (np.pad(data, attrs.pads, constant_values=attrs.value) if attrs.pads else data,)


PAD = OpDefinition(
    "nn.pad",
    PadAttrs,
    _pad_infer,
    _pad_check,
    _pad_reference,
    cost=moved,
    bound=bounds.moves(_pad_reference),
    about="a constant around the data",
)


@dataclass(frozen=True, slots=True)
class MirrorPadAttrs(Attrs):
    """Input: data of any dtype. ``pads`` are (before, after) per axis. With ``repeats_edge`` the
    mirror is after the last element (TFLite's SYMMETRIC), otherwise on it (REFLECT)."""

    pads: tuple[Pair, ...]
    repeats_edge: bool


def _mirror_pad_infer(attrs: MirrorPadAttrs, inputs: Types) -> Shapes:
    """The padded shape."""
    one_input("nn.mirror_pad", inputs)
    shape = inputs[0].shape
    if len(attrs.pads) != len(shape):
        raise ValueError(f"there are pads for {len(attrs.pads)} axes; the input is {inputs[0]}")
    for size, pair in zip(shape, attrs.pads, strict=True):
        most = size if attrs.repeats_edge else size - 1
        if not (min(pair) >= 0 and max(pair) <= most):
            raise ValueError(
                f"an axis of {size} elements is padded by {pair}; 0 to {most} are expected"
            )
    return (tuple(b + n + a for n, (b, a) in zip(shape, attrs.pads, strict=True)),)


def _mirror_pad_reference(attrs: MirrorPadAttrs, operands: Operands) -> Arrays:
    """Source: TFLite mirror_pad.cc, Eval."""
    data = operands.inputs[0]
    if not attrs.pads:
        return (data,)
    return (np.pad(data, attrs.pads, mode="symmetric" if attrs.repeats_edge else "reflect"),)


MIRROR_PAD = OpDefinition(
    "nn.mirror_pad",
    MirrorPadAttrs,
    _mirror_pad_infer,
    unchanged,
    _mirror_pad_reference,
    cost=moved,
    bound=bounds.moves(_mirror_pad_reference),
    about="the data's own elements, mirrored at its edges",
)


OPS = (PAD, MIRROR_PAD)
