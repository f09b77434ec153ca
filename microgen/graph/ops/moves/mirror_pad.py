"""nn.mirror_pad: the data's own elements, mirrored at its edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, Attrs, TensorType
from microgen.graph.ops import bounds
from microgen.graph.ops.base import Op, Operands, Pair, Shape, one_input
from microgen.graph.ops.constraints import unchanged
from microgen.graph.ops.cost import moved


@dataclass(frozen=True, slots=True)
class MirrorPadAttrs(Attrs):
    """Input: data of any dtype. ``pads`` are (before, after) per axis. With ``repeats_edge`` the
    mirror is after the last element (TFLite's SYMMETRIC), otherwise on it (REFLECT)."""

    pads: tuple[Pair, ...]
    repeats_edge: bool


def infer(attrs: MirrorPadAttrs, inputs: Sequence[TensorType]) -> tuple[Shape, ...]:
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


def reference(attrs: MirrorPadAttrs, operands: Operands) -> tuple[Array, ...]:
    """Source: TFLite mirror_pad.cc, Eval."""
    data = operands.inputs[0]
    if not attrs.pads:
        return (data,)
    return (np.pad(data, attrs.pads, mode="symmetric" if attrs.repeats_edge else "reflect"),)


def parts(_attrs: MirrorPadAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return ("nn_mirror_pad",)


OP = Op(
    "nn.mirror_pad",
    MirrorPadAttrs,
    infer,
    unchanged,
    reference,
    parts,
    cost=moved,
    bound=bounds.moves(reference),
)
