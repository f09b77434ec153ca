"""The records of calls: their arguments, and the layers that each computes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from microgen.base.manifest.schedule import RowsRecord

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RoundsRecord:
    """How an operator with loops computes a layer: the C function that it calls, which writes the
    result to its ``argument`` in each round of the loops around it. ``loops`` has the number and
    the rounds of each of these, the outermost first. ``callers`` are the inner functions around the
    function."""

    function: str
    argument: int
    callers: tuple[str, ...]
    loops: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class ArgumentRecord:
    """An argument of a call: the address ``offset`` bytes into the object with the C name or symbol
    ``name``. ``storage`` is the object's kind: "input", "output", "sid", "scratch", "constant" or
    "device".

    ``in_struct``: a structure has all such arguments in order, and its address is passed instead of
    the first of them."""

    storage: str
    name: str
    offset: int = 0
    in_struct: bool = False


@dataclass(frozen=True, slots=True)
class StepRecord:
    """A layer that a call computes. ``tensor``, ``shape`` and ``dtype`` describe its result.

    When the function returns, the result is ``offset`` bytes after the call's ``args[argument]``,
    the scratch or an output. If the offset is negative, that is the result's last part. If the
    result is not in memory, ``argument`` is None and ``unseen`` says why.
    """

    op: str
    layer: str
    tensor: str
    shape: tuple[int, ...]
    dtype: str
    kernel: str
    reason: str
    refusals: tuple[str, ...]
    argument: int | None
    offset: int = 0
    unseen: str = ""
    in_rows: RowsRecord | None = None
    in_round: RoundsRecord | None = None

    @property
    def loops(self) -> tuple[tuple[int, int], ...]:
        """The loops around the layer inside of its operator."""
        return self.in_round.loops if self.in_round else ()


@dataclass(frozen=True, slots=True)
class RowCall:
    """A call that computes some rows and columns of a layer: ``height`` rows from ``row`` on, and
    ``width`` columns of them from ``column`` on. A layer with one result, to which rows are added,
    has one row and one column."""

    step: StepRecord
    rows: RowsRecord
    row: int
    height: int
    column: int
    width: int


@dataclass(frozen=True, slots=True)
class InnerLayers:
    """Layers that an operator computes by calls of ``function``. If their ``steps`` are of several
    layers, the data decide which call computes which of them."""

    function: str
    steps: tuple[StepRecord, ...]


@dataclass(frozen=True, slots=True)
class RunRecord:
    """The bytes that a call writes in its last argument, an output of which other calls write the
    other bytes: ``nbytes`` of each of ``rows`` rows, which are ``pitch`` bytes apart, the first of
    them ``offset`` bytes after the argument."""

    rows: int
    nbytes: int
    pitch: int
    offset: int = 0


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One operator call, in execution order; ``index`` counts from 0.

    ``function`` is the ELF symbol. ``steps`` are the layers that it computes, in order. ``args``
    are in C order, including scratch. ``packed`` is the ELF symbol of the packed function that
    calls ``function``; it is empty if the runner calls it directly. ``target`` computes the call,
    or the host if ``target`` is empty. ``device`` is the C name of the device whose hooks surround
    the call, if any. ``can_fail``: ``function`` returns a status. ``run``: the part of its output
    that it writes, None if that is all of it; the last such call has the layer's result.
    """

    index: int
    function: str
    steps: tuple[StepRecord, ...]
    args: tuple[ArgumentRecord, ...]
    packed: str = ""
    target: str = ""
    device: str = ""
    can_fail: bool = False
    run: RunRecord | None = None

    @property
    def layers(self) -> tuple[str, ...]:
        """The names of its layers, each once."""
        return tuple(dict.fromkeys(step.layer for step in self.steps))

    @property
    def seen(self) -> tuple[tuple[StepRecord, int], ...]:
        """The layers whose results are in memory when the function returns, each with the position
        of its argument."""
        return tuple((s, s.argument) for s in self.steps if s.argument is not None)

    @property
    def read(self) -> tuple[StepRecord, ...]:
        """The layers whose results are in memory when the function returns, or row by row, or in
        each round of a loop."""
        return tuple(
            s for s in self.steps if s.argument is not None or s.in_rows or s in self.in_rounds
        )

    @property
    def in_rounds(self) -> tuple[StepRecord, ...]:
        """The layers that are read in each round of a loop."""
        return tuple(s for s in self.steps if s.in_round and not s.unseen)

    @property
    def round_calls(self) -> Iterator[tuple[StepRecord, RoundsRecord, tuple[int, ...]]]:
        """The inner calls of an operator with a loop, in order: a layer, how it is computed, and
        the numbers of the rounds of the loops around it, from 0."""
        steps = {id(step): step for step in self.in_rounds}
        found = [(id(step), step.in_round) for step in self.in_rounds if step.in_round]
        return ((steps[key], inner, done) for key, inner, done in _unrolled(found))

    @property
    def inner_layers(self) -> tuple[InnerLayers, ...]:
        """The layers that an operator with loops or branches computes by calls of functions, in
        order. Each has an entry of its own, unless the data decide in which order layers call one
        function."""
        calls = list(_inner_calls(self.steps))
        found: dict[object, InnerLayers] = {}
        for number, one in enumerate(calls):
            alike = [each for each in calls if each.function == one.function]
            is_alone = len({each.steps[0].loops for each in alike}) == 1 and all(
                not each.steps[0].unseen for each in alike
            )
            key: object = number if is_alone or len(alike) == 1 else one.function
            before = found[key].steps if key in found else ()
            found[key] = InnerLayers(one.function, (*before, *one.steps))
        return tuple(found.values())

    @property
    def inner_callers(self) -> tuple[str, ...]:
        """The functions between such an operator and these, each once."""
        rounds = (step.in_round for step in self.steps)
        return tuple(dict.fromkeys(name for each in rounds if each for name in each.callers))

    @property
    def row_calls(self) -> Iterator[RowCall]:
        """The calls that compute rows, in order."""
        rolled = [(step, step.in_rows) for step in self.steps if step.in_rows]
        end = max((rows.first + rows.count * rows.period for _, rows in rolled), default=0)
        units = [list(own) for _, own in itertools.groupby(rolled, _unit)]
        for number in range(end):
            for own in units:
                rows = own[0][1]
                times, late = divmod(number - rows.first, rows.period)
                if not late and 0 <= times < rows.count:
                    yield from _calls_at(own, times)


