"""The content of a file that is too large to be in memory as a whole."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property

Piece = bytes | memoryview
BYTES = 2**16  # of a piece, about


class LargeContent:
    """The content of a file, made anew, piece by piece, each time that it is written or hashed.
    ``make`` must give the same bytes each time. The first piece has the beginning of the file; in a
    C file this is everything before the first table."""

    def __init__(self, make: Callable[[], Iterable[Piece]]) -> None:
        self._make = make

    def __iter__(self) -> Iterator[Piece]:
        yield from self._make()

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the content."""
        found = hashlib.sha256()
        for piece in self:
            found.update(piece)
        return found.hexdigest()

    def whole(self) -> bytes:
        """The content in memory."""
        return b"".join(self)


Content = bytes | LargeContent


def digest(content: Content) -> str:
    """The SHA-256 of a file's content."""
    if isinstance(content, LargeContent):
        return content.digest
    return hashlib.sha256(content).hexdigest()


def beginning(content: Content) -> bytes:
    """All of a small file, and the first piece of a large one."""
    return bytes(next(iter(content), b"")) if isinstance(content, LargeContent) else content


def encoded(texts: Iterable[str]) -> Iterator[bytes]:
    """Texts as pieces of UTF-8, none of which is short except the last."""
    waiting: list[str] = []
    size = 0
    for text in texts:
        waiting.append(text)
        size += len(text)
        if size >= BYTES:
            yield "".join(waiting).encode()
            waiting, size = [], 0
    yield "".join(waiting).encode()


class Whole(Mapping[str, bytes]):
    """Files whose contents are bytes. A large content is made when it is looked up, not kept."""

    def __init__(self, contents: Mapping[str, Content]) -> None:
        self._contents = contents

    def __getitem__(self, name: str) -> bytes:
        content = self._contents[name]
        return content.whole() if isinstance(content, LargeContent) else content

    def __iter__(self) -> Iterator[str]:
        return iter(self._contents)

    def __len__(self) -> int:
        return len(self._contents)

    def __contains__(self, name: object) -> bool:
        return name in self._contents  # without making a large content
