"""The budget for computing constants while a model is compiled: bytes and steps for each model.

Frontends and passes charge each computation here before it begins, so that a small file cannot
demand much. Constants that a model computes are charged, but not those in its file. A large file
has large weights, which are moved and converted, so the budget grows with the file's size.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar

from microgen.base.errors import UnsupportedError
from microgen.graph.ir.graph import Arrays, Attrs
from microgen.graph.ops import registry
from microgen.graph.ops.base import Operands
from microgen.graph.ops.cost import ReferenceCost

MOST_BYTES = 2**27  # in use at one time: far more than the constants of most boards
MOST_STEPS = 2**29  # a few seconds
BYTES_OF_OWN = 4  # in use for each byte of the model's file
STEPS_OF_OWN = 16  # for each byte: 64 for a float32 weight

# A file that has the result is larger, so that its own bytes allow more.
_STORED = (
    "store the result in the file (for .onnx, `onnxsim MODEL OUT` does), or let it depend on an "
    "input"
)


class ComputeBudget:
    """The bytes and steps that one model has used, and the size of its files."""

    def __init__(self) -> None:
        self._own = 0
        self._bytes = 0
        self._steps = 0

    def owns(self, nbytes: int) -> None:
        """Tell the budget that the model's files have at least ``nbytes`` bytes."""
        self._own = max(self._own, nbytes)

    def spend(self, cost: ReferenceCost, kept: int, where: str) -> None:
        """Charge a computation, before it runs, whose result keeps ``kept`` bytes.

        Raises UnsupportedError, with ``where``, if the computation exceeds the remaining budget.
        """
        self._steps += cost.steps
        for needed, most, unit in (
            (self._bytes + cost.nbytes, MOST_BYTES + BYTES_OF_OWN * self._own, "bytes"),
            (self._steps, MOST_STEPS + STEPS_OF_OWN * self._own, "steps of arithmetic"),
        ):
            if needed > most:
                raise UnsupportedError(
                    f"computes with constants while compiling, which takes {needed:,} {unit} with "
                    f"the layers before it; at most {most:,} are supported for this file",
                    where=where,
                    hint=_STORED,
                )
        self._bytes += kept


_of_model: ContextVar[ComputeBudget | None] = ContextVar("budget", default=None)


@contextlib.contextmanager
def of_model() -> Iterator[None]:
    """Charge all computations inside the block to one model. An inner block is part of the outer
    one."""
    # Frontends and passes both open a block, and a model has one budget.
    if _of_model.get() is not None:
        yield
        return
    token = _of_model.set(ComputeBudget())
    try:
        yield
    finally:
        _of_model.reset(token)


def owns(nbytes: int) -> None:
    """Call ``ComputeBudget.owns`` for the model that is being compiled."""
    found = _of_model.get()
    if found is not None:
        found.owns(nbytes)


def spend(cost: ReferenceCost, where: str, *, kept: int = 0) -> None:
    """Call ``ComputeBudget.spend`` for the model that is being compiled."""
    (_of_model.get() or ComputeBudget()).spend(cost, kept, where)


def spend_array(nbytes: int, where: str) -> None:
    """Charge a constant of ``nbytes`` bytes that is a copy of another, or converted from it."""
    spend(ReferenceCost(2 * nbytes, 2 * nbytes), where, kept=nbytes)


def evaluated(op: str, attrs: Attrs, operands: Operands, where: str) -> Arrays:
    """The results of an op on constants. Raises the errors of ``spend``, and StatusError."""
    definition = registry()[op]
    cost = definition.cost(attrs, operands.input_types, operands.output_types)
    spend(cost, where, kept=sum(tensor.nbytes for tensor in operands.output_types))
    return definition.reference(attrs, operands)
