"""Checks that the result of a code generator for external functions is valid."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from microgen.base.errors import CodegenError, ModelError, of_codegen
from microgen.base.formats.byte_stream import Stream
from microgen.base.names import cnames
from microgen.graph.ir.graph import Array, DType
from microgen.planner.program.external import CFunction, LoadedModule, Made
from microgen.planner.program.steps import InnerBuffer
from microgen.relay.blob.payloads.base import PayloadReader

_DTYPES = tuple(dtype.value for dtype in DType)
_POSITION = re.compile("(in|out)[0-9]+")  # names of parameters by their positions


def check(
    codegen: str,
    symbols: Sequence[str],
    results: Sequence[Any],
    payloads: Mapping[str, PayloadReader],
) -> None:
    """Raise CodegenError unless the results of ``codegen`` are valid and define each function
    once. ``payloads`` are its readers by type key."""
    for result in results:
        if not isinstance(result, Made):
            kind = type(result).__name__
            raise _trouble(codegen, f"made a {kind}, expected a CSource or a LoadedModule")
    for problem in (*_missing(symbols, results), *(p for r in results for p in _problems(r))):
        raise _trouble(codegen, problem)
    for made in results:
        if isinstance(made, LoadedModule) and made.runtime.type_key in payloads:
            _check_payload(codegen, made, payloads[made.runtime.type_key])


def _check_payload(codegen: str, module: LoadedModule, read: PayloadReader) -> None:
    stream = Stream(module.payload, ModelError, codegen, "")
    try:
        with of_codegen(codegen, "reading a payload that it made"):
            symbols = sorted(read(stream).symbols)
            # A blob does not store the length of a payload, so a wrong reader also loses all
            # payloads after it.
            stream.end("field")
    except ModelError as error:
        raise _trouble(codegen, f"cannot read a payload that it made: {error.what}") from error
    made = sorted(function.symbol for function in module.functions)
    if symbols != made:
        found = ", ".join(symbols) or "none"
        raise _trouble(codegen, f"made a payload of {', '.join(made)}, and reads functions {found}")


def _trouble(codegen: str, what: str) -> CodegenError:
    return CodegenError(what, where=codegen)


def _missing(symbols: Sequence[str], results: Sequence[Made]) -> Iterator[str]:
    counts = Counter(function.symbol for result in results for function in result.functions)
    for symbol in symbols:
        if counts[symbol] != 1:
            yield f"made {symbol!r} {counts[symbol]} times, expected once"
    for symbol in counts.keys() - set(symbols):
        yield f"made {symbol!r}, which is not one of its functions"


def _problems(result: Made) -> Iterator[str]:
    for function in result.functions:
        is_c = isinstance(function, CFunction)
        nbytes = function.scratch if isinstance(function, CFunction) else function.workspace
        if not _is_count(nbytes):
            what = "scratch" if is_c else "workspace"
            yield f"gives {function.symbol} {nbytes!r} bytes of {what}"
        taken = ("scratch", "context") if is_c else ()
        yield from _constant_problems(function.symbol, function.constants, taken)
        yield from _place_problems(function) if isinstance(function, CFunction) else ()
    if isinstance(result, LoadedModule):
        yield from _module_problems(result)
    yield from (
        f"gives {name!r} as {type(data).__name__}, expected bytes"
        for name, data in result.files.items()
        if not isinstance(data, bytes)
    )


def _is_count(value: Any) -> bool:
    # A bool is an int in Python; numbers of bytes must fit int32 in C.
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31


def _constant_problems(
    symbol: str, constants: Sequence[tuple[str, Array]], taken: Sequence[str]
) -> Iterator[str]:
    seen = set(taken)
    for name, array in constants:
        if cnames.identifier(name) != name:
            yield f"names a constant of {symbol} {name!r}, which is not a C identifier"
        if name in seen or _POSITION.fullmatch(name):
            yield f"names a constant of {symbol} {name!r}, a name that is taken"
        seen.add(name)
        if not isinstance(array, np.ndarray) or array.dtype.name not in _DTYPES or not array.size:
            kind = getattr(getattr(array, "dtype", None), "name", type(array).__name__)
            known = ", ".join(_DTYPES)
            yield f"gives {symbol} the constant {name!r} of {kind}, expected elements of {known}"


def _place_problems(function: CFunction) -> Iterator[str]:
    for name, place in function.places.items():
        is_buffer = isinstance(place, InnerBuffer) and _is_count(place.offset)
        if not is_buffer or place.offset >= function.scratch:
            size = f"a scratch of {function.scratch} bytes"
            yield f"says that {function.symbol} has {name!r} at {place!r}, in {size}"


def _module_problems(module: LoadedModule) -> Iterator[str]:
    if not isinstance(module.payload, bytes):
        yield f"made a payload of {type(module.payload).__name__}, expected bytes"
    if not _is_count(module.pool_bytes):
        yield f"takes {module.pool_bytes!r} bytes of the module pool"
    for name in (module.runtime.type_key, module.runtime.prefix):
        if cnames.identifier(name) != name:
            yield f"has a runtime named {name!r}, which is not a C identifier"
