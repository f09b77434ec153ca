"""Operators that compute rows in steps: their parts, and the loop that calls them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from microgen.base.names import cnames
from microgen.planner.program.rolling import (
    BufferedRows,
    Event,
    KernelPart,
    LineBuffer,
    Rolling,
    RowCopy,
    Rows,
    ScratchPlace,
    When,
)
from microgen.planner.program.types import Inner, Parameter, PrimFunc, Program, Role
from microgen.project.emit import feeding, layout, patch_loop
from microgen.project.emit.kernel_calls import STRUCT, argument, declaration, kernel_call, members
from microgen.project.emit.unit import Unit

HEADER = "microgen/reductions/rows.h"

_INDENT = 12  # of a step's statements
_LONGEST_NAME = 40  # of a layer in the name of a buffer
_LOOP = ("step", "first", "end", STRUCT)  # further names in such a function


def headers(program: Program) -> list[str]:
    """The headers that the loops need."""
    return [HEADER] if any(function.rolling for function in program.functions) else []


def parts(program: Program) -> list[dict[str, Any]]:
    """The functions of the parts, each once, in the order of their first calls; then those of
    patches, which call these."""
    rolling = [function.rolling for function in program.functions if function.rolling]
    leaves = [part for one in rolling for part in one.parts]
    patches = [part for one in rolling for part in one.patches]
    unique = {part.name: part for part in (*leaves, *patches)}
    return [
        {
            "name": part.name,
            "parameters": [
                *map(declaration, part.parameters),
                *(["int32_t row"] if part.patch else []),
            ],
            "kernel": kernel_call(part.kernel) if part.kernel else None,
            "lines": patch_loop.lines(part.patch) if part.patch else (),
        }
        for part in unique.values()
    ]


def loop(function: PrimFunc, rolling: Rolling, unit: Unit) -> dict[str, Any]:
    """The loop of an operator."""
    names = _Names(function, rolling)
    buffers = [(event.buffer, names.lines(event.tensor)) for event in rolling.events]
    feed = rolling.feed
    return {
        "steps": rolling.steps,
        "map": [*_steps(rolling), *_places(rolling, names)],
        "places": [_place(place, rolling, names) for place in rolling.places],
        "fills": [
            *(_padded(name, b.nbytes) for b, name in buffers if b and b.fill is not None),
            *_cleared(rolling, names),
        ],
        "events": [_event(event, rolling, names) for event in rolling.events],
        "feed": feeding.loop(feed, unit) if feed else None,
    }


class _Names:
    """The names of the buffers in the scratch: ``<layer>_lines``, ``<layer>_scratch``. ``<layer>``
    is the shortest end of the layer's name that no other layer of the function shares."""

    def __init__(self, function: PrimFunc, rolling: Rolling) -> None:
        self.members = members(function)
        taken = {*_LOOP, *(parameter.name for parameter in function.parameters)}
        paths = {event.tensor: _path(event.tensor) for event in rolling.events}
        self._lines: dict[str, str] = {}
        self._own: dict[str, str] = {}
        for tensor, path in paths.items():
            layer = _layer(_short_path(path, paths.values()))
            for symbols, word in ((self._lines, "lines"), (self._own, "scratch")):
                # All names of one C function must differ.
                symbols[tensor] = cnames.unique(f"{layer}_{word}", taken)
                taken.add(symbols[tensor])

    def lines(self, tensor: str) -> str:
        """The line buffer of a tensor."""
        return self._lines[tensor]

    def own(self, tensor: str) -> str:
        """The scratch of the part that computes a tensor."""
        return self._own[tensor]


def _path(tensor: str) -> tuple[str, ...]:
    return tuple(word for word in re.split("[/.:#]", cnames.short(tensor, 200)) if word)


def _short_path(path: tuple[str, ...], every: Collection[tuple[str, ...]]) -> tuple[str, ...]:
    """The shortest end of a path that no other path ends in."""
    for length in range(1, len(path)):
        if Counter(other[-length:] for other in every)[path[-length:]] == 1:
            return path[-length:]
    return path


