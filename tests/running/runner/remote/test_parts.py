"""Addresses of servers, sums and blocks of flash, and counters."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import cast

import pytest

from microgen.base.errors import UsageError
from microgen.base.formats.crc32 import crc32
from microgen.running.runner.job import Cycles
from microgen.running.runner.remote import address, cycles, loading
from microgen.running.runner.remote.address import Address
from microgen.running.runner.remote.cycles import Counter, Missing
from microgen.running.runner.remote.description import DebugRegister, Description, MemoryRegion
from microgen.running.runner.remote.protocol import Remote
from tests.running.runner.remote.fake import slow_crc


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("gdb:board.local:3333", Address("gdb", "board.local:3333", "board.local", 3333)),
        ("gdb:3333", Address("gdb", "3333", "localhost", 3333)),
        ("gdb::1", Address("gdb", ":1", "localhost", 1)),
        ("gdb:[::1]:65535", Address("gdb", "[::1]:65535", "::1", 65535)),
        ("openocd:board/st_nucleo_f4.cfg", Address("openocd", "board/st_nucleo_f4.cfg")),
        ("pyocd:stm32f405rg", Address("pyocd", "stm32f405rg")),
    ],
)
def test_addresses(text: str, found: Address) -> None:
    assert address.parse(text) == found
    assert str(found) == text


@pytest.mark.parametrize(
    "text",
    [
        *("gdb", "gdb:", "gdb:h:", "gdb:h:0", "gdb:h:65536", "gdb:::1:3", "gdb:h:3\n"),
        *("gdb:h:-1", "openocd:", "pyocd:", "pyocd:--script=x", "pyocd:a b", "jlink:x", "/dev/tty"),
        *("gdb:[]:1", "gdb:[:1", "gdb:..:1", "gdb:a..b:1", f"gdb:{'x' * 64}:1", "gdb:\udcff:1"),
    ],
)
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(UsageError, match="expected gdb:HOST:PORT"):
        address.parse(text)


def test_the_protocols_sum() -> None:
    assert crc32(b"123456789") == 0x0376E6E7  # the check value of CRC-32/MPEG-2
    for size in (0, 1, 100):
        data = random.Random(size).randbytes(size)
        assert crc32(data) == slow_crc(data)


class Flash:
    """Notes what is erased and written."""

    def __init__(self, regions: tuple[MemoryRegion, ...]) -> None:
        self.regions = regions
        self.log: list[tuple[object, ...]] = []

    def erase(self, address: int, size: int) -> None:
        self.log.append(("erase", address, size))

    def program(self, address: int, data: bytes) -> None:
        self.log.append(("program", address, data))

    def programmed(self) -> None:
        self.log.append(("done",))

    def write(self, address: int, data: bytes) -> None:
        self.log.append(("write", address, data))


def test_flash_is_erased_by_blocks_and_ram_is_not() -> None:
    flash = Flash((MemoryRegion("flash", 0, 0x40, 0x10), MemoryRegion("flash", 0x40, 0x100, 0x40)))
    parts = [(0x08, b"a" * 4), (0x12, b"b"), (0x3C, b"cccCCC"), (0x2000, b"ram")]
    loading.write(cast(Remote, flash), parts, flash.regions)
    assert flash.log == [
        ("erase", 0, 0x20),
        ("erase", 0x30, 0x50),
        ("program", 0x08, b"aaaa"),
        ("program", 0x12, b"b"),
        ("program", 0x3C, b"cccC"),
        ("program", 0x40, b"CC"),
        ("done",),
        ("write", 0x2000, b"ram"),
    ]


class Core:
    """Memory and registers; ``ticks`` are added to a counter each time it is read."""

    def __init__(self, words: Mapping[int, int], ticks: int = 0, fixed: int = 0) -> None:
        self._words = dict(words)
        self._ticks, self._fixed = ticks, fixed

    def read(self, address: int, size: int) -> bytes:
        if address == 0xE0001004:
            self._words[address] = self._words.get(address, 0) + self._ticks
        return self._words.get(address, 0).to_bytes(size, "little")

    def write(self, address: int, data: bytes) -> None:
        if address != self._fixed:
            self._words[address] = int.from_bytes(data, "little")

    def register(self, register: DebugRegister) -> int:
        self._words[register.number] = self._words.get(register.number, 0) + self._ticks
        return self._words[register.number]


def _find(core: Core, machine: str = "EM_ARM", **registers: int) -> Counter | Missing:
    known = {name: DebugRegister(number, 4) for name, number in registers.items()}
    return cycles.find(cast(Remote, core), machine, Description(registers=known))


def test_counters_are_trusted_only_if_they_stand_still() -> None:
    found = _find(Core({}))
    assert isinstance(found, Counter)
    assert (found.name, found.bits) == ("DWT CYCCNT", 32)
    for core, why in (
        (Core({}, ticks=1), "also counts while the core is stopped"),
        (Core({0xE0001000: 1 << 25}), "DWT has no cycle counter"),
        (Core({}, fixed=0xE0001000), "no DWT cycle counter"),
    ):
        missing = _find(core)
        assert isinstance(missing, Missing)
        assert why in missing.why


def test_mcycle_has_two_halves() -> None:
    found = _find(Core({9: 0xFFFFFFFF, 10: 1}), "EM_RISCV", mcycle=9, mcycleh=10)
    assert isinstance(found, Counter)
    assert (found.bits, found.read()) == (64, 0x1FFFFFFFF)
    narrow = _find(Core({}), "EM_RISCV", mcycle=9)
    assert isinstance(narrow, Counter)
    assert narrow.bits == 32
    assert isinstance(_find(Core({}), "EM_RISCV"), Missing)
    assert isinstance(_find(Core({}, ticks=1), "EM_RISCV", mcycle=9), Missing)


def test_cycles_that_may_be_wrong_are_not_told() -> None:
    counter = Counter("c", 32, lambda: 0)
    assert counter.between(0xFFFFFFF0, 0x10, 0.1, 0) == 0x20
    assert counter.between(5, 5, 0.1, 0) is None  # it stands still
    assert counter.between(0, 5, 4.4, 0) is None  # at 1 GHz it starts anew after 4.3 s
    assert counter.between(0, 5, 4.4, 100_000_000) == 5
    assert counter.between(0, 5, 44, 100_000_000) is None


def test_cycles_as_text() -> None:
    assert str(Cycles((1234, 1234), "c")) == "cycles per inference: 1,234 (by c)"
    assert str(Cycles((1234, 12345), "c")) == "cycles per inference: 1,234 to 12,345 (by c)"
    assert str(Cycles(None, why="none")) == "cycles per inference: n/a (none)"
    known = Cycles((9,), "c", per_call=(((9, 4, 3), (5, 1)),)).to_json()
    assert known == {"counts": [9], "counter": "c", "why": "", "per_call": [[4, 3, 1]]}
