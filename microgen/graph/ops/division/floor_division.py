"""Shared by floor_divide, floor_mod and fmod: plain numbers, and a quotient that is rounded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, Attrs, DType, TensorType
from microgen.graph.ops.base import Bound, Op, Operands, StatusError
from microgen.graph.ops.constraints import INTEGERS
from microgen.graph.ops.elementwise import broadcast

_INVALID_ARG = 0x0803  # kTvmErrorFunctionCallInvalidArg

Function = Callable[[Array, Array], Array]  # of two arrays of one dtype


@dataclass(frozen=True, slots=True)
class FloorDivisionAttrs(Attrs):
    """Inputs: two tensors of broadcastable shapes, float32 or plain integers, for floor_divide
    int32."""


def op(
    name: str,
    function: Function,
    bound: Bound,
    failing: Sequence[DType],
    accepted: Sequence[DType] = (DType.FLOAT32, *INTEGERS),
) -> Op:
    """The definition of one of the operations, which fails if a divisor of one of the dtypes
    ``failing`` is zero."""

    def check(
        _attrs: FloorDivisionAttrs, inputs: Sequence[TensorType], outputs: Sequence[TensorType]
    ) -> str | None:
        """One dtype throughout."""
        return broadcast.one_plain(inputs, outputs, accepted)

    def reference(_attrs: FloorDivisionAttrs, operands: Operands) -> tuple[Array, ...]:
        """Source: TFLite floor_div.cc and floor_mod.cc. StatusError if a divisor is zero,
        except for floats of remainders, whose result is then NaN."""
        lhs, rhs = operands.inputs
        if operands.input_types[1].dtype in failing:
            _expect_no_zeros(rhs, operands.input_types[1])
        with np.errstate(all="ignore"):
            return (np.asarray(function(lhs, rhs)).astype(lhs.dtype),)

    def parts(_attrs: FloorDivisionAttrs, _n_inputs: int) -> tuple[str, ...]:
        """The words of the primitive function's name."""
        return (name,)

    return Op(name, FloorDivisionAttrs, broadcast.infer, check, reference, parts, bound=bound)


def _expect_no_zeros(divisor: Array, kind: TensorType) -> None:
    wrong = divisor == 0
    if wrong.any():
        raise StatusError(
            f"the divisor {kind} has zeros",
            _INVALID_ARG,
            position=1,
            among=divisor,
            wrong=wrong,
            allowed="other than 0",
        )
