"""Parts of documents that scripts make: the text between two comments of Markdown.

A part begins with ``<!-- NAME: made by COMMAND -->`` and ends with ``<!-- end of NAME -->``.
"""

from __future__ import annotations

import re
from pathlib import Path


def text(document: Path, name: str) -> str:
    """The text of the part. Raises ValueError if the document has not exactly one such part."""
    return _found(document, name)[2]


def write(document: Path, name: str, content: str) -> None:
    """Replace the text of the part. Raises ValueError as ``text`` does."""
    whole = document.read_text(encoding="utf-8")
    found = _found(document, name)
    start, end = found.span(2)
    document.write_text(f"{whole[:start]}{content}{whole[end:]}", encoding="utf-8")


def _found(document: Path, name: str) -> re.Match[str]:
    marked, end = re.escape(name), rf"<!-- end of {re.escape(name)} -->"
    pattern = rf"(<!-- {marked}: made by [^\n]* -->\n)(.*?)({end})"
    found = list(re.finditer(pattern, document.read_text(encoding="utf-8"), re.DOTALL))
    if len(found) != 1:
        raise ValueError(f"{document.name} has {len(found)} parts {name!r}, but must have one")
    return found[0]
