"""Relay text as tokens, without comments and type comments."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator
from dataclasses import dataclass

from microgen.base.errors import ModelError
from microgen.relay.expr import Span
from microgen.relay.literals import NUMBER

# The name of an operator, a function or an attribute. Repetitions of groups are possessive, because
# otherwise the matcher remembers a way back for each of up to a million parts.
WORD = r"[A-Za-z_][\w/]*(?:\.[A-Za-z_][\w/]*)*+"

# The order matters: the first pattern that matches is the token.
_PATTERNS = (
    ("space", r"\s+"),
    ("line comment", r"//[^\n]*"),
    ("comment", r"/\*"),
    ("meta", r"meta\[[\w.]+\]\[\d+\]"),
    # `#[version = "0.0.5"]` before the first function, and `#[metadata]` after the last one.
    ("header", r"#\[[^\]\n]*\]"),
    ("temporary", r"%\d+"),
    ("local", r"%[A-Za-z_/][\w/]*"),
    ("global", "@" + WORD),
    # Not followed by a letter: `3x` is neither a number nor a name.
    ("number", NUMBER.pattern + r"(?!\w)"),
    ("name", WORD),
    ("string", r'"(?:[^"\\\n]++|\\.)*+"'),
    ("sign", r"->|[()\[\]{},;:=.?<>+*/!-]"),
)
# Names of groups must be identifiers, so they are the patterns' numbers.
_TOKEN = re.compile("|".join(f"(?P<k{i}>{p})" for i, (_, p) in enumerate(_PATTERNS)), re.ASCII)
_INDEX = re.compile(r"\d+", re.ASCII)
_COMMENT_END = re.compile(r"/\*|\*/")
_END = "end"
METADATA = "#[metadata]"


@dataclass(frozen=True, slots=True)
class Token:
    """``kind`` is a name of ``_PATTERNS``, or "end"; ``offset`` counts characters."""

    kind: str
    text: str
    offset: int

    def __str__(self) -> str:
        if self.kind == _END:
            return "the end of the text"
        return repr(self.text if len(self.text) <= 40 else f"{self.text[:37]}...")


class Source:
    """A text and its name. It computes lines and columns."""

    def __init__(self, text: str, name: str) -> None:
        self.text = text
        self.name = name
        self._starts = [0, *(m.end() for m in re.finditer(r"\n", text))]

    def span(self, offset: int) -> Span:
        """The place of a character."""
        line = bisect.bisect_right(self._starts, offset)
        return Span(self.name, line, offset - self._starts[line - 1] + 1)


def tokens(source: Source) -> Iterator[Token]:
    """The tokens of a text one by one. The last one is of kind "end". It comes before the metadata
    section if there is one.

    Raises ModelError for a character that begins no token, and for a comment without end.
    """
    text, at, last, end = source.text, 0, "", len(source.text)
    while at < len(text):
        match = _match(text, at, last)
        if match is None:
            where = str(source.span(at))
            raise ModelError(f"found {text[at]!r}, expected Relay text", where=where)
        at = match.end()
        kind = _PATTERNS[int(str(match.lastgroup)[1:])][0] if match.lastgroup else "number"
        if kind == "comment":
            at = _after_comment(source, match.start())
        # JSON follows, which is not Relay text.
        elif match.group() == METADATA:
            end = match.start()
            break
        elif kind not in ("space", "line comment"):
            last = match.group()
            yield Token(kind, last, match.start())
    yield Token(_END, "", end)


def metadata(source: Source) -> str:
    """The contents of the metadata section, "" if there is none. Raises ModelError like
    ``tokens``."""
    if METADATA not in source.text:
        return ""
    *_, end = tokens(source)
    return source.text[end.offset :].removeprefix(METADATA)


def _match(text: str, at: int, last: str) -> re.Match[str] | None:
    # `%t.0.1` projects twice; elsewhere 0.1 is a number.
    if last == "." and (index := _INDEX.match(text, at)):
        return index
    return _TOKEN.match(text, at)


def _after_comment(source: Source, start: int) -> int:
    """The offset after a comment; comments nest, as in TVM."""
    depth, at = 0, start
    while match := _COMMENT_END.search(source.text, at):
        depth += 1 if match.group() == "/*" else -1
        at = match.end()
        if depth == 0:
            return at
    raise ModelError("found a comment that does not end", where=str(source.span(start)))
