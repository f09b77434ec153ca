"""Text that came from a file, made safe to print."""

from __future__ import annotations


def printable(text: str) -> str:
    """One line of the text. Characters that a terminal would obey, or that would hide what follows,
    become "?": control characters (including ESC and newlines), bidi controls, surrogates."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else "?" for c in text)
