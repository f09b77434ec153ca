"""Shared by the payloads of all type keys, and the reading of names in them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from microgen.base.formats.byte_stream import Stream
from microgen.base.names import cnames


@dataclass(frozen=True, slots=True)
class Signature:
    """A module's statement about one of its functions: the symbol inside, and the types of its
    operands as texts (``typed``). The type of a constant is ``<name>: <type>``."""

    symbol: str
    inputs: tuple[str, ...]
    constants: tuple[str, ...]
    outputs: tuple[str, ...]


def typed(shape: Sequence[int], dtype: str) -> str:
    """``float32[2,3]``: a tensor's type in the form of signatures."""
    return f"{dtype}[{','.join(map(str, shape))}]"


class Payload(ABC):
    """The meaning of a module's bytes. Values are immutable."""

    @abstractmethod
    def dumps(self) -> bytes:
        """The bytes that the type key's loader reads."""

    @property
    def symbols(self) -> tuple[str, ...]:
        """The functions that the module provides."""
        return ()

    @property
    def constants(self) -> tuple[str, ...]:
        """Names of the constants that ``__init_<symbol>`` gets, in order."""
        return ()

    @property
    def texts(self) -> Mapping[str, str]:
        """Text for people, by the suffix of its file: ``json``, ``txt``."""
        return {}

    @property
    def facts(self) -> Mapping[str, Any]:
        """A summary for ``inspect``, as plain data."""
        return {}

    def signature(self, symbol: str) -> Signature | None:  # noqa: ARG002
        """The module's statement about one of ``symbols``, for ``verify``; None if it has none.

        Raises MicrogenError for malformed bytes."""
        return None


# Reads exactly one payload. It raises ``stream.refused(...)`` for malformed bytes, and never any
# other error.
PayloadReader: TypeAlias = Callable[[Stream], Payload]


def name(stream: Stream) -> str:
    """Read a type key, or the name of a function or constant: printable ASCII, not empty."""
    text = stream.text()
    if not (text.isascii() and text.isprintable() and text):
        raise stream.refused(f"found the name {cnames.short(text)!r}, expected printable ASCII")
    return text


def names(stream: Stream) -> tuple[str, ...]:
    """Read a vector of names, all different."""
    listed = tuple(name(stream) for _ in range(stream.count()))
    if len(set(listed)) != len(listed):
        twice = cnames.short(Counter(listed).most_common(1)[0][0])
        raise stream.refused(f"the name {twice!r} is listed twice")
    return listed
