"""The names of a firmware's modules: made from files, and checked to be distinct in C."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path, PurePosixPath

from microgen.base.errors import MicrogenError
from microgen.base.files import FileTree
from microgen.base.names import cnames

DEFAULT = "default"

# The parts of a C or assembler file that define no name: comments and strings.
_TEXT = re.compile(rb'/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
# Names that a model defines begin with its prefix. Inside main.c they end with it.
_NAME = re.compile(rb"\btvmgen_\w+", re.IGNORECASE)
_SOURCES = (".c", ".h", ".S")


def given(names: Sequence[str], models: Sequence[Path]) -> tuple[str, ...]:
    """A name for each model: the requested name. If that name or ``names`` is empty, a single model
    is called ``default``, and one of several models has the name of its file, with ``_`` for
    characters that a name cannot have.

    Raises MicrogenError if the numbers of names and models differ, or if a name cannot name a
    module.
    """
    names = names or [""] * len(models)
    if len(names) != len(models):
        raise MicrogenError(
            f"{len(names)} names for {len(models)} models: {', '.join(map(repr, names))}",
            where="--name",
            hint="give one for each, separated by commas, in the order of the models",
        )
    is_single = len(models) == 1
    # A file's name may have any character, a module's only those of C identifiers.
    chosen = [
        name or (DEFAULT if is_single else re.sub(r"[^A-Za-z0-9]", "_", model.stem))
        for name, model in zip(names, models, strict=True)
    ]
    return tuple(map(cnames.module_name, chosen))


def distinct(names: Sequence[str]) -> None:
    """Raise MicrogenError if two names are equal in upper case, which macros use."""
    for a, b in combinations(names, 2):
        # Every pair, because the message names both.
        if a.upper() == b.upper():
            what = "share a name" if a == b else "share a name in upper case, which macros use"
            raise _clash(a, b, what)


def apart(trees: Mapping[str, FileTree], functions: Mapping[str, Iterable[str]]) -> None:
    """Raise MicrogenError if two modules define the same file or the same identifier, for example
    ``a`` with an input ``b_x`` and ``a_b`` with an input ``x``.

    Both arguments are by module: its own files, and its operators. External operators have the
    names that the model gives them.
    """
    # Files are compared without regard to case, because some file systems ignore it.
    for a, b in combinations(trees, 2):
        files = _shared(*((name.lower() for name in trees[module].files) for module in (a, b)))
        if files:
            raise _clash(a, b, f"both have the file {PurePosixPath(files[0]).name}")
        # External operators are not in our files, so they come from ``functions``.
        names = _shared(*((*_identifiers(trees[m]), *functions[m]) for m in (a, b)))
        if names:
            raise _clash(a, b, f"both define {names[0]}")


def _shared(one: Iterable[str], other: Iterable[str]) -> list[str]:
    return sorted(set(one) & set(other))


def _identifiers(tree: FileTree) -> Iterator[str]:
    """The names in generated C and assembler that have a module's prefix."""
    for name, data in tree.files.items():
        if name.endswith(_SOURCES):
            # A space, because a comment separates names.
            for found in _NAME.findall(_TEXT.sub(b" ", data)):
                yield found.decode()


def _clash(a: str, b: str, what: str) -> MicrogenError:
    return MicrogenError(
        f"modules {a!r} and {b!r} cannot be in one firmware: they {what}",
        where="--name",
        hint="give one of them another name",
    )
