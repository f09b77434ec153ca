"""The check of the notes: every object file of the model was built from this project."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from microgen.base import manifest
from microgen.base.errors import ProjectError
from microgen.base.manifest import Manifest, ModuleRecord, note
from microgen.base.printable import printable
from microgen.verifier.elf import elf
from microgen.verifier.elf.elf import Elf
from microgen.verifier.subject import Finding, Subject, judged

_SHOWN = 12  # characters of a digest
_LONGEST = 60  # of other values
_MOST_NAMED = 4  # models in one sentence


@dataclass(frozen=True, slots=True)
class _Note:
    """A note of ours: its text, and its fields as JSON (no fields if it is not JSON)."""

    text: bytes
    fields: Mapping[str, Any]

    @property
    def module(self) -> str:
        return str(self.fields.get("name"))

    @property
    def compiler(self) -> str:
        return _shown(self.fields.get(note.COMPILER))

    def is_as(self, promised: str) -> bool:
        """Whether the note is the promised text, followed by the name of any compiler."""
        compiler = self.fields.get(note.COMPILER)
        return self.text == f'{promised}{compiler}"}}\0'.encode(errors="replace")


def built_from(subject: Subject) -> Finding:
    """The ELF has one note for each of the model's sources, and no others (in the scope
    ``model``, notes of other projects' models may be there, too); each says what the manifest
    says, including the digest of all that decides the code, which ``verify`` computes again;
    all name one compiler.

    Reads: notes of the ELF; manifest.
    """
    record, guests = subject.manifest, others(subject)
    notes = [entry for entry in _notes(subject.elf) if entry.module not in guests]
    stale = list(_differences(record, notes))
    if stale:
        # The remedy is the same for all of them, so the first one names it.
        stale[0] += "; build again with `microgen build`"
    problems = [*_of_manifest(record, manifest.built_from(subject.project)), *stale]
    count = sum(map(len, record.units.values()))
    wanted = f"{count} notes, one for each source, of {record.built_from[:_SHOWN]}"
    actual = f"{count} notes, compiled by {', '.join(sorted({n.compiler for n in notes}))}"
    return judged(wanted, problems, actual, notes=count)


def others(subject: Subject) -> frozenset[str]:
    """The models of other projects that the ELF's notes name and that may be in the same ELF. In
    the scope "project" no other models may be in it."""
    if subject.scope == "project":
        return frozenset()
    own = {module.module for module in subject.manifest.modules}
    return frozenset(entry.module for entry in _notes(subject.elf) if entry.fields) - own


def whose(subject: Subject) -> str:
    """A sentence that names the models of the firmware, if its notes name only models of other
    projects; otherwise empty."""
    record, notes = subject.manifest, [own for own in _notes(subject.elf) if own.fields]
    ours = {module.module: module.model.sha256 for module in record.modules}
    theirs = {own.module: _shown(own.fields.get("model")) for own in notes}
    if not theirs or any(own.fields.get("model") == ours.get(own.module) for own in notes):
        return ""
    if not ours.keys() & theirs.keys():
        return f"this is the firmware of {_quoted(theirs)}, not of {_quoted(ours)}"
    digests = [f"{name!r} of the model {digest}" for name, digest in theirs.items()]
    wanted = [f"{_shown(digest)}" for digest in ours.values()]
    return f"this is the firmware of {_and(digests)}, not of {_and(wanted)}"


def _quoted(names: Iterable[str]) -> str:
    return _and(repr(_shown(name)) for name in names)


def _and(texts: Iterable[str]) -> str:
    return " and ".join(list(texts)[:_MOST_NAMED])


def is_of(project: Path, elf_file: Path) -> bool:
    """Whether the model in an ELF was built from the project that its manifest describes. A project
    of an earlier version has no notes, so it is not judged: the result is true.

    Raises ProjectError for a damaged manifest. A damaged ELF is not the project's.
    """
    record = manifest.load(project)
    if not record.built_from:
        return True
    try:
        return not any(_differences(record, _notes(elf.load(elf_file))))
    except ProjectError:
        return False


def _of_manifest(record: Manifest, digest: str) -> Iterator[str]:
    if record.built_from != digest:
        yield (
            f"microgen.json says built_from {record.built_from[:_SHOWN] or 'nothing'}, and what it "
            f"says else gives {digest[:_SHOWN]}: generate again"
        )
    for module, sources in record.units.items():
        if not sources:
            yield f"microgen.json names no source of {module}: generate again"


def _differences(record: Manifest, notes: Sequence[_Note]) -> Iterator[str]:
    """The differences between the notes and the notes that the manifest promises."""
    for module in record.modules:
        own = [entry for entry in notes if entry.module == module.module]
        yield from _of_module(record, module, own)
    names = {module.module for module in record.modules}
    for name in sorted({entry.module for entry in notes} - names):
        yield f"there are notes of {_shown(name)!r}, which is not in this project"
    compilers = sorted({entry.compiler for entry in notes})
    if len(compilers) > 1:
        yield f"some sources were compiled by {' and some by '.join(compilers)}"


def _of_module(record: Manifest, module: ModuleRecord, own: Sequence[_Note]) -> Iterator[str]:
    promised, sources = record.note(module), record.units[module.module]
    if len(own) != len(sources):
        yield f"{module.module} has {len(own)} notes, and {len(sources)} sources"
    others = [entry for entry in own if not entry.is_as(promised)]
    if others:
        what = _difference(others[0], promised)
        yield f"{len(others)} of {len(own)} notes of {module.module} are of another build: {what}"


def _difference(own: _Note, promised: str) -> str:
    """The first field in which a note differs."""
    for key, value in json.loads(f'{promised}"}}').items():
        recorded = own.fields.get(key)
        if recorded != value and key != note.COMPILER:
            return f"{key} is {_shown(recorded)}, expected {_shown(value)}"
    return "the text has another form"


def _notes(program: Elf) -> list[_Note]:
    """The notes with microgen's owner and type, which may be unreadable."""
    records = [n for n in program.notes if (n.owner, n.type) == (note.OWNER, note.TYPE)]
    read = [_Note(n.content, _fields(n.content)) for n in records]
    return [own for own in read if own.fields.get("type", note.KIND) == note.KIND]


def _fields(content: bytes) -> Mapping[str, Any]:
    try:
        fields = json.loads(content.rstrip(b"\0"))
    # RecursionError: JSON that nests too deeply.
    except (ValueError, RecursionError):
        return {}
    return fields if isinstance(fields, dict) else {}


def _shown(value: object) -> str:
    """A value of a note: a digest is cut."""
    text = printable(value if isinstance(value, str) else json.dumps(value))
    is_digest = len(text) == 64 and text.isalnum()
    return text[: _SHOWN if is_digest else _LONGEST]
