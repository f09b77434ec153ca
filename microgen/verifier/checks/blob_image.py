"""The module blob in the ELF."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from microgen.base.errors import MicrogenError
from microgen.base.manifest import ExternalRecord, ModuleRecord
from microgen.relay import blob
from microgen.relay.blob import Blob
from microgen.relay.blob.payloads import PayloadReader
from microgen.relay.blob.payloads.opaque import ExpectedPayload, reader
from microgen.verifier.subject import Subject


@dataclass(frozen=True, slots=True)
class BlobImage:
    """The blob's bytes and contents. ``None`` and a ``problem`` if it cannot be read."""

    data: bytes
    blob: Blob | None
    problem: str = ""


def blob_image(subject: Subject, module: ModuleRecord) -> BlobImage:
    """The blob in the ELF, of a model that has one."""
    assert module.blob is not None
    name = module.blob.symbol
    symbols = [s for s in subject.elf.named(name) if s.kind == "object"]
    data = subject.elf.read(symbols[0].address, symbols[0].size) if len(symbols) == 1 else None
    if not data:
        return BlobImage(b"", None, f"{name} is not one object with bytes")
    try:
        return BlobImage(data, blob.loads(data, known(module.loaded, subject.readers())))
    except MicrogenError as error:
        return BlobImage(data, None, f"{name}: {error}")


def known(
    loaded: Iterable[ExternalRecord], readers: Mapping[str, PayloadReader]
) -> Mapping[str, PayloadReader]:
    """The type keys that a blob of these modules may have. A payload that none of the ``readers``
    can read is recognised by its digest."""
    expected: dict[str, list[ExpectedPayload]] = {}
    for own in loaded:
        symbols = tuple(function.symbol for function in own.functions)
        expected.setdefault(own.type_key, []).append(
            ExpectedPayload(own.nbytes, own.sha256, symbols)
        )
    return {**{key: reader(found) for key, found in expected.items()}, **readers}
