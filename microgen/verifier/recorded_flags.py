"""The flags with which GCC compiled a source file, as an ELF that nobody trusts says.

Flags reach a compiler's command line. So only those of a known form are accepted, which have no
paths, write no files and load no code, and none that lets the compiler compute other numbers than
the C code says.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from microgen.verifier.producers import Unit
from microgen.verifier.regenerated import ImpossibleError

_PRODUCER = re.compile(r"GNU C\d\w* (?P<version>\S.*?)(?P<flags>(?: -\S+)+)")
_IGNORED = re.compile(
    r"-W[\w=+-]*|-w|-fno-lto|-pedantic(?:-errors)?|-nostdinc|-fdiagnostics-\S+|-fmessage-length=\d+|-fverbose-asm"
    r"|-g(?!gdb|dwarf)[a-z][\w=-]*|-fstack-usage|-fcallgraph-info\S*|-f(?:file|macro|debug)-prefix-map=\S+"
)
_ACCEPTED = re.compile(
    r"-O[0-3sgz]?|-g(?:gdb)?[0-3]?|-gdwarf(?:-[2-5])?|-ansi|-std=[a-z0-9:]+|--param=[a-z0-9-]+=\d+"
    r"|-m[a-z0-9-]+(?:=[\w.+-]+)?|-fPI[CE]|-f[a-z0-9-]+(?:=[a-z0-9-]+)?"
)
_REFUSED = re.compile(
    r"-[fm].*(?:plugin|dump|profile|opt-info|save-temps|report|coverage|branch-prob|sanitize|instrument|patch"
    r"|lto|whole-program|offload|checking|split-stack|working-directory|syntax-only|self-test|preprocessed).*"
)
_OTHER_NUMBERS = re.compile(
    r"-Ofast|-f(?:fast-math|unsafe-math-\S+|associative-math|reciprocal-math|finite-math-only"
    r"|no-signed-zeros|single-precision-constant|cx-\S+|excess-precision=\S+|fp-contract=(?!off$)\S+)"
)
HINT = "compile the model with -g or -frecord-gcc-switches"


@dataclass(frozen=True, slots=True)
class Flags:
    """The compiler's version, as ``__VERSION__``, and its flags."""

    version: str
    flags: tuple[str, ...]


def of_source(units: Sequence[Unit], source: PurePosixPath) -> Flags | None:
    """The flags of a source file of the project; None if the ELF names none at all for it.

    Raises ImpossibleError if the ELF says several things, or flags that are not repeated.
    """
    known = _of_name(units, source) or [own for own in units if own.source == PurePosixPath()]
    texts = {own.producer for own in known if _PRODUCER.fullmatch(own.producer)}
    if len(texts) > 1:
        raise ImpossibleError(f"the ELF names {len(texts)} sets of flags for {source}; {HINT}")
    return _parsed(*texts) if texts else None


def _of_name(units: Sequence[Unit], source: PurePosixPath) -> list[Unit]:
    """The units whose path has the most last parts in common with the source's."""
    common = {id(own): _common(own.source, source) for own in units}
    most = max(common.values(), default=0)
    return [own for own in units if common[id(own)] == most] if most else []


def _common(one: PurePosixPath, other: PurePosixPath) -> int:
    pairs = zip(reversed(one.parts), reversed(other.parts), strict=False)
    return next(
        (i for i, (a, b) in enumerate(pairs) if a != b), min(len(one.parts), len(other.parts))
    )


def _parsed(producer: str) -> Flags:
    found = _PRODUCER.fullmatch(producer)
    assert found
    flags = [word for word in found["flags"].split() if not _IGNORED.fullmatch(word)]
    for flag in flags:
        if _OTHER_NUMBERS.fullmatch(flag):
            raise ImpossibleError(
                f"the model is compiled with {flag}, which changes what C computes"
            )
        if not _ACCEPTED.fullmatch(flag) or _REFUSED.fullmatch(flag):
            raise ImpossibleError(f"the model is compiled with {flag!r}, which is not repeated")
    return Flags(found["version"], tuple(flags))


def described(flags: Mapping[PurePosixPath, Flags]) -> str:
    """The flags in one line; only their number if they are not all equal."""
    sets = {own.flags for own in flags.values()}
    if len(sets) > 1:
        return f"{len(sets)} sets of flags, as the ELF says"
    return f"{' '.join(*sets)}, as the ELF says"
