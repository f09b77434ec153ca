"""The C types of tensors' elements."""

from __future__ import annotations

from microgen.graph.ir.graph import DType

_OTHERS = {DType.FLOAT32: "float", DType.BOOL: "uint8_t"}  # a bool is 0 or 1


def ctype(kind: DType | str) -> str:
    """The C type of an element of a type, which may be given by numpy's name for it."""
    dtype = DType(kind)
    return _OTHERS.get(dtype) or f"{dtype.value}_t"
