"""A module of C source, which TVM serialises, but compiles if it can.

    string code, string format, vector<string> functions, vector<string> constants

Source: TVM v0.14, ``src/target/source/source_module.cc``; it has no payload in older versions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from microgen.base.formats import byte_stream
from microgen.base.formats.byte_stream import Stream
from microgen.relay.blob.payloads.base import Payload, name, names


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
