"""cast: numbers of one dtype converted to another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, Attrs, DType, TensorType
from microgen.graph.ops.base import Op, Operands, Shape, one_input
from microgen.graph.ops.constraints import EVERY_DTYPE
from microgen.graph.ops.cost import moved

ACCEPTED = EVERY_DTYPE


@dataclass(frozen=True, slots=True)
class CastAttrs(Attrs):
    """Input: data of any rank. Stored values are converted; a quantization on either side is
    ignored."""


def infer(_attrs: CastAttrs, inputs: Sequence[TensorType]) -> tuple[Shape, ...]:
    """The input's shape."""
    one_input("cast", inputs)
    return (inputs[0].shape,)


def check(
    _attrs: CastAttrs, inputs: Sequence[TensorType], outputs: Sequence[TensorType]
) -> str | None:
    """bool, integers and float32, in all combinations."""
    for role, tensor in (("input", inputs[0]), ("output", outputs[0])):
        if tensor.dtype not in ACCEPTED:
            names = " or ".join(dtype.value for dtype in ACCEPTED)
            return f"the {role} is {tensor}; it must be {names}"
    return None


def reference(_attrs: CastAttrs, operands: Operands) -> tuple[Array, ...]:
    """Integers wrap, floats are truncated and saturated, NaN becomes the greatest integer.

    Source: TFLite cast.cc, copyCast, which leaves floats out of range undefined for some dtypes.
    Measurement shows that ai-edge-litert 2.3.0 saturates them.
    """
    data, output = operands.inputs[0], operands.output_types[0].dtype
    if data.dtype.kind == "f" and output.numpy.kind in "iu":
        return (_saturated(data, output),)
    return (data.astype(output.numpy),)


def _saturated(data: Array, output: DType) -> Array:
    limits = np.iinfo(output.numpy)
    beyond, least = np.float32(float(limits.max) + 1), np.float32(limits.min)  # exact
    inside = (data < beyond) & (data >= least)
    whole = np.where(inside, data, 0).astype(output.numpy)
    ends = np.where(data < least, limits.min, limits.max).astype(output.numpy)
    return np.where(inside, whole, ends)


def parts(_attrs: CastAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return ("cast",)


OP = Op("cast", CastAttrs, infer, check, reference, parts, cost=moved)
