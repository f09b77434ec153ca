"""compiler_begin and compiler_end: identities that passes place around a region of a compiler."""

from __future__ import annotations

from collections.abc import Sequence

from microgen.relay.expr import Attrs, Type
from microgen.relay.op.base import Field, Kind, RelayOp


def _same(_attrs: Attrs, types: Sequence[Type]) -> Type:
    return types[0]


def _mark(name: str) -> RelayOp:
    compiler = (Field("compiler", Kind.STR),)
    return RelayOp(f"annotation.{name}", ("data",), compiler, _same, either=("data",))


OPS = (_mark("compiler_begin"), _mark("compiler_end"))
