"""One array in TVM's binary format, used by parameter files, Relay's metadata and module blobs.

    NDArray = u64 0xDD5E40F096B4A13F, u64 0, i32 device type, i32 device id, i32 ndim,
              u8 code, u8 bits, u16 lanes, i64 shape[ndim], i64 nbytes, data

Source: TVM v0.14, ``include/tvm/runtime/ndarray.h``.
"""

from __future__ import annotations

import math
import struct

import numpy as np

from microgen.base.errors import ProjectError
from microgen.base.formats.byte_stream import Stream
from microgen.base.pieces import Piece
from microgen.graph.ir.graph import Array, DType

_MAGIC = 0xDD5E40F096B4A13F
_CPU = 1

# DLPack's type code and bits, as TVM writes them. A bool is a 1-bit unsigned integer that takes a
# byte.
_KIND_CODES = {"i": 0, "u": 1, "b": 1, "f": 2}
_CODES = {
    dtype: (_KIND_CODES[dtype.numpy.kind], 1 if dtype is DType.BOOL else 8 * dtype.nbytes)
    for dtype in DType
}
_DTYPES = {code: dtype for dtype, code in _CODES.items()}
_KINDS = {0: "int", 1: "uint", 2: "float", 4: "bfloat"}


def dumps(array: Array, where: str) -> bytes:
    """The array's bytes, the last ``array.nbytes`` of which are its data.

    Raises ProjectError, with ``where``, for a dtype that is not one of ``DType``.
    """
    return b"".join(pieces(array, where))


def pieces(array: Array, where: str) -> tuple[Piece, Piece]:
    """The head, and the data, which are the array's own memory if they are in order there. Raises
    as ``dumps`` does."""
    try:
        dtype = DType(array.dtype.name)
    except ValueError as error:
        raise ProjectError(
            f"cannot write an array of dtype {array.dtype}",
            where=where,
            hint=f"dtypes: {', '.join(d.value for d in DType)}",
        ) from error
    code, bits = _CODES[dtype]
    data = np.ascontiguousarray(array, dtype.numpy).reshape(-1).view(np.uint8).data
    # Magic and reserved word; device type and id; number of dimensions; code, bits, lanes.
    head = struct.pack("<QQiiiBBH", _MAGIC, 0, _CPU, 0, array.ndim, code, bits, 1)
    return head + struct.pack(f"<{array.ndim}qq", *array.shape, len(data)), data


def loads(stream: Stream) -> Array:
    """Read one array, which is read-only. ``stream`` refuses malformed data."""
    rank = _head(stream)
    dtype = _dtype(stream)
    shape = _shape(stream, rank)
    nbytes = math.prod(shape) * dtype.nbytes
    stream.expect("<q", nbytes, "number of bytes")
    data = np.frombuffer(stream.take(nbytes), dtype.numpy)
    try:
        return data.reshape(shape)
    except ValueError as error:  # an empty array with dimensions that numpy cannot index
        raise stream.refused(f"an array has shape {shape}") from error


def describe(stream: Stream) -> tuple[tuple[int, ...], str, int]:
    """Skip one array of any dtype that TVM writes; return its shape, dtype and bytes of data."""
    rank = _head(stream)
    kind, bits, lanes = (stream.number(layout) for layout in ("<B", "<B", "<H"))
    if kind not in _KINDS or not bits or not lanes:
        raise stream.refused(f"there is no dtype of code {kind}, {bits} bits, {lanes} lanes")
    shape = _shape(stream, rank)
    # An element takes whole bytes.
    nbytes = math.prod(shape) * ((bits * lanes + 7) // 8)
    stream.expect("<q", nbytes, "number of bytes")
    stream.take(nbytes)
    dtype = "bool" if (kind, bits) == (1, 1) else f"{_KINDS[kind]}{bits}"
    return shape, f"{dtype}x{lanes}" if lanes > 1 else dtype, nbytes


def _head(stream: Stream) -> int:
    """Skip an array's head; return its number of dimensions."""
    stream.expect("<Q", _MAGIC, "array's magic number")
    stream.expect("<Q", 0, "array's reserved word")
    stream.expect("<i", _CPU, "device type")
    stream.expect("<i", 0, "device id")
    return stream.number("<i")


def _dtype(stream: Stream) -> DType:
    key = stream.number("<B"), stream.number("<B")
    stream.expect("<H", 1, "number of lanes")
    if key not in _DTYPES:
        raise stream.refused(f"dtype code {key[0]} with {key[1]} bits is not supported")
    return _DTYPES[key]


def _shape(stream: Stream, rank: int) -> tuple[int, ...]:
    # numpy has at most 32 dimensions (64 from version 2 on).
    if not 0 <= rank <= 32:
        raise stream.refused(f"an array has {rank} dimensions")
    shape = tuple(stream.number("<q") for _ in range(rank))
    if min(shape, default=0) < 0:
        raise stream.refused(f"an array has shape {shape}")
    return shape
