"""gather_nd: the elements or parts at computed indices of several axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, Attrs, DType, TensorType
from microgen.graph.ops import bounds
from microgen.graph.ops.base import Op, Operands, Shape, StatusError
from microgen.graph.ops.constraints import EVERY_DTYPE, unchanged_constraint

_OUTSIDE = 0x0803  # kTvmErrorFunctionCallInvalidArg


@dataclass(frozen=True, slots=True)
class GatherNdAttrs(Attrs):
    """Inputs: data of any dtype; int32 indices whose last axis has one number for each of the
    data's first axes, from 0 to the axis's size - 1."""


def infer(_attrs: GatherNdAttrs, inputs: Sequence[TensorType]) -> tuple[Shape, ...]:
    """The shape of the indices without their last axis, then the data's axes without indices."""
    if len(inputs) != 2:
        raise ValueError(f"gather_nd has {len(inputs)} inputs; data and indices are expected")
    data, indices = inputs
    depth = indices.shape[-1] if indices.shape else 0
    if not 1 <= depth <= len(data.shape):
        raise ValueError(
            f"the indices are {indices}, the data is {data}; the indices' last axis must have 1 to "
            f"{len(data.shape)} numbers"
        )
    return ((*indices.shape[:-1], *data.shape[depth:]),)


def check(
    _attrs: GatherNdAttrs, inputs: Sequence[TensorType], outputs: Sequence[TensorType]
) -> str | None:
    """Dtype and quantization unchanged; int32 indices."""
    if inputs[1].dtype is not DType.INT32:
        return f"the indices are {inputs[1]}; they must be int32"
    return unchanged_constraint(inputs[0], outputs[0], EVERY_DTYPE)


def reference(_attrs: GatherNdAttrs, operands: Operands) -> tuple[Array, ...]:
    """Source: TFLite reference/reference_ops.h, GatherNd. StatusError for an index outside its
    axis. TFLite accepts one past the end if the element is still inside the data."""
    data, indices = operands.inputs
    sizes = np.array(data.shape[: indices.shape[-1]])
    outside = (indices < 0) | (indices >= sizes)
    if outside.any():
        axis = int(np.argmax(outside)) % len(sizes)
        raise StatusError(
            f"gather_nd has indices outside of {operands.input_types[0]}",
            _OUTSIDE,
            position=1,
            among=indices,
            wrong=outside,
            allowed=f"from 0 to {sizes[axis] - 1}",
        )
    return (data[tuple(np.moveaxis(indices, -1, 0))],)


def parts(_attrs: GatherNdAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return ("gather_nd",)


OP = Op(
    "gather_nd", GatherNdAttrs, infer, check, reference, parts, bound=bounds.moves(reference, (0,))
)
