"""The board for which a project was generated, from the copy of it in the project's manifest.

A project is not trusted to name programs and their arguments. So the copy must equal a board of
this machine, or it must name no program: then the project has the compiler, the flags, the platform
and the start-up file of its CPU, and no emulator.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from microgen.base.errors import BoardError, short
from microgen.base.formats import frequencies
from microgen.target import board as boards
from microgen.target import board_file, found
from microgen.target.board import Board

_WHERE = "microgen.json"
_given: ContextVar[Board | None] = ContextVar("the board that the user gave", default=None)

# The fields that generation may change, and for each the field that names the only other choice.
_CHOSEN = {
    "constants": "large_constants",
    "arena": "large_buffers",
    "buffers": "large_buffers",
}
# The stack is computed unless the board or an option states it.
_STACK = "stack_bytes"
# Fields that a board of another project may not set, because its CPU defines them.
_TOOLS = ("toolchain", "cflags", "platform", "startup", "qemu")


@contextlib.contextmanager
def given(path: str | Path | None) -> Iterator[None]:
    """Inside the ``with`` block, projects must be for the board at this path, which may name
    programs. Without a path, this changes nothing."""
    mark = _given.set(found.at(Path(path)) if path else None)
    try:
        yield
    finally:
        _given.reset(mark)


def of_project(data: Mapping[str, Any]) -> Board:
    """The board for which a project was generated, with memories, stack and clock chosen for it.

    ``data`` is what ``Board.to_json`` wrote. Raises BoardError if it is not a board of this machine
    and names programs, or if it is not sound.
    """
    return _with_original(data)[0]


def original(data: Mapping[str, Any]) -> Board:
    """The same board as it was before memories were chosen."""
    return _with_original(data)[1]


def _with_original(data: Mapping[str, Any]) -> tuple[Board, Board]:
    data = json.loads(json.dumps(data))  # lists instead of tuples, as in the file
    name = data.get("name")
    if not isinstance(name, str):
        raise BoardError(
            "the project is for a board without a name", where=_WHERE, hint="generate it again"
        )
    one = _given.get()
    if one is not None:
        if name != one.name:
            what = f"the project is for board {short(name)!r}, not for {one.name}"
            raise BoardError(what, where=_WHERE, hint="give the board that it is for")
        return _chosen(data, one), _clocked(data, one)
    if name in boards.available():
        installed = boards.load(name)
        return _chosen(data, installed), _clocked(data, installed)
    board_file.check_name(name, _WHERE, "generate the project again")
    # The user chose the folders of MICROGEN_BOARDS, so their boards may name programs.
    for known in _known(name):
        if not _differences(data, known):
            return _chosen(data, known), _clocked(data, known)
    own = _without_tools(data, name)
    return own, own


def _known(name: str) -> Iterator[Board]:
    for folder in found.folders():
        if (folder / name / board_file.FILE).is_file():
            yield found.at(folder / name)


def _chosen(data: Mapping[str, Any], board: Board) -> Board:
    different = _differences(data, board)
    if different:
        kind = "given" if _given.get() is not None else "installed"
        _refuse(f"the project's copy of board {board.name} is not the {kind} one", different)
    chosen = {field: data[field] for field in (*_CHOSEN, _STACK)}
    return replace(_clocked(data, board), **chosen)


def _clocked(data: Mapping[str, Any], board: Board) -> Board:
    clock = data.get("clock_hz")
    # JSON's true is an int in Python.
    if isinstance(clock, bool) or not isinstance(clock, int) or not 0 <= clock <= frequencies.MOST:
        return board
    return replace(board, clock_hz=clock)


def _differences(data: Mapping[str, Any], board: Board) -> list[str]:
    """The fields in which a project's copy differs from the board, except fields that generation
    may choose."""
    # The clock is one of these, because it is an option of `generate`.
    expected = json.loads(json.dumps(_clocked(data, board).to_json()))
    fixed = [key for key in expected if key not in (*_CHOSEN, _STACK)]
    different = [key for key in fixed if key not in data or data[key] != expected[key]]
    for field, other in _CHOSEN.items():
        choices = [getattr(board, field), *filter(None, [getattr(board, other)])]
        if data.get(field) not in choices:
            different.append(field)
    if not _is_stack(data.get(_STACK), board):
        different.append(_STACK)
    return [*different, *(["it has further fields"] if data.keys() - expected.keys() else [])]


def _is_stack(nbytes: object, board: Board) -> bool:
    """Whether a linker script for the board can reserve this number of bytes."""
    if isinstance(nbytes, bool) or not isinstance(nbytes, int):
        return False
    return nbytes == 0 if board.is_host else 0 < nbytes <= board.memory(board.ram).length


def _without_tools(data: Mapping[str, Any], name: str) -> Board:
    """The board that the copy itself describes, checked more strictly than a ``board.yml``."""
    cleaned = {key: value for key, value in data.items() if value not in ("", None, [], {})}
    cleaned.pop("name")
    board_file.check(cleaned, f"{_WHERE}: board")
    board = boards.from_dict(name, cleaned, Path(_WHERE))
    cpu = board.cpu
    implied = replace(
        board,
        **{field: getattr(cpu, field) for field in ("toolchain", "platform", "startup")},
        cflags=(),
        qemu=None,
    )
    named = [field for field in _TOOLS if getattr(board, field) != getattr(implied, field)]
    if cpu.architecture == "host":
        named.append("cpu")
    if named:
        raise BoardError(
            f"the project is for {name}, a board that is not installed here, and its copy names "
            f"programs or their arguments ({', '.join(named)})",
            where=_WHERE,
            hint=f"give the board with --board PATH, or set {found.VARIABLE}",
        )
    expected = json.loads(json.dumps(board.to_json()))
    if data != expected:
        fields = sorted(k for k in {**expected, **data} if data.get(k) != expected.get(k))
        _refuse(f"the project's copy of board {name} is not as it was written", fields)
    return board


def _refuse(what: str, fields: Sequence[str]) -> NoReturn:
    raise BoardError(
        f"{what} ({', '.join(fields)})",
        where=_WHERE,
        hint="generate the project again with this microgen",
    )