def _inner_calls(steps: Sequence[StepRecord]) -> Iterator[InnerLayers]:
    """The calls of functions of layers, in order. A function with several results has a step for
    each."""
    own: list[StepRecord] = []
    for step in steps:
        if step.in_round is None:
            continue
        rounds = [each.in_round for each in own if each.in_round]
        is_next = any(
            each.function != step.in_round.function or each.argument == step.in_round.argument
            for each in rounds
        )
        if rounds and is_next:
            yield InnerLayers(rounds[0].function, tuple(own))
            own = []
        own.append(step)
    if own and own[0].in_round:
        yield InnerLayers(own[0].in_round.function, tuple(own))


def _unrolled(
    steps: Sequence[tuple[T, RoundsRecord]], done: tuple[int, ...] = ()
) -> Iterator[tuple[T, RoundsRecord, tuple[int, ...]]]:
    """The calls of steps in their order, with the numbers, from 0, of the rounds in which they are
    made. All are in round ``done`` of the same loops."""
    depth = len(done)
    for loops, group in itertools.groupby(steps, key=lambda one: one[1].loops[depth : depth + 1]):
        own = list(group)
        if not loops:
            yield from ((step, inner, done) for step, inner in own)
            continue
        ((_, rounds),) = loops
        for number in range(rounds):
            yield from _unrolled(own, (*done, number))


def _unit(rolled: tuple[StepRecord, RowsRecord]) -> tuple[str, int]:
    """The same for the layers of a patch, and different for others."""
    step, rows = rolled
    return ("", rows.patch.number) if rows.patch else (step.tensor, 0)


def _calls_at(own: Sequence[tuple[StepRecord, RowsRecord]], times: int) -> Iterator[RowCall]:
    """The calls of a layer, or of the layers of a patch, at one of its times."""
    step, rows = own[0]
    if not rows.patch:
        if rows.is_last:
            yield RowCall(step, rows, 0, 1, 0, 1)
            return
        row = times * rows.rows
        # The last rows may be fewer than the part computes at a time.
        yield RowCall(step, rows, row, min(rows.rows, step.shape[1] - row), 0, step.shape[2])
        return
    patches = [(step, rows, rows.patch) for step, rows in own if rows.patch]
    for number in range(max(p.first + p.count * p.period for _, _, p in patches)):
        for step, rows, patch in patches:
            at, late = divmod(number - patch.first, patch.period)
            if rows.is_last and not late and 0 <= at < patch.count:
                yield RowCall(step, rows, 0, 1, 0, 1)
            elif not late and 0 <= at < patch.count:
                first = times * patch.stride - patch.above
                inside = range(max(first, 0), min(first + patch.rows, step.shape[1]))
                for row in inside:
                    yield RowCall(step, rows, row, 1, at * patch.columns, patch.columns)
