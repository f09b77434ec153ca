"""Reads flexbuffers, in which custom operators have their options."""

from __future__ import annotations

import struct
from typing import Any

from flatbuffers import flexbuffers

# The exceptions of the package for bytes that lie.
CORRUPT = (
    *(struct.error, ArithmeticError, AssertionError, AttributeError, LookupError, MemoryError),
    *(RecursionError, TypeError, ValueError),
)


def mapping(data: bytes) -> Any:
    """The map that is the root of a flexbuffer. It and its values raise CORRUPT."""
    root: Any = flexbuffers.GetRoot  # the package has no annotations
    return root(bytearray(data)).AsMap


def optional(options: Any, name: str, kind: str, default: int) -> int:
    """An optional number of a map; ``kind`` is the name of its accessor."""
    try:
        found = options[name]
    except KeyError:
        return default
    return default if found.IsNull else int(getattr(found, kind))
