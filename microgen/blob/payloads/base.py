"""What the payload of every type key has, and how names in one are read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from microgen.formats.byte_stream import Stream
from microgen.names import cnames


@dataclass(frozen=True, slots=True)
class Signature:
    """What a module says of one of its functions: the symbol that it has inside, and the types of
    its operands as texts (``typed``), those of constants as ``<name>: <type>``."""

    symbol: str
    inputs: tuple[str, ...]
    constants: tuple[str, ...]
    outputs: tuple[str, ...]


def typed(shape: Sequence[int], dtype: str) -> str:
    """``float32[2,3]``: a tensor's type as signatures have it."""
    return f"{dtype}[{','.join(map(str, shape))}]"


class Payload(ABC):
    """What a module's bytes mean. Values are immutable."""

    @abstractmethod
    def dumps(self) -> bytes:
        """The bytes that the type key's loader reads."""

    @property
    def symbols(self) -> tuple[str, ...]:
        """Functions that the module provides."""
        return ()

    @property
    def constants(self) -> tuple[str, ...]:
        """Names of the constants that ``__init_<symbol>`` is handed, in order."""
        return ()

    @property
    def texts(self) -> Mapping[str, str]:
        """What a person would read, by the suffix of a file of it: ``json``, ``txt``."""
        return {}

    @property
    def facts(self) -> Mapping[str, Any]:
        """A summary for ``inspect``, as JSON has it."""
        return {}

    def signature(self, symbol: str) -> Signature | None:  # noqa: ARG002
        """What the module says of one of ``symbols``, for ``verify``; None if it says nothing.

        Raises MicrogenError for bytes that mean nothing."""
        return None


# Reads one payload, and no byte more; raises ``stream.refused(...)`` for what is malformed, and
# nothing else whatever the bytes are.
PayloadReader: TypeAlias = Callable[[Stream], Payload]


def name(stream: Stream) -> str:
    """Read a type key, or the name of a function or constant: printable ASCII, not empty."""
    found = stream.text()
    if not (found.isascii() and found.isprintable() and found):
        raise stream.refused(f"found the name {cnames.short(found)!r}, expected printable ASCII")
    return found


def names(stream: Stream) -> tuple[str, ...]:
    """Read a vector of names, all different."""
    found = tuple(name(stream) for _ in range(stream.count()))
    if len(set(found)) != len(found):
        twice = cnames.short(Counter(found).most_common(1)[0][0])
        raise stream.refused(f"the name {twice!r} stands twice in one list")
    return found
