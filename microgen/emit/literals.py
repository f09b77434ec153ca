"""C tables from arrays."""

from __future__ import annotations

from microgen.errors import InternalError
from microgen.ir.graph import Array

_PER_LINE = 12
_INT_MIN = {"int32_t": -(2**31), "int64_t": -(2**63)}


def table(array: Array, ctype: str) -> str:
    """The elements as initialisers, twelve a line, indented by four; integers only."""
    if array.dtype.kind not in "iu":
        raise InternalError(f"no C literal for {array.dtype} yet", where=ctype)
    values = [_literal(value, ctype) for value in array.reshape(-1).tolist()]
    lines = (values[i : i + _PER_LINE] for i in range(0, len(values), _PER_LINE))
    return "\n".join(f"    {', '.join(line)}," for line in lines)


def _literal(value: int, ctype: str) -> str:
    """The least value of a type has no literal in C: ``-2147483648`` is minus a larger type."""
    return f"({value + 1} - 1)" if value == _INT_MIN.get(ctype) else str(value)


def integer(value: int) -> str:
    """An int32 parameter as an initialiser."""
    return _literal(value, "int32_t")
