"""The reader of tables for the schema package's accessors, after the table's layout was checked."""

from __future__ import annotations

import functools
import struct
from typing import Any

import numpy as np
from flatbuffers import number_types, table

from microgen.graph.ir.graph import Array

_UOFFSET = struct.Struct("<I")
_dtype = functools.cache(number_types.to_numpy_type)


class CheckedTable(table.Table):
    """The table of ``data`` at byte ``position``, whose vtable has the places ``fields``.

    The base class reads the vtable anew for each field, and checks each position that it computes,
    which takes half of the time of reading a model. Positions outside ``data`` are errors anyway.
    The methods' names are the base class's.
    """

    __slots__ = ("_fields",)

    def __init__(self, data: bytes, position: int, fields: tuple[int, ...]) -> None:
        self.Bytes, self.Pos, self._fields = data, position, fields

    def Offset(self, vtableOffset: int) -> int:  # noqa: N802, N803
        """The place of a field in the table, 0 if it is absent."""
        index = vtableOffset // 2 - 2
        return self._fields[index] if index < len(self._fields) else 0

    def Get(self, flags: Any, off: int) -> Any:  # noqa: N802
        """The number at a place in the file."""
        return flags.py_type(flags.packer_type.unpack_from(self.Bytes, off)[0])

    def Indirect(self, off: int) -> int:  # noqa: N802
        """The place that the offset at a place refers to."""
        return off + int(_UOFFSET.unpack_from(self.Bytes, off)[0])

    def Vector(self, off: int) -> int:  # noqa: N802
        """The place of the elements of the vector that a field refers to."""
        return self.Indirect(self.Pos + off) + _UOFFSET.size

    def VectorLen(self, off: int) -> int:  # noqa: N802
        """The number of its elements."""
        return int(_UOFFSET.unpack_from(self.Bytes, self.Indirect(self.Pos + off))[0])

    def GetVectorAsNumpy(self, flags: Any, off: int) -> Array:  # noqa: N802
        """Its elements."""
        start = self.Indirect(self.Pos + off)
        (length,) = _UOFFSET.unpack_from(self.Bytes, start)
        return np.frombuffer(self.Bytes, _dtype(flags), length, start + _UOFFSET.size)
