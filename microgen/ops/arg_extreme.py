"""What argmax and argmin have in common: the position of an extreme along one axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from microgen.ir.graph import Attrs, DType, TensorType
from microgen.ops.base import Shape
from microgen.ops.constraints import activation_constraint


@dataclass(frozen=True, slots=True)
class ArgExtremeAttrs(Attrs):
    """``axis`` is counted from the front."""

    axis: int


def infer(attrs: ArgExtremeAttrs, inputs: Sequence[TensorType]) -> tuple[Shape, ...]:
    """The input's shape without the axis."""
    if len(inputs) != 1:
        raise ValueError(f"argmax or argmin has {len(inputs)} inputs; one is expected")
    shape = inputs[0].shape
    if not 0 <= attrs.axis < len(shape):
        raise ValueError(f"the axis {attrs.axis} is not one of {inputs[0]}")
    return ((*shape[: attrs.axis], *shape[attrs.axis + 1 :]),)


def check(
    _attrs: ArgExtremeAttrs, inputs: Sequence[TensorType], outputs: Sequence[TensorType]
) -> str | None:
    """int8 data, and positions that are plain int32 numbers."""
    if outputs[0].dtype is not DType.INT32 or outputs[0].quant is not None:
        return f"the output is {outputs[0]}; it must be int32 without quantization"
    return activation_constraint("input", inputs[0])
