"""The payloads of the blob's own format: C source, and constants.

A module of C source, which TVM serialises, but compiles if it can:

    string code, string format, vector<string> functions, vector<string> constants

Constants, and the functions that get them:

    vector<string> names, u64 n, n x NDArray,
    vector<string> symbols, u64 m, m x vector<string> names of the symbol's constants

Source: TVM v0.14, ``src/target/source/source_module.cc``, which has no payload in older versions,
and ``src/runtime/const_loader_module.cc``. Up to v0.8 the latter was called ``metadata``
(``metadata_module.cc``), with the same payload.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from microgen.base.formats import byte_stream
from microgen.base.formats.byte_stream import Stream
from microgen.base.names import cnames
from microgen.graph import ndarray
from microgen.graph.ir.graph import Array
from microgen.relay.blob.payloads.base import Payload, name, names, typed


@dataclass(frozen=True, slots=True)
class CSourceModule(Payload):
    """A module of C source. ``format`` is TVM's name of the code's format: ``c``, ``cc``."""

    code: str
    format: str
    functions: tuple[str, ...]
    const_names: tuple[str, ...] = ()

    @classmethod
    def loads(cls, stream: Stream) -> CSourceModule:
        """Read a payload."""
        return cls(stream.text(), name(stream), names(stream), names(stream))

    def dumps(self) -> bytes:
        """The payload."""
        text = byte_stream.string(self.code) + byte_stream.string(self.format)
        return text + byte_stream.strings(self.functions) + byte_stream.strings(self.const_names)

    @property
    def symbols(self) -> tuple[str, ...]:
        """The functions."""
        return self.functions

    @property
    def constants(self) -> tuple[str, ...]:
        """The constants that the functions get."""
        return self.const_names

    @property
    def texts(self) -> Mapping[str, str]:
        """The code."""
        return {self.format: self.code}


@dataclass(frozen=True, slots=True, eq=False)
class ConstLoader(Payload):
    """``variables``: symbol -> names of its constants, in the order of its ``__init_``.

    ``arrays`` has every constant, or is empty if all of them are elsewhere, as in microgen's
    firmware. The order of both mappings is the payload's.
    """

    variables: Mapping[str, tuple[str, ...]]
    arrays: Mapping[str, Array] = field(default_factory=dict)

    @classmethod
    def loads(cls, stream: Stream) -> ConstLoader:
        """Read a payload; arrays are read-only."""
        array_names = names(stream)
        stream.expect("<Q", len(array_names), "number of arrays")
        arrays = {name: ndarray.loads(stream) for name in array_names}
        symbols = names(stream)
        stream.expect("<Q", len(symbols), "number of lists of constants")
        variables = {symbol: names(stream) for symbol in symbols}
        missing = [
            n for constants in variables.values() for n in constants if arrays and n not in arrays
        ]
        if missing:
            raise stream.refused(f"the constant {cnames.short(missing[0])!r} has no array")
        return cls(variables, arrays)

    def dumps(self) -> bytes:
        """The payload. Raises ProjectError for an array of a dtype that is not supported."""
        arrays = (ndarray.dumps(a, f"constant {n!r}") for n, a in self.arrays.items())
        head = byte_stream.strings([*self.arrays]) + byte_stream.number(len(self.arrays))
        table = byte_stream.strings([*self.variables]) + byte_stream.number(len(self.variables))
        lists = b"".join(map(byte_stream.strings, self.variables.values()))
        return head + b"".join(arrays) + table + lists

    @property
    def facts(self) -> Mapping[str, Any]:
        """``initialises`` (symbol -> names) and ``arrays`` (name -> dtype and shape)."""
        return {
            "initialises": {
                symbol: list(constants) for symbol, constants in self.variables.items()
            },
            "arrays": {name: typed(a.shape, a.dtype.name) for name, a in self.arrays.items()},
        }
