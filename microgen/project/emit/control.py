"""Operators with loops and branches: the functions that they call, and their statements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from microgen.base.names import cnames
from microgen.planner.program.control import (
    Control,
    First,
    InnerBranch,
    InnerCall,
    InnerFunction,
    InnerLoop,
)
from microgen.planner.program.control import functions as inner_functions
from microgen.planner.program.kernel_call import Inner
from microgen.planner.program.types import Program
from microgen.project.emit import layout
from microgen.project.emit.kernel_calls import argument, declaration, kernel_call
from microgen.project.emit.unit import Unit

HEADER = "microgen/inline.h"
_INDENT = 4
_TOO_MANY = "0x0803 /* kTvmErrorFunctionCallInvalidArg: more rounds than planned */"


def headers(program: Program) -> list[str]:
    """The headers that the functions need."""
    return [HEADER] if any(function.control for function in program.functions) else []


def functions(unit: Unit) -> list[dict[str, Any]]:
    """The functions that operators with loops and branches call and that are no operators
    themselves, each once, before their callers."""
    every = unit.program.functions
    controls = [function.control for function in every if function.control]
    found = {one.name: one for control in controls for one in inner_functions(control)}
    operators = {function.name for function in every}
    return [_function(one, unit) for name, one in found.items() if name not in operators]


def _function(function: InnerFunction, unit: Unit) -> dict[str, Any]:
    body = [
        kernel_call(kernel, i, is_only=len(function.body) == 1)
        for i, kernel in enumerate(function.body)
    ]
    return {
        "name": function.name,
        "parameters": [declaration(parameter) for parameter in function.parameters],
        "can_fail": function.can_fail,
        "unused": [],
        "body": body,
        "is_one_kernel": len(body) == 1,
        "rolling": None,
        "control": lines(function.control, {}, unit) if function.control else (),
        "is_inner": True,
    }


def lines(control: Control, members: Mapping[str, str], unit: Unit) -> list[str]:
    """The statements of a function that has the constants ``members`` in a structure."""
    made = _Statements(members, control.can_fail, unit)
    return list(made.loop(control) if isinstance(control, InnerLoop) else made.branch(control))


class _Statements:
    """Makes the lines of a function."""

    def __init__(self, members: Mapping[str, str], can_fail: bool, unit: Unit) -> None:
        self.unit = unit
        self.members = members
        self.can_fail = can_fail

    def loop(self, loop: InnerLoop) -> Iterator[str]:
        """The first values, and the rounds."""
        if self.can_fail:
            yield "int32_t status = 0;"
        yield from self._declared(loop)
        if self.can_fail or loop.test:
            yield ""
        for first in loop.firsts:
            yield from self._first(first)
        goes = f"round < {loop.rounds}"
        if loop.test:
            goes = "goes && (status == 0)"
        elif self.can_fail:
            goes = f"({goes}) && (status == 0)"
        if loop.test:
            yield from self._calls(loop.condition, 0)
            yield f"goes = (status == 0) && (*{self._test(loop.test)} != 0U);"
        yield f"for (int32_t round = 0; {goes}; ++round) {{"
        if loop.test:
            yield f"    if (round == {loop.rounds}) {{"
            yield f"        status = {_TOO_MANY};"
            yield "    }"
        yield from self._calls(loop.calls, 1, is_guarded=bool(loop.test))
        if loop.test:
            yield from self._calls(loop.condition, 1, is_guarded=True)
            yield f"    goes = *{self._test(loop.test)} != 0U;"
        yield "}"
        yield self._end()

    def _declared(self, loop: InnerLoop) -> Iterator[str]:
        if loop.test:
            yield "_Bool goes;"

    def branch(self, branch: InnerBranch) -> Iterator[str]:
        """One of the two sequences of calls."""
        if self.can_fail:
            yield "int32_t status = 0;"
            yield ""
        yield f"if (*{self._test(branch.test)} != 0U) {{"
        yield from self._calls(branch.then, 1)
        yield "} else {"
        yield from self._calls(branch.otherwise, 1)
        yield "}"
        yield self._end()

    def _end(self) -> str:
        return "return status;" if self.can_fail else "return 0;"

    def _test(self, test: str | Inner) -> str:
        return argument(test, self.members) if isinstance(test, str) else f"({argument(test)})"

    def _first(self, first: First) -> Iterator[str]:
        if not first.source:
            yield f"(void)memset({first.target}, {first.fill}, {first.nbytes}U);"
            return
        source = argument(first.source, self.members)
        copy = f"(void)memcpy({first.target}, {source}, {first.nbytes}U);"
        if source in self.members.values():
            yield copy  # a constant is in no place of a value
            return
        # The planner may have put both into one place.
        yield f"if ({first.target} != {source}) {{"
        yield f"    {copy}"
        yield "}"

    def _calls(
        self, calls: Sequence[InnerCall], depth: int, *, is_guarded: bool = False
    ) -> Iterator[str]:
        """Calls, each only if none before it has failed."""
        for call in calls:
            own = depth + is_guarded
            margin = " " * (_INDENT * own)
            if is_guarded:
                yield f"{' ' * (_INDENT * depth)}if (status == 0) {{"
            text = f"{cnames.layer(call.layer)}: {call.summary}"
            # Continued lines are indented by the template's own margin, too.
            yield from f"{margin}{layout.comment(text, len(margin) + _INDENT)}".replace(
                f"\n{' ' * _INDENT}", "\n"
            ).split("\n")
            result = "status = " if call.function.can_fail else "(void)"
            args = [argument(one, self.members) for one in call.args]
            name = self.unit.called(call.function.name)
            made = layout.call(f"{result}{name}", args, len(margin) + 4, end=";")
            yield from f"{margin}{made}".replace(f"\n{' ' * _INDENT}", "\n").split("\n")
            if is_guarded:
                yield f"{' ' * (_INDENT * depth)}}}"
            is_guarded |= call.function.can_fail
