"""Compares the signatures of functions in a module of the blob with the partition."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from microgen.base.errors import MicrogenError, of_codegen
from microgen.base.manifest import FunctionRecord, TypeRecord
from microgen.relay.blob.payloads.base import Payload, Signature, typed


def signature_problems(function: FunctionRecord, codegen: str, content: Payload) -> Iterator[str]:
    """Names, shapes and dtypes that differ. A payload without signatures has no problems."""
    try:
        with of_codegen(codegen, "reading a signature"):
            actual = content.signature(function.symbol)
    except MicrogenError as error:
        yield f"the graph of {function.symbol} cannot be read: {error}"
        return
    if actual is None:
        return
    if actual.symbol not in (function.symbol, f"{codegen}_{function.symbol}"):
        yield f"the graph of {function.symbol} has the symbol {actual.symbol}"
    planned = _planned(function)
    for what in ("inputs", "constants", "outputs"):
        have, want = getattr(actual, what), getattr(planned, what)
        if have != want:
            yield f"{what} of {function.symbol} are {_listed(have)}, planned {_listed(want)}"


def _planned(function: FunctionRecord) -> Signature:
    def listed(types: Sequence[TypeRecord]) -> tuple[str, ...]:
        return tuple(typed(kind.shape, kind.dtype) for kind in types)

    constants = tuple(f"{c.name}: {typed(c.shape, c.dtype)}" for c in function.constants)
    return Signature(function.symbol, listed(function.inputs), constants, listed(function.outputs))


def _listed(items: tuple[str, ...]) -> str:
    return ", ".join(items) or "none"
