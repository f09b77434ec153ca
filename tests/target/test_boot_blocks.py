"""Boards whose boot ROM wants a block in flash: built, verified, and tampered with.

No emulator has the boot ROMs. So the second stage is executed here, instruction by instruction, and
its checksum is computed again with another CRC.
"""

from __future__ import annotations

import atexit
import functools
import shutil
import struct
import tempfile
import zlib
from dataclasses import replace
from pathlib import Path

import pytest

import microgen
from microgen import verifier
from microgen.base.formats.crc32 import crc32
from microgen.building import toolchain
from microgen.target import board as boards
from microgen.target.board import BLOCKS
from microgen.verifier.elf import elf as elf_reader
from tests.support.places import ROOT, SMALL
from tests.support.tools import NEEDS_ARM_GCC, NEEDS_LLVM, NEEDS_NINJA
from tests.tamper.elf32 import Elf32

BOARDS = [name for name in boards.available() if boards.load(name).boot]
FLASH = 0x10000000
COPIED_TO = 0x20041F00  # the boot ROM runs the second stage from here
SSI, VTOR = 0x18000000, 0xE000ED08
SOURCES = ROOT / "crt" / "src" / "platform"


@functools.cache
def firmware(board: str) -> Path:
    """A built project: read it only."""
    folder = Path(tempfile.mkdtemp(prefix="microgen-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    microgen.generate(SMALL, board, folder / "p")
    microgen.build(folder / "p")
    return folder / "p"


def _block(board: str) -> tuple[int, bytes]:
    """The address and the bytes of the board's block, from its symbol."""
    elf = elf_reader.load(firmware(board) / "build" / "firmware.elf")
    (symbol,) = elf.named("mg_boot_block")
    data = elf.read(elf.code_address(symbol), symbol.size)
    assert data is not None
    return elf.code_address(symbol), data


@pytest.mark.sampled(1)
@NEEDS_NINJA
@NEEDS_ARM_GCC
@pytest.mark.parametrize("board", BOARDS)
def test_its_firmware_is_verified(board: str) -> None:
    report = microgen.verify(firmware(board))
    assert report.ok, report.failed
    said, block = report.check("boot_block"), BLOCKS[boards.load(board).boot]
    address = FLASH if block.is_first else FLASH + 64
    assert (said.status, said.values) == ("ok", {"address": address, "nbytes": block.nbytes})
    assert _block(board)[0] == address
    assert report.check("vector_table").status == "ok"
    vectors = elf_reader.load(firmware(board) / "build" / "firmware.elf").named("vectors")
    assert [v.address for v in vectors] == [FLASH + block.before_vectors]


def test_the_boards_of_both_chips_are_there() -> None:
    assert {boards.load(name).boot for name in BOARDS} == BLOCKS.keys()
    assert not microgen.compile_model(SMALL, "mps2_an386").files.files.get("boards/boot.S")


def _reversed(value: int, bits: int) -> int:
    return int(f"{value:0{bits}b}"[::-1], 2)


def _crc(data: bytes) -> int:
    """The same checksum by zlib, which takes bits in the other order and inverts the result."""
    other = zlib.crc32(bytes(_reversed(byte, 8) for byte in data)) ^ 0xFFFFFFFF
    return _reversed(other, 32)


def test_the_checksum_is_the_one_of_the_data_sheet() -> None:
    assert crc32(b"123456789") == _crc(b"123456789") == 0x0376E6E7  # CRC-32/MPEG-2
    assert crc32(bytes(252)) == _crc(bytes(252))


class SecondStage:
    """Executes Thumb code of a block at an address, as far as RP2040's second stage needs it."""

    def __init__(self, code: bytes, at: int, memory: dict[int, int]) -> None:
        self.code, self.at, self.memory = code, at, memory
        self.registers, self.stack, self.pc = [0] * 16, 0, at
        self.written: list[tuple[int, int]] = []

    def half(self, address: int) -> int:
        return int(struct.unpack_from("<H", self.code, address - self.at)[0])

    def word(self, address: int) -> int:
        if self.at <= address < self.at + len(self.code):
            return self.half(address) | self.half(address + 2) << 16
        return self.memory[address]

    def run(self) -> None:
        """Up to the ``bx``, whose target is then the program counter."""
        while self.at <= self.pc < self.at + len(self.code):
            self.step(self.half(self.pc))

    def step(self, code: int) -> None:
        r, low, middle = self.registers, code & 7, code >> 3 & 7
        size = 2
        if code >> 11 == 0b01001:  # ldr, from the next aligned words
            r[code >> 8 & 7] = self.word((self.pc + 4 & ~3) + 4 * (code & 0xFF))
        elif code >> 11 == 0b00100:  # movs
            r[code >> 8 & 7] = code & 0xFF
        elif code >> 11 == 0b01100:  # str, with an offset
            self.written.append((r[middle] + 4 * (code >> 6 & 31), r[low]))
        elif code >> 9 == 0b0101000:  # str, with a register as offset
            self.written.append((r[middle] + r[code >> 6 & 7], r[low]))
        elif code >> 11 == 0b11001:  # ldmia
            for number in (n for n in range(8) if code >> n & 1):
                r[number] = self.word(r[code >> 8 & 7])
                r[code >> 8 & 7] += 4
        elif code >> 4 == 0xF38 and self.half(self.pc + 2) == 0x8808:  # msr msp
            self.stack, size = r[code & 15], 4
        elif code >> 7 == 0b010001110:  # bx
            self.pc = r[code >> 3 & 15]
            return
        else:
            raise AssertionError(f"{code:#06x} at {self.pc:#x}")
        self.pc += size


@NEEDS_NINJA
@NEEDS_ARM_GCC
def test_rp2040_is_set_to_read_flash_and_starts_the_program() -> None:
    """The SSI's registers: RP2040 datasheet, 4.10.13. They are written while it is off."""
    address, code = _block("rp2040")
    assert (address, len(code)) == (FLASH, 256)
    assert struct.unpack("<I", code[252:])[0] == _crc(code[:252])
    elf = elf_reader.load(firmware("rp2040") / "build" / "firmware.elf")
    vectors = {FLASH + 256 + n: elf.word(FLASH + 256 + n) or 0 for n in (0, 4)}
    stage = SecondStage(code, COPIED_TO, vectors)
    stage.run()
    off, *set_up, on, table = stage.written
    assert (off, on) == ((SSI + 0x08, 0), (SSI + 0x08, 1))
    assert dict(set_up) == {
        SSI + 0x00: 0x001F0300,  # CTRLR0: 32 bits per frame, send then receive, one data line
        SSI + 0x04: 0,  # CTRLR1: one frame
        SSI + 0x14: 4,  # BAUDR: an even divisor
        SSI + 0xF4: 0x03000218,  # SPI_CTRLR0: command 03h of 8 bits, 24 bits of address, no wait
    }
    assert table == (VTOR, FLASH + 256)
    assert stage.stack == elf.named("__stack_top")[0].address
    assert stage.pc == elf.entry == elf.named("Reset_Handler")[0].address


@NEEDS_NINJA
@NEEDS_ARM_GCC
def test_rp2350_is_told_what_the_image_is() -> None:
    """The 20 bytes that RP2350's datasheet gives in 5.9.5.1."""
    address, block = _block("rp2350")
    assert FLASH <= address <= FLASH + 4096 - len(block)
    assert block.hex(" ", 4) == "d3deffff 42012110 ff010000 00000000 793512ab"


def _changed(board: str, folder: Path, offset: int, flip: int = 1) -> Path:
    elf = Elf32((firmware(board) / "build" / "firmware.elf").read_bytes())
    start = elf.data.find(_block(board)[1])
    elf.data[start + offset] ^= flip
    (folder / "changed.elf").write_bytes(elf.data)
    return folder / "changed.elf"


def _said(board: str, elf: Path) -> verifier.Check:
    subject = replace(verifier._subject(firmware(board), elf), with_project_files=False)
    return verifier._run(verifier.CHECKS["boot_block"], subject)


@NEEDS_NINJA
@NEEDS_ARM_GCC
@pytest.mark.parametrize("board", BOARDS)
def test_a_changed_byte_is_noticed(board: str, tmp_path: Path) -> None:
    nbytes = BLOCKS[boards.load(board).boot].nbytes
    for offset in {*range(0, nbytes, 23), *range(20), nbytes - 1}:
        said = _said(board, _changed(board, tmp_path, offset, 1 << offset % 8))
        assert said.status == "failed", offset
    report = microgen.verify(firmware(board), elf=tmp_path / "changed.elf", scope="project")
    assert "boot_block" in [check.name for check in report.failed]


@NEEDS_NINJA
@NEEDS_ARM_GCC
def test_what_is_wrong_is_said(tmp_path: Path) -> None:
    right = _crc(_block("rp2040")[1][:252])
    said = _said("rp2040", _changed("rp2040", tmp_path, 252)).found
    assert said == f"its checksum is {right ^ 1:#010x}, its bytes have {right:#010x}"
    for offset, expected in {
        0: "there is none at or after 0x10000000",
        4: "its item is 0x43 of 1 words",
        6: "its image type is 0x1020, expected 0x1021, a Secure program for Arm and RP2350",
        9: "its last item is 0x000000ff, expected 0x000001ff",
        12: "its next block is at 0x1 from it, expected itself",
        19: "it ends with 0xaa123579, expected 0xab123579",
    }.items():
        assert expected in _said("rp2350", _changed("rp2350", tmp_path, offset)).found


@NEEDS_NINJA
@NEEDS_ARM_GCC
def test_an_edited_second_stage_needs_its_new_checksum(tmp_path: Path) -> None:
    """Somebody makes the flash's clock slower, and does what `verify` says."""
    project = tmp_path / "p"
    shutil.copytree(firmware("rp2040"), project, ignore=shutil.ignore_patterns("build"))
    file = project / "boards" / "boot.S"
    file.write_text(file.read_text().replace("#define DIVISOR 4", "#define DIVISOR 8"))
    microgen.build(project)
    said = microgen.verify(project, project_files=False).check("boot_block")
    assert said.status == "failed"
    stored, expected = said.found.split("0x")[1][:8], said.found.split("0x")[2][:8]
    text = file.read_text()
    assert stored.upper() in text
    file.write_text(text.replace(stored.upper(), expected))
    microgen.build(project)
    assert microgen.verify(project, project_files=False).ok


@NEEDS_LLVM
@NEEDS_ARM_GCC
@pytest.mark.parametrize("name", BLOCKS)
def test_clang_assembles_the_same_bytes(name: str, tmp_path: Path) -> None:
    cpu = boards.load(next(n for n in BOARDS if boards.load(n).boot == name)).cpu
    found = []
    for tool, flags in (
        ("arm-none-eabi-gcc", cpu.flags("gcc")),
        ("clang", (f"--target={cpu.triple}", *cpu.flags("llvm"))),
    ):
        source, made = SOURCES / BLOCKS[name].source, tmp_path / f"{tool}.o"
        assert toolchain.run([tool, *flags, "-c", source, "-o", made], seconds=20).ok
        copied = ["arm-none-eabi-objcopy", "-O", "binary", "-j", ".boot", made, tmp_path / tool]
        assert toolchain.run(copied, seconds=20).ok
        found.append((tmp_path / tool).read_bytes())
    assert found[0] == found[1]
    assert len(found[0]) == BLOCKS[name].nbytes
