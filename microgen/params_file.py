"""Parameter files: named arrays in the format of TVM's ``save_param_dict``, little-endian.

    u64 0xF7E58D4F05049CB7, u64 0, vector<string> names, u64 n, n x NDArray
    NDArray = u64 0xDD5E40F096B4A13F, u64 0, i32 device type, i32 device id, i32 ndim,
              u8 code, u8 bits, u16 lanes, i64 shape[ndim], i64 nbytes, data

Source: TVM v0.14, ``src/runtime/file_utils.cc`` and ``include/tvm/runtime/ndarray.h``.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from microgen.errors import ProjectError
from microgen.ir.graph import Array, DType

_LIST_MAGIC = 0xF7E58D4F05049CB7
_ARRAY_MAGIC = 0xDD5E40F096B4A13F
_CPU = 1

# DLPack's type code and bits, which TVM writes. A bool is a 1-bit unsigned integer that takes a
# byte.
_CODES = {
    DType.INT8: (0, 8),
    DType.INT16: (0, 16),
    DType.INT32: (0, 32),
    DType.INT64: (0, 64),
    DType.UINT8: (1, 8),
    DType.BOOL: (1, 1),
    DType.FLOAT32: (2, 32),
}
_DTYPES = {code: dtype for dtype, code in _CODES.items()}
_KINDS = {0: "int", 1: "uint", 2: "float", 4: "bfloat"}


@dataclass(frozen=True, slots=True)
class Described:
    """An array of a file without its data; ``dtype`` may be one that microgen does not have."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    nbytes: int


def dumps(arrays: Mapping[str, Array]) -> bytes:
    """The file's content; arrays stand in the mapping's order.

    Raises ProjectError for a dtype that is not one of ``DType``.
    """
    return _head(arrays) + b"".join(_array(name, array) for name, array in arrays.items())


def data_offsets(arrays: Mapping[str, Array]) -> dict[str, int]:
    """Where in the file each array's data begins, in bytes. Raises as ``dumps`` does."""
    offsets: dict[str, int] = {}
    end = len(_head(arrays))
    for name, array in arrays.items():
        end += len(_array(name, array))
        offsets[name] = end - array.nbytes
    return offsets


def _head(arrays: Mapping[str, Array]) -> bytes:
    names = b"".join(_string(name) for name in arrays)
    count = struct.pack("<Q", len(arrays))
    return struct.pack("<QQ", _LIST_MAGIC, 0) + count + names + count


def loads(data: bytes) -> dict[str, Array]:
    """The arrays of a file, read-only and in the file's order.

    Raises ProjectError if ``data`` is not exactly one well-formed file.
    """
    reader = _Reader(data)
    arrays = {name: reader.array() for name in reader.names()}
    reader.end()
    return arrays


def describe(data: bytes) -> tuple[Described, ...]:
    """What a file holds, of any dtype that TVM writes.

    Raises ProjectError if ``data`` is not exactly one well-formed file.
    """
    reader = _Reader(data)
    found = tuple(reader.described(name) for name in reader.names())
    reader.end()
    return found


def _string(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def _array(name: str, array: Array) -> bytes:
    try:
        dtype = DType(array.dtype.name)
    except ValueError as error:
        raise ProjectError(
            f"cannot write an array of dtype {array.dtype}",
            where=f"parameter {name!r}",
            hint=f"dtypes: {', '.join(d.value for d in DType)}",
        ) from error
    code, bits = _CODES[dtype]
    data = np.ascontiguousarray(array, dtype.numpy).tobytes()
    head = struct.pack("<QQiiiBBH", _ARRAY_MAGIC, 0, _CPU, 0, array.ndim, code, bits, 1)
    return head + struct.pack(f"<{array.ndim}qq", *array.shape, len(data)) + data


def _damaged(what: str) -> ProjectError:
    return ProjectError(what, where="parameter file", hint="generate the project again")


class _Reader:
    """A cursor that never reads past the end."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def left(self) -> int:
        return len(self._data) - self._at

    def take(self, nbytes: int) -> bytes:
        if nbytes > self.left:
            raise _damaged(f"needs {nbytes} bytes at offset {self._at}, has {self.left}")
        self._at += nbytes
        return self._data[self._at - nbytes : self._at]

    def number(self, layout: str) -> int:
        (value,) = struct.unpack(layout, self.take(struct.calcsize(layout)))
        return int(value)

    def expect(self, layout: str, wanted: int, what: str) -> None:
        found = self.number(layout)
        if found != wanted:
            raise _damaged(f"the {what} is {found:#x}, expected {wanted:#x}")

    def count(self) -> int:
        """A number of items that follow, each of at least 8 bytes."""
        count = self.number("<Q")
        if count > self.left // 8:
            raise _damaged(f"claims {count} items, has {self.left} bytes")
        return count

    def string(self) -> str:
        try:
            return self.take(self.number("<Q")).decode()
        except UnicodeDecodeError as error:
            raise _damaged("a name is not UTF-8") from error

    def names(self) -> list[str]:
        """The head of the file: the names of the arrays that follow."""
        self.expect("<Q", _LIST_MAGIC, "magic number")
        self.expect("<Q", 0, "reserved word")
        names = [self.string() for _ in range(self.count())]
        self.expect("<Q", len(names), "number of arrays")
        if len(set(names)) != len(names):
            raise _damaged("two arrays have one name")
        return names

    def end(self) -> None:
        if self.left:
            raise _damaged(f"{self.left} bytes stand after the last array")

    def head(self) -> int:
        """The head of an array, up to its number of dimensions."""
        self.expect("<Q", _ARRAY_MAGIC, "array's magic number")
        self.expect("<Q", 0, "array's reserved word")
        self.expect("<i", _CPU, "device type")
        self.expect("<i", 0, "device id")
        return self.number("<i")

    def described(self, name: str) -> Described:
        rank = self.head()
        kind, bits, lanes = self.number("<B"), self.number("<B"), self.number("<H")
        if kind not in _KINDS or not bits or not lanes:
            raise _damaged(f"there is no dtype of code {kind}, {bits} bits, {lanes} lanes")
        shape = self.shape(rank)
        nbytes = math.prod(shape) * ((bits * lanes + 7) // 8)
        self.expect("<q", nbytes, "number of bytes")
        self.take(nbytes)
        dtype = "bool" if (kind, bits) == (1, 1) else f"{_KINDS[kind]}{bits}"
        return Described(name, shape, f"{dtype}x{lanes}" if lanes > 1 else dtype, nbytes)

    def array(self) -> Array:
        rank = self.head()
        dtype = self.dtype()
        shape = self.shape(rank)
        nbytes = math.prod(shape) * dtype.nbytes
        self.expect("<q", nbytes, "number of bytes")
        data = np.frombuffer(self.take(nbytes), dtype.numpy)
        try:
            return data.reshape(shape)
        except ValueError as error:  # empty, with dimensions beyond what numpy can index
            raise _damaged(f"an array has shape {shape}") from error

    def dtype(self) -> DType:
        key = self.number("<B"), self.number("<B")
        self.expect("<H", 1, "number of lanes")
        if key not in _DTYPES:
            raise _damaged(f"dtype code {key[0]} with {key[1]} bits is none of microgen's")
        return _DTYPES[key]

    def shape(self, rank: int) -> tuple[int, ...]:
        # numpy has at most 32 dimensions (64 from version 2 on).
        if not 0 <= rank <= 32:
            raise _damaged(f"an array has {rank} dimensions")
        shape = tuple(self.number("<q") for _ in range(rank))
        if min(shape, default=0) < 0:
            raise _damaged(f"an array has shape {shape}")
        return shape
