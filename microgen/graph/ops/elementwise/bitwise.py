"""bitwise: logic and shifts of the bits of integers, with numpy's broadcasting."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, Arrays, Attrs, Types
from microgen.graph.ops.base import OpDefinition, Operands
from microgen.graph.ops.constraints import INTEGERS
from microgen.graph.ops.elementwise import broadcast


class BitFunction(enum.Enum):
    """The function of each pair of integers."""

    AND = "bitwise_and"
    OR = "bitwise_or"
    XOR = "bitwise_xor"
    LEFT = "shift_left"
    RIGHT = "shift_right"


_LOGIC: dict[BitFunction, Callable[[Array, Array], Array]] = {
    BitFunction.AND: np.bitwise_and,
    BitFunction.OR: np.bitwise_or,
    BitFunction.XOR: np.bitwise_xor,
}


@dataclass(frozen=True, slots=True)
class BitwiseAttrs(Attrs):
    """Inputs: two tensors of plain integers of one dtype and of broadcastable shapes. Shifts are by
    the right operand's number of bits. Shifts by a negative number, or by the number of bits or
    more, give 0. Right shifts of negative values then give -1, because copies of the sign are
    shifted in.
    """

    function: BitFunction


def check(_attrs: BitwiseAttrs, inputs: Types, outputs: Types) -> str | None:
    """Plain integers of one dtype."""
    return broadcast.one_plain(inputs, outputs, INTEGERS)


def reference(attrs: BitwiseAttrs, operands: Operands) -> Arrays:
    """Source: the operators BitwiseAnd, BitwiseOr, BitwiseXor and BitShift of ONNX."""
    lhs, rhs = operands.inputs
    if attrs.function in _LOGIC:
        return (np.asarray(_LOGIC[attrs.function](lhs, rhs)),)
    bits = 8 * lhs.dtype.itemsize
    is_inside = (rhs >= 0) & (rhs < bits)
    # numpy leaves shifts by all bits and more undefined, as C does.
    count = np.where(is_inside, rhs, 0).astype(lhs.dtype)
    shifted = lhs << count if attrs.function is BitFunction.LEFT else lhs >> count
    is_negative = (lhs < 0) & (attrs.function is BitFunction.RIGHT)
    return (np.where(is_inside, shifted, -is_negative.astype(lhs.dtype)),)


def words(_word: str, attrs: BitwiseAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return (attrs.function.value,)


OP = OpDefinition("bitwise", BitwiseAttrs, broadcast.infer, check, reference, words)