def _layer(path: Sequence[str]) -> str:
    """A layer as the beginning of a C name."""
    name = cnames.short("_".join(path), _LONGEST_NAME)
    plain = cnames.identifier(re.sub("[^A-Za-z0-9]+", "_", name).strip("_"))
    # Names with these prefixes are the runtime's and the model's.
    return f"t_{plain}" if plain.startswith(("mg_", "tvmgen_")) else plain


def _steps(rolling: Rolling) -> Iterator[str]:
    """The lines of the comment about the events of each step."""
    yield f"{rolling.steps} steps, in each of which, in this order:"
    yield "part  steps      every      rows  padding    result"
    # Copied rows have no part, so they have no number.
    numbers = _numbers(rolling)
    for event in rolling.events:
        when, buffer = event.when, event.buffer
        steps = f"{when.first}..{when.end - 1}"
        pads = buffer is not None and buffer.fill is not None and buffer.end > when.end
        padding = f"{when.end}..{buffer.end - 1}" if buffer and pads else "-"
        rows = "sums" if event.height == 0 else str(event.height)
        copied = "" if isinstance(event.rows, KernelPart) else " (copied)"
        layer = f"{cnames.inert(cnames.layer(event.tensor))}{copied}"
        number = numbers.get(event.tensor, "-")
        yield f"{number:>4}  {steps:9}  {when.period:5}  {rows:>8}  {padding:9}  {layer}"
    yield ""


def _numbers(rolling: Rolling) -> dict[str, int]:
    """The number of the part that computes a tensor. A patch is one part."""
    computed = [event.tensor for event in rolling.events if isinstance(event.rows, KernelPart)]
    return {tensor: number for number, tensor in enumerate(computed)}


def _places(rolling: Rolling, names: _Names) -> Iterator[str]:
    """The lines of the comment that is the memory map of the scratch."""
    if not rolling.places:
        return
    rows = {event.tensor: event.buffer.rows for event in rolling.events if event.buffer}
    yield f"scratch, {max(place.offset + place.nbytes for place in rolling.places)} bytes:"
    yield "   offset     bytes      rows  parts      buffer"
    for place in rolling.places:
        name = names.own(place.tensor) if place.is_own else names.lines(place.tensor)
        live = "always" if place.is_kept else f"{place.first}..{place.last}"
        height = "" if place.is_own else str(rows[place.tensor])
        yield f"{place.offset:9d} {place.nbytes:9d} {height:>9}  {live:9}  {name}"


def _place(place: ScratchPlace, rolling: Rolling, names: _Names) -> str:
    where = f"&scratch[{place.offset}]"
    if place.is_own:
        return f"uint8_t *const {names.own(place.tensor)} = {where};"
    buffer = next(e.buffer for e in rolling.events if e.tensor == place.tensor)
    assert buffer is not None, "the place of a line buffer has one"
    fields = [f".rows = {where}", f".nbytes = {buffer.nbytes}", f".fresh = {buffer.new}"]
    fields += [f".padding = {buffer.fill}"] if buffer.fill is not None else []
    return layout.initialised(f"const mg_line_buffer {names.lines(place.tensor)}", fields, 4)


def _cleared(rolling: Rolling, names: _Names) -> list[str]:
    if rolling.cleared is None:
        return []
    _, nbytes = rolling.cleared
    # Sums are added to the output's scratch, which must begin at 0.
    return [f"(void)memset({names.own(rolling.events[-1].tensor)}, 0, {nbytes});"]


def _event(event: Event, rolling: Rolling, names: _Names) -> dict[str, Any]:
    when, buffer, lines = event.when, event.buffer, names.lines(event.tensor)
    # After its last time, an event only pads its line buffer until nobody reads that.
    end = max(when.end, buffer.end) if buffer else when.end
    pads = buffer is not None and buffer.fill is not None and buffer.end > when.end
    return {
        "comment": layout.comment(_title(event, rolling), _INDENT - 4),
        "condition": _condition(when, end, rolling.steps),
        "before": _moved(buffer, lines) if buffer else "",
        "limit": when.end if end > when.end else 0,
        "rows": _rows(event, names, "first" if rolling.feed else "", is_nested=end > when.end),
        "after": _surplus(buffer, lines, when) if buffer else "",
        "padding": _padded(lines, buffer.new) if buffer and pads else "",
    }


