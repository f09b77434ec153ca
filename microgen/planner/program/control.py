"""A primitive function that calls others: round after round, or one of two sequences of calls. Its
scratch is the memory of these calls."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from microgen.planner.program.kernel_call import Inner, KernelCall, Parameter


@dataclass(frozen=True, slots=True)
class InnerFunction:
    """A C function that the operator calls: the kernels of an inner layer, or a loop or branch
    inside. Equal functions are emitted once, so ``name`` is empty until lowering has compared them.
    ``words`` make the name."""

    words: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    body: tuple[KernelCall, ...]
    control: Control | None = None
    name: str = ""

    @property
    def kernels(self) -> tuple[KernelCall, ...]:
        """Its own kernels, and those of the functions that it calls."""
        return self.control.kernels if self.control else self.body

    @property
    def can_fail(self) -> bool:
        """Whether it may return anything but 0."""
        return self.control.can_fail if self.control else any(k.can_fail for k in self.body)


@dataclass(frozen=True, slots=True)
class InnerCall:
    """One call of a function inside an operator. ``args`` are in the order of its parameters: the
    names of the operator's parameters, or places in the operator's scratch. ``layer`` is the name
    of the layer that it computes, ``summary`` the types of its data and its kernel, for comments.
    """

    function: InnerFunction
    args: tuple[str | Inner, ...]
    layer: str
    summary: str


@dataclass(frozen=True, slots=True)
class First:
    """The first bytes of a value: the bytes of a parameter, or a number of bytes that are all
    ``fill``."""

    target: str
    nbytes: int
    source: str = ""
    fill: int = 0


@dataclass(frozen=True, slots=True)
class InnerLoop:
    """``rounds`` times the ``calls``, after the values have got their first bytes. With a ``test``,
    a bool that ``condition`` computes before each round, the loop ends when it is false, and with a
    status if it is still true after all rounds."""

    rounds: int
    firsts: tuple[First, ...]
    calls: tuple[InnerCall, ...]
    condition: tuple[InnerCall, ...] = ()
    test: str | Inner = ""

    @property
    def every(self) -> tuple[InnerCall, ...]:
        """All calls, in order."""
        return (*self.condition, *self.calls)

    @property
    def can_fail(self) -> bool:
        """Whether its function may return anything but 0."""
        return bool(self.test) or any(call.function.can_fail for call in self.every)

    @property
    def kernels(self) -> tuple[KernelCall, ...]:
        """The kernels of all calls, in order."""
        return tuple(kernel for call in self.every for kernel in call.function.kernels)


@dataclass(frozen=True, slots=True)
class InnerBranch:
    """The calls ``then`` if the bool in the parameter ``test`` is true, else ``otherwise``."""

    test: str
    then: tuple[InnerCall, ...]
    otherwise: tuple[InnerCall, ...]

    @property
    def every(self) -> tuple[InnerCall, ...]:
        """All calls, in order."""
        return (*self.then, *self.otherwise)

    @property
    def can_fail(self) -> bool:
        """Whether its function may return anything but 0."""
        return any(call.function.can_fail for call in self.every)

    @property
    def kernels(self) -> tuple[KernelCall, ...]:
        """The kernels of all calls, in order."""
        return tuple(kernel for call in self.every for kernel in call.function.kernels)


Control = InnerLoop | InnerBranch


def leaves(
    control: Control, callers: tuple[str, ...] = ()
) -> Iterator[tuple[InnerCall, tuple[str, ...]]]:
    """The calls of functions without calls of their own, in order, each with the names of the inner
    functions around it."""
    for call in control.every:
        if call.function.control:
            yield from leaves(call.function.control, (*callers, call.function.name))
        else:
            yield call, callers


def is_certain(control: Control) -> bool:
    """Whether the same calls are made for all data."""
    inner = (call.function.control for call in control.every)
    is_own = isinstance(control, InnerLoop) and not control.test
    return is_own and all(is_certain(each) for each in inner if each)


def functions(control: Control) -> Iterator[InnerFunction]:
    """All functions that it calls, also indirectly. Each comes before its callers."""
    for call in control.every:
        if call.function.control:
            yield from functions(call.function.control)
        yield call.function
