"""The firmware gets its two files and the console, and nothing else of this machine."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import pytest

from microgen.running.runner.gdb import GdbError
from microgen.running.runner.qemu import INPUT, OUTPUT
from microgen.running.runner.remote import semihosting
from microgen.running.runner.remote.files import Files

NAME, PLACE = 0x100, 0x200
READ, WRITE = 0, 0x601  # O_RDONLY; O_WRONLY, O_CREAT and O_TRUNC
ENOENT, EPERM, EBADF, EINVAL, ENOSPC = b"2", b"1", b"9", b"16", b"1c"


class Ram:
    """Memory from 0 on."""

    def __init__(self) -> None:
        self.data = bytearray(0x1000)

    def read(self, address: int, size: int) -> bytes:
        if address + size > len(self.data):
            raise GdbError(f"no memory at {address:#x}")
        return bytes(self.data[address : address + size])

    def write(self, address: int, data: bytes) -> None:
        self.data[address : address + len(data)] = data


class Firmware:
    """Asks for files as a server passes it on."""

    def __init__(self, given: bytes | None = b"samples", room: int = 8) -> None:
        self.ram = Ram()
        self.grown: list[int] = []
        self.files = Files(given, room, self.grown.append)

    def ask(self, request: str) -> bytes:
        return semihosting.serve(request.encode(), self.files, self.ram)

    def open(self, name: str, flags: int) -> bytes:
        self.ram.write(NAME, name.encode() + b"\0")
        return self.ask(f"Fopen,{NAME:x}/{len(name) + 1:x},{flags:x},1a4")


def test_samples_are_read_and_results_are_written() -> None:
    one = Firmware()
    assert one.open(INPUT, READ) == b"F3"
    assert one.ask(f"Fread,3,{PLACE:x},5") == b"F5"
    assert one.ask(f"Fread,3,{PLACE + 5:x},5") == b"F2"
    assert one.ask(f"Fread,3,{PLACE:x},5") == b"F0"
    assert one.ram.read(PLACE, 7) == b"samples"
    assert one.open(OUTPUT, WRITE) == b"F4"
    assert one.ask(f"Fwrite,4,{PLACE:x},4") == b"F4"
    assert one.ask("Fclose,4") == b"F0"
    assert bytes(one.files.results) == b"samp"
    assert one.grown == [4]


def test_the_console_is_kept() -> None:
    one = Firmware()
    one.ram.write(PLACE, b"hello")
    assert one.ask(f"Fwrite,1,{PLACE:x},5") == one.ask(f"Fwrite,2,{PLACE:x},5") == b"F5"
    assert one.files.console == "hellohello"
    assert one.ask(f"Fread,0,{PLACE:x},5") == b"F0"
    assert one.ask("Fisatty,1") == b"F1"


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "microgen.json", f"./{INPUT}", f"x/{INPUT}", "", ":tt", "a" * 4000]
)
@pytest.mark.parametrize("flags", [READ, WRITE, 2])
def test_no_other_file_is_opened(name: str, flags: int) -> None:
    assert Firmware().open(name, flags) == b"F-1," + ENOENT


def test_files_are_for_what_they_are_for() -> None:
    assert Firmware().open(INPUT, WRITE) == b"F-1," + ENOENT
    assert Firmware().open(OUTPUT, READ) == b"F-1," + ENOENT
    assert Firmware(given=None).open(INPUT, READ) == b"F-1," + ENOENT
    one = Firmware()
    one.open(INPUT, READ)
    assert one.ask(f"Fwrite,3,{PLACE:x},1") == b"F-1," + EBADF
    for request in (f"Fread,7,{PLACE:x},1", f"Fwrite,4,{PLACE:x},1", "Fclose,4", "Flseek,4,0,0"):
        assert one.ask(request) == b"F-1," + EBADF


def test_results_do_not_grow_without_end() -> None:
    one = Firmware(room=8)
    one.open(OUTPUT, WRITE)
    assert one.ask("Fwrite,4,0,ffffffff") == b"F8"
    assert one.ask("Fwrite,4,0,1") == b"F0"
    assert len(one.files.results) == 8
    assert one.ask("Flseek,4,-1,1") == b"F7"
    assert one.ask("Flseek,4,9,0") == b"F-1," + EINVAL
    assert Firmware(room=4096).files.console == ""


@pytest.mark.parametrize(
    "request_", ["Funlink,0/5", "Frename,0/5,0/5", "Fstat,0/5,0", "Fsystem,0/5", "Fexec,0/5"]
)
def test_everything_else_is_refused(request_: str) -> None:
    assert Firmware().ask(request_) == b"F-1," + EPERM


def test_there_is_no_shell() -> None:
    assert Firmware().ask("Fsystem,0/0") == b"F0"


def test_the_size_of_a_file() -> None:
    one = Firmware()
    one.open(INPUT, READ)
    assert one.ask(f"Ffstat,3,{PLACE:x}") == b"F0"
    state = struct.unpack(">7I3Q3I", one.ram.read(PLACE, 64))
    assert (state[2], state[7]) == (0o100600, 7)
    assert one.ask(f"Fgettimeofday,{PLACE:x},0") == b"F0"
    seconds, micro = struct.unpack(">IQ", one.ram.read(PLACE, 12))
    assert seconds > 1_600_000_000
    assert micro < 1_000_000


@pytest.mark.parametrize(
    "request_",
    [
        *("F", "Fopen", "Fopen,0/5", "Fopen,0,0,0", "Fread,3,zz,1", "Fread,3", "Fclose,"),
        *("Fwrite,1,0", "Fread" + ",1" * 9, "F\xff", "Fopen,0/5,0,0,C"),
    ],
)
def test_what_is_no_request(request_: str) -> None:
    with pytest.raises(GdbError, match="unexpected request"):
        Firmware().ask(request_)


def _calls(one: Firmware, operation: int, *words: int) -> int:
    one.ram.write(0x300, struct.pack(f"<{len(words)}I", *words))
    return semihosting.perform(operation, 0x300, one.files, one.ram)


def test_the_same_by_semihosting() -> None:
    one = Firmware()
    one.ram.write(NAME, INPUT.encode())
    assert _calls(one, 0x01, NAME, 1, len(INPUT)) == 3
    assert _calls(one, 0x06, 3, PLACE, 10) == 3
    assert one.ram.read(PLACE, 7) == b"samples"
    one.ram.write(NAME, OUTPUT.encode())
    assert _calls(one, 0x01, NAME, 5, len(OUTPUT)) == 4
    assert _calls(one, 0x05, 4, PLACE, 10) == 2  # there is room for 8
    assert _calls(one, 0x02, 4) == 0
    assert bytes(one.files.results) == b"samples\0"
    one.ram.write(0xFF0, b"near the end\0")
    assert semihosting.perform(0x04, 0xFF0, one.files, one.ram) == 0
    assert one.files.console == "near the end"


def test_semihosting_reaches_nothing_else() -> None:
    one = Firmware()
    one.ram.write(NAME, b"/etc/passwd")
    assert _calls(one, 0x01, NAME, 0, 11) == 0xFFFFFFFF
    for operation in (*range(0x07, 0x20), 0x30, 0x31, 0xFFFFFFFF):
        assert _calls(one, operation, NAME, 11, NAME, 11) == 0xFFFFFFFF


def _codes() -> Iterator[tuple[str, bytes, int, int | None]]:
    riscv = b"\x13\x10\xf0\x01\x73\x00\x10\x00\x13\x50\x70\x40"
    yield "EM_ARM", b"\xab\xbe", 0x10, 0x12
    yield "EM_ARM", b"\x00\xbe", 0x10, None
    yield "EM_RISCV", riscv, 0x14, 0x18
    yield "EM_RISCV", riscv[:8] + b"\0\0\0\0", 0x14, None


@pytest.mark.parametrize(("machine", "code", "pc", "after"), list(_codes()))
def test_a_call_is_known_by_its_instruction(
    machine: str, code: bytes, pc: int, after: int | None
) -> None:
    ram = Ram()
    ram.write(0x10, code)
    assert semihosting.skipped(machine, pc, ram) == after
