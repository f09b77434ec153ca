"""Text that came from a file, made safe to print."""

from __future__ import annotations


def printable(text: str) -> str:
    """The text as one line. Characters that a terminal would obey, or that would hide the text
    after them, become "?". These are control characters (including ESC and newlines), bidi controls
    and surrogates."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else "?" for c in text)
