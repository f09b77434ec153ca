"""Finds boards: installed ones, in the folders of ``MICROGEN_BOARDS``, or at a path.

Only commands that start no program of a board also look in ``./boards``: a folder of somebody else
must not choose programs because a command was typed in it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from microgen.base import resources
from microgen.base.errors import BoardError, likely
from microgen.target import board as boards
from microgen.target import board_file
from microgen.target.board import Board

VARIABLE = "MICROGEN_BOARDS"
LOCAL = Path("boards")


def find(reference: str | Path, *, local: bool = False) -> Board:
    """The board with a name, or at the path of its folder or its ``board.yml``.

    A name is looked up among the installed boards, then in ``MICROGEN_BOARDS``, and with ``local``
    in ``./boards``. Raises BoardError if there is none, or if its data is wrong.
    """
    text = str(reference)
    if isinstance(reference, Path) or {"/", os.sep} & {*text} or text.endswith((".yml", ".")):
        return at(Path(reference))
    # Installed boards come first, so that no folder can replace one of them by its name.
    if text in boards.available():
        return boards.load(text)
    for folder in folders(local=local):
        if _is_name(text) and (folder / text / board_file.FILE).is_file():
            return at(folder / text)
    names = [path.parent.name for path in files(local=local)]
    known = list(dict.fromkeys([*boards.available(), *names]))
    path = f"./{text}" if Path(text).exists() else f"DIR/{text}"
    raise BoardError(
        f"there is no board {text!r}",
        hint=f"{likely(text, known)}boards: {', '.join(known)}; or give a path, such as {path}",
    )


def at(path: Path) -> Board:
    """The board at the path of its folder or its ``board.yml``. Raises BoardError."""
    file = path if path.name == board_file.FILE else path / board_file.FILE
    if not file.exists():
        raise BoardError(
            "there is no such file",
            where=str(file),
            hint="give a board's folder or its board.yml; `microgen boards --new` writes one",
        )
    if _is_installed(file):
        return boards.load(file.resolve().parent.name)
    found = board_file.read(file)
    if found.name in boards.available():
        raise BoardError(
            f"a board called {found.name} is installed", where=str(file), hint="rename the folder"
        )
    if found.is_host:
        raise BoardError("the CPU is the host", where=str(file), hint="use the board native")
    return found


def files(*, local: bool = False) -> Iterator[Path]:
    """The ``board.yml`` of each board that is not installed, by folder, then by name."""
    for folder in folders(local=local):
        for file in sorted(folder.glob(f"*/{board_file.FILE}")):
            if not _is_installed(file):
                yield file


def folders(*, local: bool = False) -> tuple[Path, ...]:
    """The folders with boards that are not installed. Raises BoardError for a relative one in the
    variable."""
    # It would mean another folder wherever a command is typed.
    given = [Path(text) for text in os.environ.get(VARIABLE, "").split(os.pathsep) if text]
    for folder in given:
        if not folder.is_absolute():
            raise BoardError(
                f"{str(folder)!r} is not an absolute path", where=VARIABLE, hint="write it whole"
            )
    return (*given, *([LOCAL] if local else ()))


def _is_installed(file: Path) -> bool:
    try:
        return file.resolve().parent.parent == resources.folder("boards").resolve()
    except (OSError, RuntimeError):
        return False


def _is_name(text: str) -> bool:
    try:
        board_file.check_name(text, "")
    except BoardError:
        return False
    return True
