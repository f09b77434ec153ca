"""The flags with which GCC compiled a source file, as an untrusted ELF records them.

Flags reach a compiler's command line, and some make functions that other code of a firmware cannot
call. So only the flags in ``known_flags`` are accepted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from microgen.base.errors import MicrogenError
from microgen.verifier.again import known_flags
from microgen.verifier.again.producers import CompiledUnit
from microgen.verifier.again.regenerated import ImpossibleError

_PRODUCER = re.compile(r"GNU C\d\w* (?P<version>\S.*?)(?P<flags>(?: -\S+)+)")
HINT = "compile the model with -g or -frecord-gcc-switches"


class UnknownFlagError(MicrogenError):
    """A model is compiled with a flag that is not among ``known_flags``."""


@dataclass(frozen=True, slots=True)
class RecordedFlags:
    """The compiler's version, as ``__VERSION__``, and its flags."""

    version: str
    flags: tuple[str, ...]


def of_source(units: Sequence[CompiledUnit], source: PurePosixPath) -> RecordedFlags | None:
    """The flags of a source file of the project; None if the ELF names no flags for it.

    Raises ImpossibleError if the ELF says several things, UnknownFlagError for flags that are not
    listed.
    """
    known = _of_name(units, source) or [own for own in units if own.source == PurePosixPath()]
    texts = {own.producer for own in known if _PRODUCER.fullmatch(own.producer)}
    if len(texts) > 1:
        raise ImpossibleError(f"the ELF names {len(texts)} sets of flags for {source}; {HINT}")
    return _parsed(*texts) if texts else None


def _of_name(units: Sequence[CompiledUnit], source: PurePosixPath) -> list[CompiledUnit]:
    """The units whose path has the most last parts in common with the source's."""
    common = {id(own): _common(own.source, source) for own in units}
    most = max(common.values(), default=0)
    return [own for own in units if common[id(own)] == most] if most else []


def _common(one: PurePosixPath, other: PurePosixPath) -> int:
    pairs = zip(reversed(one.parts), reversed(other.parts), strict=False)
    return next(
        (i for i, (a, b) in enumerate(pairs) if a != b), min(len(one.parts), len(other.parts))
    )


def _parsed(producer: str) -> RecordedFlags:
    match = _PRODUCER.fullmatch(producer)
    assert match
    repeated = []
    for flag in match["flags"].split():
        row = known_flags.row_of(flag)
        if row is None:
            raise UnknownFlagError(
                f"the model is compiled with {flag}, which is not known to keep the calling "
                "convention and the meaning of the code",
                hint="leave it out; `microgen help docs/reference/verify.md` lists the flags that "
                "are known",
            )
        if row.is_repeated:
            repeated.append(flag)
    return RecordedFlags(match["version"], tuple(repeated))


def described(flags: Mapping[PurePosixPath, RecordedFlags]) -> str:
    """The flags in one line; only their number if they are not all equal."""
    sets = {own.flags for own in flags.values()}
    if len(sets) > 1:
        return f"{len(sets)} sets of flags, as the ELF says"
    return f"{' '.join(*sets)}, as the ELF says"
