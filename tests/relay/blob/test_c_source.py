"""The blob as C: it compiles without a warning, and the object file contains it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from microgen.relay.blob import writer
from tests.relay.blob.samples import ALL
from tests.support.tools import NEEDS_ARM, NEEDS_CLANG, NEEDS_NINJA, NEEDS_RISCV

_FLAGS = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Wundef", "-Werror", "-O2"]


@pytest.mark.parametrize(
    "compiler",
    [
        pytest.param(["cc"], marks=NEEDS_NINJA),
        pytest.param(["clang", "-Wmissing-variable-declarations"], marks=NEEDS_CLANG),
        pytest.param(["arm-none-eabi-gcc", "-mcpu=cortex-m4"], marks=NEEDS_ARM),
        pytest.param(["riscv64-unknown-elf-gcc"], marks=NEEDS_RISCV),
    ],
    ids=lambda compiler: compiler[0],
)
@pytest.mark.parametrize("prefix", ["", "tvmgen_default"])
def test_an_object_of_the_blobs_bytes(compiler: list[str], prefix: str, tmp_path: Path) -> None:
    blob = ALL["full"]
    (tmp_path / "blob.c").write_bytes(writer.source(blob, "m.relay", prefix))
    command = [*compiler, *_FLAGS, "-c", "blob.c", "-o", "blob.o"]
    subprocess.run(command, cwd=tmp_path, check=True)
    with (tmp_path / "blob.o").open("rb") as file:
        elf = ELFFile(file)
        table = elf.get_section_by_name(".symtab")
        (symbol,) = table.get_symbol_by_name(f"{prefix}__tvm_dev_mblob")
        section = elf.get_section(symbol["st_shndx"])
        assert section.name == ".rodata.tvm"
        assert section["sh_addralign"] == 1
        assert section["sh_flags"] == 2  # allocated, not writable and not code
        assert symbol["st_size"] == len(blob)
        assert symbol["st_info"]["type"] == "STT_OBJECT"
        assert symbol["st_info"]["bind"] == "STB_GLOBAL"
        start = symbol["st_value"]
        assert section.data()[start : start + len(blob)] == blob


def test_twenty_bytes_a_line() -> None:
    text = writer.source(bytes(range(256)) + b"x", "m.relay").decode()
    lines = [line for line in text.splitlines() if line.startswith("0x")]
    assert [line.count("0x") for line in lines] == [20] * 12 + [17]
    assert max(map(len, text.splitlines())) <= 100
    assert (
        bytes.fromhex("".join(lines).replace("0x", "").replace(",", "")) == bytes(range(256)) + b"x"
    )


def test_the_declaration_is_the_definitions() -> None:
    declared = writer.declaration(3, "m_")
    assert declared == "extern const unsigned char m___tvm_dev_mblob[3];"
    assert declared in writer.source(b"abc", "m", "m_").decode()


def test_a_models_name_cannot_leave_the_comment() -> None:
    text = writer.source(b"abc", "x*/ int y; /*\n").decode()
    assert text.count("*/") == 2  # the ends of the licence and of the comment
