"""The texts of ``--dim``, ``--max-rounds`` and ``--bind``: names, each with a number or a value."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from microgen.base.errors import MicrogenError, few, short

LARGEST = 2**31 - 1  # of a size


def pairs(texts: Sequence[str], flag: str, form: str) -> list[tuple[str, str]]:
    """Names and values. A name may contain "=", and a value may not. MicrogenError if a text does
    not have the ``form``, or if a name comes twice."""
    found = []
    for text in texts:
        # From the right, because names of tensors may contain =.
        name, _, value = text.rpartition("=")
        if not name or not value:
            raise MicrogenError(f"{short(text)!r} is not of the form {form}", where=flag)
        found.append((name, value))
    twice = {name for name, _ in found if sum(name == other for other, _ in found) > 1}
    if twice:
        raise MicrogenError(f"gives {short(min(twice))!r} twice", where=flag, hint="give one")
    return found


def sizes(dim: Sequence[str], known: Collection[str], kind: str, file: str) -> dict[str, int]:
    """The sizes that ``--dim`` gives, by name. Raises the errors of ``pairs``, and MicrogenError
    for a value that is not a size, and for a name that is not ``known`` in the file, in which
    dimensions without a size are called ``kind``."""
    found = {name: _size(name, text) for name, text in pairs(dim, "--dim", "NAME=N")}
    for name in found:
        if name not in known:
            names = few([f'"{short(each)}"' for each in known])
            raise MicrogenError(
                f'has no {kind} "{short(name)}"',
                where=f"{file}: --dim",
                hint=f"it has {names}" if known else "it has none: leave --dim out",
            )
    return found


def rounds(texts: Sequence[str]) -> dict[str, int]:
    """The numbers that ``--max-rounds`` gives, by name. Raises the errors of ``pairs``, and
    MicrogenError for a value that is not a number of rounds."""
    given = pairs(texts, "--max-rounds", "LAYER=N")
    return {name: _size(name, text, "--max-rounds", "a number of rounds") for name, text in given}


def _size(name: str, text: str, flag: str = "--dim", what: str = "a size") -> int:
    # Eleven digits show that a number is too large. Converting thousands of them takes long.
    if text.isascii() and text.isdigit() and 1 <= int(text[:11]) <= LARGEST:
        return int(text)
    raise MicrogenError(
        f"{short(text)!r} is not {what} of {short(name)!r}",
        where=flag,
        hint=f"give a number from 1 to {LARGEST}",
    )
