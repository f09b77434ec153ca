"""The stack of options, before anything is lowered, so that it counts as RAM."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import TypeAlias

from microgen.compiler.schedule.options import Option
from microgen.compiler.schedule.row_options import LineBuffered
from microgen.kernels import stack
from microgen.kernels.stack import MeasuredColumn

# The bytes of stack that an option's operator needs, and the bytes of the call's arguments.
StackOf: TypeAlias = Callable[[Option], tuple[int, int]]


def unknown(_option: Option) -> tuple[int, int]:
    """No stack, if the reserve does not depend on the schedule."""
    return 0, 0


def known(column: MeasuredColumn) -> StackOf:
    """The stack of options on the column's core, compiled by its toolchain."""
    # Searches ask for the stack of one option many times. Options are compared by identity.
    return cache(partial(_stack, column=column))


def most(stacks: Iterable[tuple[int, int]]) -> int:
    """The most bytes of stack of a runner's calls with such stacks."""
    found = list(stacks)
    nbytes = max((nbytes for nbytes, _ in found), default=0)
    passed = max((passed for _, passed in found), default=0)
    # The runner has memory for the most arguments, whichever call is the deepest.
    return nbytes + passed


def _stack(option: Option, column: MeasuredColumn) -> tuple[int, int]:
    if isinstance(option, LineBuffered):
        parts = [_stack(part, column) for part in option.parts]
        entry = column.rolled + max(passed for _, passed in parts)
        count = sum(_pointers(part) - 2 for part in option.parts) + 3
        return entry + max(nbytes for nbytes, _ in parts), stack.arguments(count)
    kernel, count = option.kernel, _pointers(option)
    (_, fields), *_others = option.calls
    one = stack.has_one_batch(fields)
    nbytes = column.kernel(kernel.code.stem, is_shared=option.is_shared, one_batch=one)
    nbytes += stack.arguments(count + 2) * option.is_shared
    return nbytes, stack.arguments(count)


def _pointers(option: Option) -> int:
    """The arguments of a call: inputs, constants, the output, scratch."""
    return (
        len(option.kernel.passed(option.joined)) + len(option.constants) + 1 + bool(option.scratch)
    )
