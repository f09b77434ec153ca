"""Payloads whose form only their runtime knows. A blob does not contain their lengths, so their
sizes must be known in advance."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from microgen.base.formats.byte_stream import Stream
from microgen.relay.blob.payloads.base import Payload, PayloadReader


@dataclass(frozen=True, slots=True)
class Opaque(Payload):
    """Bytes, and the functions that they are known to provide."""

    data: bytes
    functions: tuple[str, ...] = ()

    def dumps(self) -> bytes:
        """The payload."""
        return self.data

    @property
    def symbols(self) -> tuple[str, ...]:
        """The functions."""
        return self.functions


@dataclass(frozen=True, slots=True)
class ExpectedPayload:
    """A payload by its size and SHA-256, and the functions that it provides."""

    nbytes: int
    sha256: str
    functions: tuple[str, ...]


def reader(expected: Sequence[ExpectedPayload]) -> PayloadReader:
    """Reads any one of the payloads, and refuses others."""

    def loads(stream: Stream) -> Payload:
        start = stream.at
        for one in expected:
            # A shorter rest has another digest, and is refused below.
            data = stream.take(min(one.nbytes, stream.left))
            if hashlib.sha256(data).hexdigest() == one.sha256:
                return Opaque(data, one.functions)
            # Another payload may begin at the same byte, because the blob does not tell which one
            # is next.
            stream.at = start
        raise stream.refused(f"the payload is not one of the {len(expected)} known ones")

    return loads