def _title(event: Event, rolling: Rolling) -> str:
    number = _numbers(rolling).get(event.tensor)
    part = "" if number is None else f"part {number}: "
    return f"{part}{cnames.layer(event.tensor)}, {event.when.count} times"


def _condition(when: When, end: int, steps: int) -> str:
    """The C condition for the steps of an event; empty if the event happens in every step."""
    terms = [f"step >= {when.first}"] if when.first else []
    terms += [f"step < {end}"] if end < steps else []
    since = f"(step - {when.first})" if when.first else "step"
    terms += [f"({since} % {when.period}) == 0"] if when.period > 1 else []
    return layout.joined(" && ", terms) if terms else ""


def _rows(event: Event, names: _Names, fed_from: str, *, is_nested: bool) -> str:
    """The C that computes or copies the rows. ``fed_from`` is the step in which the copied rows
    begin, empty if the tensor is whole. ``is_nested``: the code is inside another condition."""
    when, indent = event.when, _INDENT + 4 * is_nested
    match event.rows:
        case KernelPart() as part:
            pairs = zip(part.args, part.parameters, strict=True)
            arguments = [_argument(one, parameter, event, names) for one, parameter in pairs]
            arguments += [_times(str(when.first or ""), when.period)] if part.patch else []
            return layout.call(part.name, arguments, indent, end=";")
        case RowCopy(rows, nbytes):
            assert event.buffer is not None, "rows are copied into a buffer"
            size = f"{nbytes}"
            if event.buffer.surplus:
                size = f"(step < {when.end - 1}) ? {nbytes} : {nbytes - event.buffer.surplus}"
            pointer = _pointer(rows, when, fed_from)
            to = f"mg_fresh_lines(&{names.lines(event.tensor)})"
            arguments = [to, f"(const uint8_t *){pointer}", size]
            return layout.call("mg_copy_rows", arguments, indent, end=";")


def _argument(
    one: str | Inner | BufferedRows | Rows, parameter: Parameter, event: Event, names: _Names
) -> str:
    match one:
        case Rows():
            return _pointer(one, event.when)
        case BufferedRows(tensor, start, ctype):
            lines = names.lines(tensor)
            if parameter.role is Role.OUTPUT:
                return f"({ctype} *)mg_fresh_lines(&{lines})"
            place = f"&{lines}.rows[{start}]" if start else f"{lines}.rows"
            return f"(const {ctype} *){place}"
        case Inner(_, ctype):
            own = names.own(event.tensor)
            return own if ctype == "uint8_t" else f"({ctype} *){own}"
        case name:
            return argument(name, names.members)


def _pointer(rows: Rows, when: When, fed_from: str = "") -> str:
    """The C address of a tensor's rows in a step. ``rows`` begin in step ``fed_from``, or, if that
    is empty, in the first step of ``when``."""
    begin = fed_from or (str(when.first) if when.first else "")
    return f"&{rows.parameter}[{_times(begin, when.period)} * {rows.stride}]"


def _times(begin: str, period: int) -> str:
    """The C number of times before a step, from step ``begin`` on, which is empty for step 0."""
    since = f"(step - {begin})" if begin else "step"
    return f"({since} / {period})" if period > 1 else since


def _moved(buffer: LineBuffer, lines: str) -> str:
    # A buffer whose rows are all new has no rows to move.
    return "" if buffer.nbytes == buffer.new else f"mg_advance_lines(&{lines});"


def _surplus(buffer: LineBuffer, lines: str, when: When) -> str:
    """The C that writes padding instead of surplus rows when a part runs for the last time."""
    if not buffer.surplus or buffer.fill is None:
        return ""
    filled = _padded(lines, buffer.surplus)
    return f"if (step == {when.end - 1}) {{\n{' ' * (_INDENT + 8)}{filled}\n{' ' * (_INDENT + 4)}}}"


def _padded(lines: str, nbytes: int) -> str:
    """The C that fills the last bytes of a line buffer with padding."""
    return f"mg_pad_lines(&{lines}, {nbytes});"
