"""Writes a firmware's bytes to RAM or flash, and verifies them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from microgen.base.errors import RunError
from microgen.base.formats.crc32 import crc32
from microgen.base.output import progress
from microgen.running.runner.gdb import GdbError
from microgen.running.runner.remote.description import MemoryRegion
from microgen.running.runner.remote.protocol import Remote
from microgen.verifier.elf import elf

_FLASH = "flash"

Part = tuple[int, bytes]  # a load address, and the bytes from there on


def parts(path: Path) -> tuple[Part, ...]:
    """The bytes of an ELF's loadable segments, by load address. Raises ProjectError."""
    return tuple((segment.load, data) for segment, data in elf.load(path).loaded() if data)


def load(remote: Remote, image: Path, where: str) -> bool:
    """Load an ELF. Flash does not last forever, so nothing is written if the bytes are in memory
    already. Returns whether it was loaded now.

    Raises RunError if memory cannot be written or has other bytes afterwards, and the errors of
    ``Remote``.
    """
    wanted = parts(image)
    # Flash endures a limited number of erasures.
    if all(_is_there(remote, *part) for part in wanted):
        return False
    regions = remote.memory_map()
    size = sum(len(data) for _, data in wanted)
    try:
        progress.count("bytes loaded", 0, size)
        write(remote, wanted, regions)
        progress.count("bytes loaded", size, size)
    except GdbError as error:
        raise _refused(str(error), where) from error
    for part in wanted:
        _check(remote, part, where)
    return True


def write(remote: Remote, wanted: Sequence[Part], regions: Iterable[MemoryRegion]) -> None:
    """Write to flash, by whole blocks that are erased first, and to other memory."""
    flash = [region for region in regions if region.kind == _FLASH]
    in_flash = [(one, part) for part in wanted for one in flash if _meets(one, part)]
    for start, end in _blocks(in_flash):
        remote.erase(start, end - start)
    for region, (address, data) in in_flash:
        first = max(address, region.start)
        remote.program(first, data[first - address : region.end - address])
    if in_flash:
        remote.programmed()
    for address, data in wanted:
        if not any(_meets(region, (address, data)) for region in flash):
            remote.write(address, data)


def _meets(region: MemoryRegion, part: Part) -> bool:
    address, data = part
    return address < region.end and region.start < address + len(data)


def _blocks(placed: Iterable[tuple[MemoryRegion, Part]]) -> list[tuple[int, int]]:
    """The ranges of whole blocks to erase, in order and without repetition."""
    ranges: list[tuple[int, int]] = []
    for start, end in sorted(_whole(region, part) for region, part in placed):
        if ranges and start <= ranges[-1][1]:
            first, last = ranges.pop()
            start, end = first, max(last, end)
        ranges.append((start, end))
    return ranges


def _whole(region: MemoryRegion, part: Part) -> tuple[int, int]:
    """The range of the region's blocks that have bytes of the part."""
    address, data = part
    first = max(address - region.start, 0) // region.block
    last = -(-(min(address + len(data), region.end) - region.start) // region.block)
    return region.start + first * region.block, region.start + last * region.block


def _is_there(remote: Remote, address: int, data: bytes) -> bool:
    """Whether memory has these bytes. A checksum that the server computes decides, if the server
    supports it, because reading the bytes is slower."""
    try:
        answer = remote.command(b"qCRC:%x,%x" % (address, len(data)))
        if answer[:1] == b"C":
            # Servers differ in whether they print leading zeros.
            return answer.lower() in (b"c%x" % crc32(data), b"c%08x" % crc32(data))
        return remote.read(address, len(data)) == data
    except GdbError:
        return False


def _check(remote: Remote, part: Part, where: str) -> None:
    """Read back the bytes that were loaded."""
    address, data = part
    try:
        if _is_there(remote, address, data):
            return
        actual = remote.read(address, len(data))
    except GdbError as error:
        raise _refused(str(error), where) from error
    at = next((k for k, (a, b) in enumerate(zip(actual, data, strict=True)) if a != b), None)
    if at is not None:
        raise RunError(
            f"the firmware was not loaded: at {address + at:#x} there is {actual[at]:#04x} instead "
            f"of {data[at]:#04x}",
            where=where,
            hint="is it the board for which the project was generated, and may its flash be "
            "written?",
        )


def _refused(what: str, where: str) -> RunError:
    return RunError(
        f"the firmware cannot be loaded: {what}",
        where=where,
        hint="is it the board for which the project was generated?",
    )
