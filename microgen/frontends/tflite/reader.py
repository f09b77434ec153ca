"""Bounds-safe reading of a flatbuffer through the schema package's accessors.

The accessors trust the file, so ``Reader`` checks a table's own layout before its first use
(``table``), and a vector's length before anything loops over it. Every call of the schema package
goes through ``Reader.get``, the only place that turns its exceptions into ModelError. The work is
bounded, too: in an honest file every vector element has bytes of its own, so at most as many
elements as bytes are read, even if a hostile file points to one vector from thousands of tables.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from flatbuffers import flexbuffers, number_types, table

from microgen.base.errors import ModelError
from microgen.graph.ir.graph import Array

T = TypeVar("T")

_UOFFSET = struct.Struct("<I")
_dtype = functools.cache(number_types.to_numpy_type)
MAX_TABLES = 100_000  # a large network has about ten thousand: tensors, operators, options, ...

# The exceptions of the accessors, struct, numpy and our own checks for a file that lies. Reader
# looks up accessors by name, so an AttributeError there would be a wrong name of ours.
_CORRUPT = (
    *(struct.error, ArithmeticError, AssertionError, LookupError, MemoryError),
    *(RecursionError, TypeError, ValueError),
)
CORRUPT = (*_CORRUPT, AttributeError)
"""The exceptions of a flexbuffer's values."""


class CheckedTable(table.Table):
    """The table of ``data`` at byte ``position``, whose vtable has the places ``fields``."""

    # The base class reads the vtable anew for each field, and checks each position that it
    # computes, which takes half of the time of reading a model. Positions outside of the data are
    # errors anyway. The methods' names are the base class's.

    __slots__ = ("_fields",)

    def __init__(self, data: bytes | bytearray, position: int, fields: tuple[int, ...]) -> None:
        self.Bytes, self.Pos, self._fields = data, position, fields

    def Offset(self, vtableOffset: int) -> int:  # noqa: N802, N803
        """The place of a field in the table, 0 if it is absent."""
        index = vtableOffset // 2 - 2
        return self._fields[index] if index < len(self._fields) else 0

    def Get(self, flags: Any, off: int) -> Any:  # noqa: N802
        """The number at a byte position in the file."""
        return flags.py_type(flags.packer_type.unpack_from(self.Bytes, off)[0])

    def Indirect(self, off: int) -> int:  # noqa: N802
        """The position to which the offset at a position refers."""
        return off + int(_UOFFSET.unpack_from(self.Bytes, off)[0])

    def Vector(self, off: int) -> int:  # noqa: N802
        """The position of the first element of the vector to which a field refers."""
        return self.Indirect(self.Pos + off) + _UOFFSET.size

    def VectorLen(self, off: int) -> int:  # noqa: N802
        """The number of a vector's elements."""
        return int(_UOFFSET.unpack_from(self.Bytes, self.Indirect(self.Pos + off))[0])

    def GetVectorAsNumpy(self, flags: Any, off: int) -> Array:  # noqa: N802
        """A vector's elements."""
        start = self.Indirect(self.Pos + off)
        (length,) = _UOFFSET.unpack_from(self.Bytes, start)
        return np.frombuffer(self.Bytes, _dtype(flags), length, start + _UOFFSET.size)


