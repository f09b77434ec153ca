"""Changes the order of axes. Importers put such changes around nodes that compute along the last
axis, or along an axis that the model names."""

from __future__ import annotations

from microgen.frontends.operators import Operator
from microgen.graph.builder import BuiltTensor

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"  # names of axes, if the format gives none


def along(operator: Operator, vector: BuiltTensor, axis: int, rank: int) -> BuiltTensor:
    """One value per index of an axis, in a shape that broadcasts to a tensor of that rank."""
    # Axes are aligned from the last one on, so only axes after the vector's are added.
    return operator.reshaped(vector, (*vector.shape, *(1,) * (rank - 1 - axis)))


def axis_last(operator: Operator, tensor: BuiltTensor, axis: int) -> tuple[BuiltTensor, str, str]:
    """The tensor with one axis moved to the end, and the layouts before and after the move."""
    source = LETTERS[: len(tensor.shape)]
    target = source.replace(source[axis], "") + source[axis]
    return operator.laid_out(tensor, source, target), source, target
