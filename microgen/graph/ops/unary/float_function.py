"""Shared by functions of one float32 value that exist for no other dtype."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from microgen.graph.ir.graph import Array, Attrs, DType, TensorType
from microgen.graph.ops import floats
from microgen.graph.ops.base import Bound, Op, Operands, Shape, one_input
from microgen.graph.ops.constraints import activations_constraint

Real = Callable[[Attrs, Array], Array]  # of attributes and float32 values


def define(name: str, attrs: type[Attrs], real: Real, bound: Bound) -> Op:
    """The op of that name, with one input and an output of the input's shape."""

    def infer(_attrs: Attrs, inputs: Sequence[TensorType]) -> tuple[Shape, ...]:
        return (one_input(name, inputs).shape,)

    def check(
        _attrs: Attrs, inputs: Sequence[TensorType], outputs: Sequence[TensorType]
    ) -> str | None:
        """float32 throughout."""
        return activations_constraint(inputs[0], outputs[0], (DType.FLOAT32,))

    def reference(attrs: Attrs, operands: Operands) -> tuple[Array, ...]:
        return (floats.rounded(real(attrs, operands.inputs[0])),)

    def parts(_attrs: Attrs, _n_inputs: int) -> tuple[str, ...]:
        return (name,)

    return Op(name, attrs, infer, check, reference, parts, bound=bound)
