"""Values of tensors on the command line: numbers, nested lists of them, or a ``.npy`` file."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np

from microgen.base.errors import MicrogenError, short
from microgen.base.files import content
from microgen.graph.ir.graph import Array, DType

_MOST_BYTES = 2**31 - 1
_SAVED = "numpy.save writes such a file"
_HINT = "give a number, a list such as [1,2], true or false, or a file that ends in .npy"


def value(text: str, dtype: DType, where: str) -> Array:
    """The array that a text denotes. Raises MicrogenError if the text is not an array of that
    dtype.
    """
    return _file(text, dtype, where) if text.endswith(".npy") else _literal(text, dtype, where)


def _file(text: str, dtype: DType, where: str) -> Array:
    try:
        data = content(Path(text), "a file that numpy.save wrote", _MOST_BYTES)
        found: Array = np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
    except MicrogenError as error:
        raise MicrogenError(f"{text}: {error.what}", where=where, hint=_SAVED) from None
    except (OSError, ValueError, EOFError, MemoryError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise MicrogenError(f"{text} cannot be read: {reason}", where=where, hint=_SAVED) from None
    if found.dtype.newbyteorder("<") != dtype.numpy:
        raise MicrogenError(
            f"{text} is of {found.dtype}, and the input of {dtype.value}",
            where=where,
            hint=f"save array.astype(numpy.{dtype.numpy.name})",
        )
    return found.astype(dtype.numpy)


def _literal(text: str, dtype: DType, where: str) -> Array:
    try:
        parsed: Any = json.loads(text)
        kinds = np.asarray(parsed)
    except ValueError:
        raise MicrogenError(f"{short(text)!r} is not a value", where=where, hint=_HINT) from None
    if not _fits(kinds, dtype):
        raise MicrogenError(
            f"{short(text)!r} is not of the input's type {dtype.value}", where=where, hint=_HINT
        )
    return kinds.astype(dtype.numpy)


def _fits(found: Array, dtype: DType) -> bool:
    """Whether numbers may be converted to a dtype: integers to floats, but not the reverse."""
    if not found.size:
        return True
    if dtype is DType.BOOL or found.dtype.kind == "b":
        return dtype is DType.BOOL and found.dtype.kind == "b"
    if dtype is DType.FLOAT32:
        return found.dtype.kind in "iuf"
    info = np.iinfo(dtype.numpy)
    is_within = found.dtype.kind in "iu" and info.min <= found.min() and found.max() <= info.max
    return bool(is_within)
