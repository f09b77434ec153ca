"""The check of external functions: their providers, signatures, and the constants that they get."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence

from microgen.base.errors import MicrogenError, of_codegen
from microgen.base.manifest import (
    ExternalRecord,
    FunctionRecord,
    HeldRecord,
    ModuleRecord,
    TypeRecord,
)
from microgen.graph.ir.graph import DType
from microgen.relay.blob import Blob
from microgen.relay.blob.payloads.base import Payload, Signature, typed
from microgen.verifier.checks.module_blob import blob_image
from microgen.verifier.checks.objects import bytes_of, is_writable, split, text_at, words
from microgen.verifier.subject import Finding, Subject, judged, not_applicable

# An mg_module_constant: name; data, device type and number, number of dimensions, the dtype's code,
# bits and lanes, shape, strides, offset. The key is its size with pointers of 4 and 8 bytes.
_CONSTANT = {48: "<I4xIiiiBBHII4xQ", 56: "<QQiiiBBHQQQ"}
_CPU = 1  # kDLCPU
_CODES = {"i": 0, "u": 1, "f": 2, "b": 1}  # DLDataTypeCode; a bool is a uint
_DTYPES = {
    kind.value: (_CODES[kind.numpy.kind], 1 if kind is DType.BOOL else 8 * kind.nbytes, 1)
    for kind in DType
}


def external_functions(subject: Subject) -> Finding:
    """Each external function is exactly one function symbol; exactly one module, with the
    planned type key, provides a function that a runtime computes, and no module provides a
    function in C; a payload whose codegen says so (a JSON graph, ExampleJSON) has the planned
    shapes and dtypes of inputs, outputs and constants, and names of constants;
    ``tvmgen_<m>_module_symbols`` and ``-module_constants``, which nothing writes, have each
    symbol, and each constant with its name, address, shape and dtype.

    Reads: symbols, the blob, the tables of ``<m>_modules.c``; manifest.
    """
    module = subject.manifest
    if not module.external:
        return not_applicable("the model has no external functions")
    problems = [p for own in module.external for p in _code_problems(subject, own)]
    if module.blob is not None:
        problems += _module_problems(subject, module)
        problems += _table_problems(subject, module)
    functions = [f.symbol for own in module.external for f in own.functions]
    expected = (
        f"{len(functions)} external functions, each provided once, with the types and constants of "
        f"the plan"
    )
    return judged(expected, problems, f"{len(functions)} as planned", functions=len(functions))


def _code_problems(subject: Subject, own: ExternalRecord) -> Iterator[str]:
    """Problems of the C function, which is the generator's code or calls a module."""
    for function in own.functions:
        symbols = subject.elf.named(function.symbol, "func")
        if len(symbols) != 1:
            yield f"{len(symbols)} functions are named {function.symbol}"


def _module_problems(subject: Subject, module: ModuleRecord) -> Iterator[str]:
    image = blob_image(subject, module)
    if image.blob is None:
        yield image.problem
        return
    for own in module.external:
        for function in own.functions:
            yield from _provider_problems(image.blob, own, function)


def _provider_problems(blob: Blob, own: ExternalRecord, function: FunctionRecord) -> Iterator[str]:
    pairs = zip(blob.modules, blob.contents, strict=True)
    provided = [(m, c) for m, c in pairs if c is not None and function.symbol in c.symbols]
    # C code computes a function, or a runtime on the board does, and never both.
    if len(provided) != (own.kind == "runtime"):
        yield f"{len(provided)} modules of the blob provide {function.symbol}"
    elif provided:
        ((provider, content),) = provided
        if provider.type_key != own.type_key:
            yield f"{function.symbol} is of {provider.type_key}, planned {own.type_key}"
        else:
            yield from signature_problems(function, own.codegen, content)


def _table_problems(subject: Subject, module: ModuleRecord) -> Iterator[str]:
    """Problems of the tables through which the functions of modules find their loaded functions and
    pass constants to the loader."""
    functions = [function for own in module.loaded for function in own.functions]
    symbols, wanted = f"{module.prefix}_module_symbols", [f.symbol for f in functions]
    asked = [text_at(subject, address) for address in words(subject, symbols, len(wanted))]
    if asked != wanted:
        yield f"{symbols} has {', '.join(asked) or 'nothing'}, planned {', '.join(wanted)}"
    held = [constant for function in functions for constant in function.constants]
    constants = f"{module.prefix}_module_constants"
    if held:
        yield from _constants_problems(subject, constants, held)
    for name in (symbols, constants):
        if any(is_writable(subject, symbol) for symbol in subject.elf.named(name)):
            yield f"{name} is in writable memory"


def _constants_problems(subject: Subject, table: str, held: list[HeldRecord]) -> Iterator[str]:
    data = bytes_of(subject, table) or b""
    layout = _CONSTANT.get(len(data) // len(held))
    if layout is None or len(data) % len(held):
        yield f"{table} is not one table of {len(held)} constants"
        return
    for record, entry in zip(held, struct.iter_unpack(layout, data), strict=True):
        kind = typed(record.shape, record.dtype)
        if not _is_planned(subject, record, entry):
            yield f"{table} does not have {record.name} as {record.symbol}, {kind}"
        elif entry[1] % DType(record.dtype).nbytes:
            yield f"{record.symbol} at {entry[1]:#x} is not aligned to its elements"


def _is_planned(subject: Subject, record: HeldRecord, entry: tuple[int, ...]) -> bool:
    name, data, device, number, ndim, code, bits, lanes, shape, strides, offset = entry
    dims, dtype = len(record.shape), _DTYPES.get(record.dtype)
    return (
        text_at(subject, name) == record.name
        and [s.address for s in subject.elf.named(record.symbol)] == [data]
        and (device, number, ndim, (code, bits, lanes)) == (_CPU, 0, dims, dtype)
        and split((subject.elf.read(shape, 8 * dims) or b"") if dims else b"", 8) == [*record.shape]
        and (strides, offset) == (0, 0)
    )


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
    # A signature has the types of inputs and outputs, and the types and names of constants.
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
