"""Parameter files: named arrays in the format of TVM's ``save_param_dict``, little-endian.

    u64 0xF7E58D4F05049CB7, u64 0, vector<string> names, u64 n, n x NDArray

Source: TVM v0.14, ``src/runtime/file_utils.cc``; for an NDArray's layout see ``ndarray.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from microgen.base.errors import ProjectError
from microgen.base.formats import byte_stream
from microgen.base.formats.byte_stream import Stream
from microgen.base.pieces import Piece
from microgen.graph import ndarray
from microgen.graph.ir.graph import Array

_MAGIC = 0xF7E58D4F05049CB7


@dataclass(frozen=True, slots=True)
class Described:
    """An array of a file without its data; ``dtype`` may be one that microgen does not support."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    nbytes: int


def dumps(arrays: Mapping[str, Array]) -> bytes:
    """The file's content, with arrays in the mapping's order.

    Raises ProjectError for a dtype that is not one of ``DType``.
    """
    return b"".join(pieces(arrays))


def pieces(arrays: Mapping[str, Array]) -> Iterator[Piece]:
    """The same content in pieces, which refer to the arrays' own memory if that is possible."""
    yield _head(arrays)
    for name, array in arrays.items():
        yield from ndarray.pieces(array, f"parameter {name!r}")


def data_offsets(arrays: Mapping[str, Array]) -> dict[str, int]:
    """The offset in the file of each array's data, in bytes. Raises as ``dumps`` does."""
    offsets: dict[str, int] = {}
    end = len(_head(arrays))
    for name, array in arrays.items():
        end += sum(map(len, ndarray.pieces(array, f"parameter {name!r}")))
        # An array's data are the last bytes of its record.
        offsets[name] = end - array.nbytes
    return offsets


def loads(data: bytes) -> dict[str, Array]:
    """The arrays of a file, read-only and in the file's order.

    Raises ProjectError if ``data`` is not exactly one well-formed file.
    """
    stream = _stream(data)
    arrays = {name: ndarray.loads(stream) for name in _names(stream)}
    stream.end("array")
    return arrays


def describe(data: bytes) -> tuple[Described, ...]:
    """The contents of a file, with any dtype that TVM writes.

    Raises ProjectError if ``data`` is not exactly one well-formed file.
    """
    stream = _stream(data)
    described = tuple(Described(name, *ndarray.describe(stream)) for name in _names(stream))
    stream.end("array")
    return described


def _head(arrays: Mapping[str, Array]) -> bytes:
    magic = byte_stream.number(_MAGIC) + byte_stream.number(0)
    return magic + byte_stream.strings([*arrays]) + byte_stream.number(len(arrays))


def _stream(data: bytes) -> Stream:
    return Stream(data, ProjectError, "parameter file", "generate the project again")


def _names(stream: Stream) -> list[str]:
    """Read the head of the file: the names of the following arrays."""
    stream.expect("<Q", _MAGIC, "magic number")
    stream.expect("<Q", 0, "reserved word")
    names = stream.texts()
    stream.expect("<Q", len(names), "number of arrays")
    if len(set(names)) != len(names):
        raise stream.refused("two arrays have one name")
    return names
