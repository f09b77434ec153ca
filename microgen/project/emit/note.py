"""The header that puts a note into each object file of a model."""

from __future__ import annotations

import re

from microgen.base.names import cnames
from microgen.project.emit import symbols
from microgen.project.emit.environment import environment

_LONGEST = 72  # characters of JSON in a line, without its quotes' backslashes
_LONGEST_FILE = 60  # characters
_FIELDS = re.compile(r'(?<=,)(?=")')  # between the fields


def header(module: str, text: str, *, model: str, section: str, owner: str, kind: int) -> bytes:
    """The header's content. ``text`` is JSON, up to the compiler's name; ``section``, ``owner`` and
    ``kind`` are the ELF section and the note's. ``model`` is the file that the comment names."""
    prefix = symbols.prefix(module)
    values = {
        "prefix": prefix,
        "macro_prefix": prefix.upper(),
        "guard": f"{prefix.upper()}_NOTE_H_",
        "model": cnames.comment(model, _LONGEST_FILE),
        "lines": [_literal(line) for line in _lines(text)],
        "section": section,
        "owner": owner,
        "type": f"{kind:#x}",
    }
    template = environment("project").get_template("model/codegen/host/src/note.h.j2")
    return template.render(values).encode()


def _lines(text: str) -> list[str]:
    """The text in pieces of whole fields, each as long as a line allows."""
    lines = [""]
    for field in _FIELDS.split(text):
        if lines[-1] and len(lines[-1]) + len(field) > _LONGEST:
            lines.append("")
        lines[-1] += field
    return lines


def _literal(text: str) -> str:
    """The text as a string of C and of the assembler."""
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    # "??" would begin a trigraph.
    return f'"{quoted}"'.replace("??", "?\\077")
