"""Operators that compute rows in steps: their parts, and the loop that calls them."""

from __future__ import annotations

from typing import Any

from microgen.base.names import cnames
from microgen.planner.program.rolling import Event, Part, Rolling, RowBuffer, RowCopy, Rows, When
from microgen.planner.program.types import Inner, Program
from microgen.project.emit import feeding, layout
from microgen.project.emit.kernel_calls import argument, declaration, kernel_call
from microgen.project.emit.unit import Unit

HEADER = "microgen/reductions/rows.h"

_INDENT = 12  # of what a step does


def headers(program: Program) -> list[str]:
    """The headers that the loops need."""
    return [HEADER] if any(function.rolling for function in program.functions) else []


def parts(program: Program) -> list[dict[str, Any]]:
    """The functions of the parts, each once, in the order of their first calls."""
    rolling = [function.rolling for function in program.functions if function.rolling]
    found = {part.name: part for one in rolling for part in one.parts}
    return [
        {
            "name": part.name,
            "parameters": [declaration(parameter) for parameter in part.parameters],
            "kernel": kernel_call(part.kernel),
        }
        for part in found.values()
    ]


def loop(rolling: Rolling, unit: Unit) -> dict[str, Any]:
    """The loop of an operator."""
    buffers = [event.buffer for event in rolling.events if event.buffer]
    feed = rolling.feed
    return {
        "steps": rolling.steps,
        "fills": [
            *(_filled(b, 0, b.nbytes) for b in buffers if b.fill is not None),
            *_cleared(rolling),
        ],
        "events": [_event(event, rolling) for event in rolling.events],
        "feed": feeding.loop(feed, unit) if feed else None,
    }


def _cleared(rolling: Rolling) -> list[str]:
    if rolling.cleared is None:
        return []
    offset, nbytes = rolling.cleared
    return [f"(void)memset(&scratch[{offset}], 0, {nbytes});"]


def _event(event: Event, rolling: Rolling) -> dict[str, Any]:
    when, buffer = event.when, event.buffer
    end = max(when.end, buffer.end) if buffer else when.end
    pads = buffer is not None and buffer.fill is not None and buffer.end > when.end
    return {
        "comment": layout.comment(_title(event), _INDENT - 4),
        "condition": _condition(when, end, rolling.steps),
        "before": _moved(buffer) if buffer else "",
        "limit": when.end if end > when.end else 0,
        "rows": _rows(event, "first" if rolling.feed else ""),
        "after": _surplus(buffer, when) if buffer else "",
        "padding": _filled(buffer, buffer.nbytes - buffer.new, buffer.new)
        if buffer and pads
        else "",
    }


def _title(event: Event) -> str:
    return f"{cnames.layer(event.tensor)}, {event.when.count} times"


def _condition(when: When, end: int, steps: int) -> str:
    """The steps in which something happens; empty if it happens in all."""
    found = [f"step >= {when.first}"] if when.first else []
    found += [f"step < {end}"] if end < steps else []
    since = f"(step - {when.first})" if when.first else "step"
    found += [f"{since} % {when.period} == 0"] if when.period > 1 else []
    return " && ".join(found)


def _rows(event: Event, fed_from: str) -> str:
    """What computes or copies the rows. ``fed_from`` is the step in which those that are copied
    begin, empty if the tensor is whole."""
    when = event.when
    match event.rows:
        case Part() as part:
            found = [_argument(one, when) for one in part.args]
            return layout.call(part.name, found, _INDENT + 4, end=";")
        case RowCopy(rows, nbytes):
            assert event.buffer is not None, "rows are copied into a buffer"
            to = event.buffer.offset + event.buffer.nbytes - event.buffer.new
            size = f"{nbytes}"
            if event.buffer.surplus:
                size = f"step < {when.end - 1} ? {nbytes} : {nbytes - event.buffer.surplus}"
            pointer = _pointer(rows, when, fed_from)
            found = [f"&scratch[{to}]", f"(const uint8_t *){pointer}", size]
            return layout.call("mg_copy_rows", found, _INDENT + 4, end=";")


def _argument(one: str | Inner | Rows, when: When) -> str:
    return _pointer(one, when) if isinstance(one, Rows) else argument(one)


def _pointer(rows: Rows, when: When, fed_from: str = "") -> str:
    """The address of the rows of a tensor in a step: of one that is whole, or of the rows that are
    there since a step."""
    begin = fed_from or (str(when.first) if when.first else "")
    since = f"(step - {begin})" if begin else "step"
    times = f"{since} / {when.period}" if when.period > 1 else since
    return f"&{rows.parameter}[{times} * {rows.stride}]"


def _moved(buffer: RowBuffer) -> str:
    if buffer.nbytes == buffer.new:
        return ""
    return f"mg_move_rows(&scratch[{buffer.offset}], {buffer.nbytes}, {buffer.new});"


def _surplus(buffer: RowBuffer, when: When) -> str:
    """Padding instead of the last rows of the last time."""
    if not buffer.surplus or buffer.fill is None:
        return ""
    filled = _filled(buffer, buffer.nbytes - buffer.surplus, buffer.surplus)
    return f"if (step == {when.end - 1}) {{\n{' ' * (_INDENT + 8)}{filled}\n{' ' * (_INDENT + 4)}}}"


def _filled(buffer: RowBuffer, start: int, nbytes: int) -> str:
    return f"(void)memset(&scratch[{buffer.offset + start}], {buffer.fill}, {nbytes});"
