"""Tensors with a border."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Arrays, Attrs, DType, Types
from microgen.graph.ops.base import Operands, Pair, Shape, Shapes, one_input
from microgen.graph.ops.constraints import EVERY_DTYPE, unchanged_constraint
from microgen.graph.ops.moves import mover


@dataclass(frozen=True, slots=True)
class PadAttrs(Attrs):
    """nn.pad: a constant around the data.

    Input: data of any dtype. ``pads`` are (before, after) per axis. ``value`` is a stored value: an
    integer, or a float32 for float32 data.
    """

    pads: tuple[Pair, ...]
    value: float


def _unpadded(name: str, pads: tuple[Pair, ...], inputs: Types) -> Shape:
    """The shape of the only input. ValueError unless it has as many axes as there are pads."""
    shape = one_input(name, inputs).shape
    if len(pads) != len(shape):
        raise ValueError(f"there are pads for {len(pads)} axes; the input is {inputs[0]}")
    return shape


def _padded(shape: Shape, pads: tuple[Pair, ...]) -> Shapes:
    return (tuple(b + n + a for n, (b, a) in zip(shape, pads, strict=True)),)


def _pad_infer(attrs: PadAttrs, inputs: Types) -> Shapes:
    """The padded shape."""
    shape = _unpadded("nn.pad", attrs.pads, inputs)
    if any(min(pair) < 0 for pair in attrs.pads):
        raise ValueError(f"pads {attrs.pads} must not be negative")
    return _padded(shape, attrs.pads)


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


PAD = mover("nn.pad", PadAttrs, _pad_infer, _pad_reference, check=_pad_check)


@dataclass(frozen=True, slots=True)
class MirrorPadAttrs(Attrs):
    """nn.mirror_pad: the data's own elements, mirrored at its edges.

    Input: data of any dtype. ``pads`` are (before, after) per axis. With ``repeats_edge`` the
    mirror is after the last element (TFLite's SYMMETRIC), otherwise on it (REFLECT).
    """

    pads: tuple[Pair, ...]
    repeats_edge: bool


def _mirror_pad_infer(attrs: MirrorPadAttrs, inputs: Types) -> Shapes:
    """The padded shape."""
    shape = _unpadded("nn.mirror_pad", attrs.pads, inputs)
    for size, pair in zip(shape, attrs.pads, strict=True):
        most = size if attrs.repeats_edge else size - 1
        if not (min(pair) >= 0 and max(pair) <= most):
            raise ValueError(
                f"an axis of {size} elements is padded by {pair}; 0 to {most} are expected"
            )
    return _padded(shape, attrs.pads)


def _mirror_pad_reference(attrs: MirrorPadAttrs, operands: Operands) -> Arrays:
    # Source: TFLite mirror_pad.cc, Eval.
    data = operands.inputs[0]
    if not attrs.pads:
        return (data,)
    return (np.pad(data, attrs.pads, mode="symmetric" if attrs.repeats_edge else "reflect"),)


MIRROR_PAD = mover("nn.mirror_pad", MirrorPadAttrs, _mirror_pad_infer, _mirror_pad_reference)


OPS = (PAD, MIRROR_PAD)
