"""Checks of the constants: weights, biases and requantization tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

import numpy as np

from microgen.base.errors import MicrogenError
from microgen.base.manifest import BlobRecord, ConstantRecord
from microgen.graph.ir.graph import Array
from microgen.kernels.requantization import transforms
from microgen.verifier.checks import objects
from microgen.verifier.subject import Finding, Subject, judged, judged_by_parameters, not_applicable


def constants_section(subject: Subject) -> Finding:
    """Each constant is one object of its size, aligned to ``--constant-alignment``, in
    ``.rodata.tvm`` or its pool's section, in no writable section, segment or memory.

    Reads: symbols, sections, segments; board.
    """
    records = [record for record in subject.manifest.constants if record.symbol]
    if not records:
        return not_applicable("the model has no constants except those that a caller passes")
    problems = [p for record in records for p in _place_problems(subject, record)]
    sections = ", ".join(dict.fromkeys(objects.section_of(subject, r) for r in records))
    expected = (
        f"{len(records)} objects in {sections}, read-only, each of its size, aligned to "
        f"{_alignment(subject)}"
    )
    total = sum(record.nbytes for record in records)
    actual = f"{len(records)} objects, {total} bytes"
    return judged(expected, problems, actual, objects=len(records), nbytes=total)


def _place_problems(subject: Subject, record: ConstantRecord) -> Iterator[str]:
    alignment = 1 if record.pool else _alignment(subject)
    yield from object_problems(subject, record, alignment)


def object_problems(
    subject: Subject, record: ConstantRecord | BlobRecord, alignment: int = 1
) -> Iterator[str]:
    """Problems of an object that must be in read-only memory."""
    yield from objects.problems(subject, record, alignment)
    symbol = objects.only(subject, record)
    if symbol and objects.is_writable(subject, symbol):
        yield f"{symbol.name} at {symbol.address:#x} is in writable memory"


def _alignment(subject: Subject) -> int:
    """The value of ``--constant-alignment``. The check ``manifest`` fails for an invalid one."""
    asked = subject.manifest.options.get("constant_alignment")
    return asked if isinstance(asked, int) and asked > 0 else 1


def constants_bytes(subject: Subject) -> Finding:
    """Each constant equals its recorded transform
    (``microgen/kernels/requantization/transforms.py``) of the model's parameters; for a
    constant pool that the caller passes, the bytes are those in ``main.c``'s array.

    Reads: the ELF's bytes; parameters.
    """
    records = subject.manifest.constants
    if not records:
        return not_applicable("the model has no constants")
    expected = f"the bytes of {len(records)} constants equal the model's after their transforms"
    total = sum(record.nbytes for record in records)
    return judged_by_parameters(
        subject,
        expected,
        records,
        partial(_byte_problems, subject),
        f"{total} bytes equal",
        nbytes=total,
    )


def _byte_problems(
    subject: Subject, record: ConstantRecord, parameters: Mapping[str, Array]
) -> Iterator[str]:
    channels, most = record.arguments.get("channels"), min(record.nbytes, subject.elf.nbytes)
    if isinstance(channels, int | float) and channels > most:  # before an array of them is made
        yield f"{name_of(record)}: {channels} channels in {most} bytes"
        return
    try:
        wanted = _bytes_of(record, parameters)
    except MicrogenError as error:
        yield f"{name_of(record)}: {error}"
        return
    for address in addresses(subject, record):
        linked = subject.elf.read(address, len(wanted))
        if linked is None:
            yield f"{name_of(record)}: the ELF has no {len(wanted)} bytes at {address:#x}"
        elif linked != wanted:
            yield _first_difference(record, linked, wanted)


def addresses(subject: Subject, record: ConstantRecord) -> list[int]:
    """The addresses of a constant. A constant in a pool that the caller passes is inside main's
    array, if main is the project's."""
    if record.symbol:
        return [symbol.address for symbol in subject.elf.named(record.symbol)]
    arrays = subject.elf.named(subject.manifest.pool_array(record.pool))
    return [symbol.address + record.offset for symbol in arrays]


def name_of(record: ConstantRecord) -> str:
    """A constant's name in messages."""
    return record.symbol or f"{record.pool} + {record.offset}"


def _bytes_of(record: ConstantRecord, parameters: Mapping[str, Array]) -> bytes:
    # A manifest from elsewhere may name anything.
    missing = [name for name in record.sources if name not in parameters]
    if missing:
        raise MicrogenError(f"model/parameters has no {missing[0]!r}")
    sources = [parameters[name] for name in record.sources]
    array = transforms.apply(record.transform, sources, record.arguments)
    # Boards are little-endian on every host.
    return np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()


def _first_difference(record: ConstantRecord, linked: bytes, wanted: bytes) -> str:
    at = next(i for i, pair in enumerate(zip(linked, wanted, strict=True)) if pair[0] != pair[1])
    return f"{name_of(record)}: byte {at} is {linked[at]:#04x}, the model's is {wanted[at]:#04x}"
