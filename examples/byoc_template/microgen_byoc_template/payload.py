"""The payload of a module: one function as a tape, as ``runtime/vectape.h`` describes it."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from microgen.base.formats.byte_stream import Stream, number, string
from microgen.relay.blob.payloads import Payload
from microgen.relay.blob.payloads.base import name

OPCODES = {"add": 1, "multiply": 2, "nn.relu": 3}
_NAMES = {code: op for op, code in OPCODES.items()}
_COMMAND = struct.Struct("<BBBBI")
Command = tuple[int, int, int, int, int]  # opcode, two operands and the result, elements


@dataclass(frozen=True)
class Tape(Payload):
    """``header``: the numbers of inputs, outputs and temporaries, and the bytes of a slot."""

    symbol: str
    header: tuple[int, int, int, int]
    commands: tuple[Command, ...]

    @classmethod
    def loads(cls, stream: Stream) -> Tape:
        """Read a payload, for ``microgen inspect`` and ``verify``."""
        symbol = name(stream)
        inputs, outputs, temporaries, slot = (stream.number() for _ in range(4))
        commands = tuple(_COMMAND.unpack(stream.take(_COMMAND.size)) for _ in range(stream.count()))
        unknown = sorted({code for code, *_ in commands} - _NAMES.keys())
        if unknown:
            raise stream.refused(f"the tape of {symbol} has the opcode {unknown[0]}")
        return cls(symbol, (inputs, outputs, temporaries, slot), commands)

    def dumps(self) -> bytes:
        """The bytes that the runtime loads."""
        counts = (*self.header, len(self.commands))
        commands = (_COMMAND.pack(*command) for command in self.commands)
        return b"".join([string(self.symbol), *map(number, counts), *commands])

    @property
    def symbols(self) -> tuple[str, ...]:
        """The function."""
        return (self.symbol,)

    @property
    def facts(self) -> Mapping[str, Any]:
        """The summary that ``microgen inspect`` prints."""
        return {"commands": [_NAMES[code] for code, *_ in self.commands]}
