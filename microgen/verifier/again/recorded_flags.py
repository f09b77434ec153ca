"""The flags with which GCC compiled a source file, as an untrusted ELF records them.

Flags reach a compiler's command line, and some make functions that other code of a firmware cannot
call. So only the flags in ``known_flags`` are accepted.

The flags are in DW_AT_producer of the debug information (``-g``), or in the section that
``-frecord-gcc-switches`` makes. Both have the same text from GCC 11 on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from elftools.common.exceptions import DWARFError
from elftools.construct import ConstructError
from elftools.dwarf.compileunit import CompileUnit
from elftools.elf.elffile import ELFFile

from microgen.base.errors import MicrogenError
from microgen.verifier.again import known_flags
from microgen.verifier.again.regenerated import ImpossibleError
from microgen.verifier.elf.elf import DAMAGED

_SWITCHES = ".GCC.command.line"
_SHF_COMPRESSED = 0x800
_MOST_UNITS = 10_000  # compile units, because nobody trusts the file
_DAMAGED = (*DAMAGED, DWARFError, ConstructError, RecursionError)
_DEBUG_SECTIONS = (".debug_info", ".debug_abbrev", ".debug_str", ".debug_line_str")


@dataclass(frozen=True, slots=True)
class CompiledUnit:
    """A source file and the compiler's description of itself. ``source`` is empty if the files of
    the text are not known."""

    source: PurePosixPath
    producer: str


def units(path: Path) -> list[CompiledUnit]:
    """The ELF's records of its sources; empty if it has none.

    Raises ImpossibleError if the ELF cannot be read.
    """
    try:
        with path.open("rb") as stream:
            file = ELFFile(stream)
            return [*_debugged(file), *_recorded(file)]
    except _DAMAGED as error:
        raise ImpossibleError("the ELF's debug information is damaged: link again") from error


def _debugged(file: ELFFile) -> Iterator[CompiledUnit]:
    if file.get_section_by_name(".debug_info") is None:
        return
    for name in _DEBUG_SECTIONS:
        section = file.get_section_by_name(name)
        if section and section["sh_flags"] & _SHF_COMPRESSED:
            raise ImpossibleError("the ELF's debug information is compressed: link without -gz")
    for number, unit in enumerate(_no_links(file)):
        if number == _MOST_UNITS:
            raise ImpossibleError(f"the ELF has more than {_MOST_UNITS} compile units")
        values = unit.get_top_DIE().attributes
        if "DW_AT_name" in values and "DW_AT_producer" in values:
            yield CompiledUnit(
                PurePosixPath(_text(values["DW_AT_name"].value)),
                _text(values["DW_AT_producer"].value),
            )


def _no_links(file: ELFFile) -> Iterator[CompileUnit]:
    """The compile units."""
    # No other file that the ELF names is opened.
    information = file.get_dwarf_info(relocate_dwarf_sections=False, follow_links=False)
    yield from information.iter_CUs()


def _recorded(file: ELFFile) -> Iterator[CompiledUnit]:
    section = file.get_section_by_name(_SWITCHES)
    if section and not section["sh_flags"] & _SHF_COMPRESSED:
        for text in sorted({*section.data().split(b"\0")} - {b""}):
            yield CompiledUnit(PurePosixPath(), _text(text))


def _text(value: object) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


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

    Raises ImpossibleError if the ELF's records contradict each other, UnknownFlagError for flags
    that are not listed.
    """
    known = _of_name(units, source) or [own for own in units if own.source == PurePosixPath()]
    # Assemblers and compilers of other languages describe themselves in another form.
    texts = {own.producer for own in known if _PRODUCER.fullmatch(own.producer)}
    if len(texts) > 1:
        raise ImpossibleError(f"the ELF names {len(texts)} sets of flags for {source}; {HINT}")
    return _parsed(*texts) if texts else None


def _of_name(units: Sequence[CompiledUnit], source: PurePosixPath) -> list[CompiledUnit]:
    """The units whose paths end like the source's path, with the largest number of equal parts."""
    # The other build may have the sources in any folder, so only the ends of paths are equal.
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
