"""Shared by floor_divide and floor_mod: plain numbers, whose quotients are rounded down."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from microgen.ir.graph import Array, Attrs, DType, TensorType
from microgen.ops import broadcast
from microgen.ops.base import Bound, Op, Operands, StatusError

_INVALID_ARG = 0x0803  # kTvmErrorFunctionCallInvalidArg
_DTYPES = (DType.INT32, DType.FLOAT32)

Function = Callable[[Array, Array], Array]  # of two int64 or two float32 arrays


@dataclass(frozen=True, slots=True)
class FloorDivisionAttrs(Attrs):
    """Inputs: two tensors of broadcastable shapes, int32 or float32."""


def check(
    _attrs: FloorDivisionAttrs, inputs: Sequence[TensorType], outputs: Sequence[TensorType]
) -> str | None:
    """int32 or float32 throughout."""
    return broadcast.constraint(inputs, outputs, None, _DTYPES)


def op(name: str, function: Function, bound: Bound, failing: Sequence[DType]) -> Op:
    """The definition of one of the two operations, which fails if a divisor of one of the dtypes
    ``failing`` is zero."""

    def reference(_attrs: FloorDivisionAttrs, operands: Operands) -> tuple[Array, ...]:
        """Source: TFLite floor_div.cc and floor_mod.cc. StatusError if a divisor is zero,
        except for floats of floor_mod, whose result is then NaN."""
        lhs, rhs = operands.inputs
        if operands.input_types[1].dtype in failing:
            _expect_no_zeros(rhs, operands.input_types[1])
        if lhs.dtype.kind == "f":
            with np.errstate(all="ignore"):
                return (function(lhs, rhs).astype(np.float32),)
        exact = function(lhs.astype(np.int64), rhs.astype(np.int64))
        return (np.minimum(exact, np.iinfo(np.int32).max).astype(np.int32),)

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