class Reader:
    """Reads tables of one file. Every method raises ModelError if the file contradicts itself.

    Tables are objects of the schema package's classes; ``name`` is an accessor's name, such as
    ``StrideH`` or ``Inputs``.
    """

    def __init__(self, data: bytes | bytearray, file: str) -> None:
        self.data = data
        self.file = file
        self._elements_left = len(data)
        self._tables_left = MAX_TABLES

    def invalid(self, what: str) -> ModelError:
        """The error for a file that contradicts itself."""
        return ModelError(what, where=self.file, hint="get the model file again")

    def corrupt(self, detail: str) -> ModelError:
        """The error for a file whose bytes make no sense."""
        return self.invalid(f"is truncated or corrupt: {detail}")

    def get(self, table: Any, name: str, *args: Any) -> Any:
        """The result of the accessor ``name``. Only its exceptions are checked."""
        try:
            return getattr(table, name)(*args)
        except _CORRUPT as error:
            where = f"{type(table).__name__}.{name}"
            raise self.corrupt(f"{where} cannot be read ({error})") from None

    def root(self, schema: Any) -> Any:
        """The file's root table."""
        return self.table(self.get(schema, "GetRootAs", self.data, 0))

    def table(self, table: Any) -> Any:
        """The table itself, after a check that its vtable and its fields are inside the file."""
        position = table._tab.Pos
        kind = type(table).__name__
        # A flatbuffer's table begins with the signed distance to its vtable.
        start = position - self._unpack("<i", position, kind)[0]
        # A vtable begins with the sizes of itself and of the table, in 16 bits each.
        (vtable_bytes,) = self._unpack("<H", start, kind)
        (table_bytes,) = self._unpack("<H", start + 2, kind)
        if vtable_bytes < 4 or vtable_bytes % 2 or position + table_bytes > len(self.data):
            raise self.corrupt(f"the {kind} table at byte {position} has an impossible layout")
        fields = self._unpack(f"<{vtable_bytes // 2 - 2}H", start + 4, kind)
        if any(fields) and max(fields) >= table_bytes:
            raise self.corrupt(f"the {kind} table at byte {position} has a field outside itself")
        table._tab = CheckedTable(self.data, position, fields)
        self._tables_left -= 1
        if self._tables_left < 0:
            raise self.corrupt(f"it has more than {MAX_TABLES} tables")
        return table

    def child(self, table: Any, name: str, read: Callable[[Reader, Any], T]) -> T | None:
        """The record that ``read`` makes of the table to which a field points; None if the field is
        absent."""
        child = self.get(table, name)
        return None if child is None else read(self, self.table(child))

    def union(self, table: Any, name: str, schema: Any) -> Any | None:
        """The union field ``name`` as a ``schema`` table; None if it is absent."""
        place = self.get(table, name)
        if place is None:
            return None
        member = schema()
        self.get(member, "Init", place.Bytes, place.Pos)
        return self.table(member)

    def tables(self, table: Any, name: str) -> list[Any]:
        """A vector of tables; empty if the field is absent."""
        length = self.get(table, f"{name}Length")
        self.spend(length)
        return [self.table(self.get(table, name, index)) for index in range(length)]

    def array(self, table: Any, name: str) -> Array:
        """A vector of numbers as a read-only view of the file; empty if the field is absent."""
        vector = self.get(table, f"{name}AsNumpy")
        return vector if isinstance(vector, np.ndarray) else np.empty(0, np.uint8)

    def integers(self, table: Any, name: str) -> tuple[int, ...]:
        """A vector of integers; empty if the field is absent."""
        return tuple(self.numbers(table, name).tolist())

    def numbers(self, table: Any, name: str) -> Array:
        """A vector of numbers for a loop, whose length is counted as work; empty if the field is
        absent."""
        vector = self.array(table, name)
        self.spend(vector.size)
        return vector

    def int32(self, table: Any, slot: int) -> int:
        """The int32 in field number ``slot`` of the schema, 0 if it is absent. For fields whose
        accessors return something else."""
        inner: CheckedTable = table._tab
        offset = self.get(inner, "Offset", 4 + 2 * slot)
        if not offset:
            return 0
        return int(self._unpack("<i", inner.Pos + offset, type(table).__name__)[0])

    def text(self, table: Any, slot: int) -> str:
        """The string in field number ``slot`` of the schema, "" if it is absent. Invalid UTF-8 is
        replaced."""
        inner: CheckedTable = table._tab
        offset = self.get(inner, "Offset", 4 + 2 * slot)
        if not offset:
            return ""
        start = self.get(inner, "Vector", offset)
        length = self.get(inner, "VectorLen", offset)
        # The schema package's accessors silently cut off a string at the file's end.
        if start + length > len(self.data):
            raise self.corrupt(f"a string of {length} bytes at byte {start} exceeds the file")
        self.spend(length)
        return self.data[start : start + length].decode("utf-8", errors="replace")

    def _unpack(self, layout: str, at: int, kind: str) -> tuple[int, ...]:
        # unpack_from would count a negative position from the end of the file.
        if at < 0 or at + struct.calcsize(layout) > len(self.data):
            raise self.corrupt(f"a {kind} table lies outside the file, at byte {at}")
        return struct.unpack_from(layout, self.data, at)

    def spend(self, elements: int) -> None:
        """Add work on a number of elements. ModelError if their total exceeds the number that the
        file can hold.
        """
        self._elements_left -= elements
        if self._elements_left < 0:
            raise self.corrupt(f"its vectors claim more elements than its {len(self.data)} bytes")


def flexbuffer(data: bytes) -> Any:
    """The map that is the root of a flexbuffer, in which custom operators have their options. It
    and its values raise CORRUPT."""
    root: Any = flexbuffers.GetRoot  # the package has no annotations
    return root(bytearray(data)).AsMap


def optional(options: Any, name: str, kind: str, default: int) -> int:
    """An optional number of a map; ``kind`` is the name of its accessor."""
    try:
        value = options[name]
    except KeyError:
        return default
    return default if value.IsNull else int(getattr(value, kind))
