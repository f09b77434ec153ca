from __future__ import annotations

import importlib.metadata
import platform
from pathlib import Path

import pytest

from microgen.building import doctor, tools
from microgen.interface.cli import main


def status(name: str) -> doctor.ToolStatus:
    return next(status for status in doctor.doctor() if status.name == name)


@pytest.fixture
def bin_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, the only one in which programs are looked for."""
    monkeypatch.setattr(tools, "search_path", lambda: str(tmp_path))
    return tmp_path


def put(folder: Path, name: str, script: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


@pytest.mark.parametrize(
    ("printed", "version"),
    [
        ("cmake version 3.25.1\n\nCMake suite maintained by 9.9", "3.25.1"),
        ("1.11.1\n", "1.11.1"),
        ("arm-none-eabi-gcc (15:12.2.rel1-1) 12.2.1 20221205\n", "12.2.1"),
        ("riscv64-unknown-elf-gcc () 12.2.0\n", "12.2.0"),
        ("QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7)\n", "7.2.22"),
        ("GNU gdbserver (Debian 13.1-3) 13.1\n", "13.1"),
        ("Debian clang version 14.0.6\nTarget: x86_64-pc-linux-gnu\n", "14.0.6"),
        ("Debian LLD 14.0.6 (compatible with GNU linkers)\n", "14.0.6"),
        ("no number\n", "unknown version"),
    ],
)
def test_versions_are_read_as_programs_print_them(printed: str, version: str):
    assert tools.version_in(printed) == version


@pytest.mark.usefixtures("bin_folder")  # programs take longer to ask
def test_python_and_packages_have_their_versions():
    assert status("python").found == platform.python_version()
    assert status("numpy").found == importlib.metadata.version("numpy")


def test_a_program_that_is_there_has_its_version(bin_folder: Path):
    put(bin_folder, "cmake", "echo cmake version 3.99.0")
    assert status("cmake") == doctor.ToolStatus("cmake", "3.99.0", "build", "", True)


@pytest.mark.usefixtures("bin_folder")
@pytest.mark.parametrize(
    ("name", "package"),
    [
        ("cmake", "cmake"),
        ("ninja", "ninja-build"),
        ("arm-none-eabi-gcc", "gcc-arm-none-eabi"),
        ("qemu-system-arm", "qemu-system-arm"),
        ("newlib", "libnewlib-arm-none-eabi"),
        ("riscv64-unknown-elf-gcc", "gcc-riscv64-unknown-elf"),
        ("clang", "clang"),
        ("ld.lld", "lld"),
        ("qemu-system-riscv32", "qemu-system-misc"),
        ("compiler-rt", "clang"),
        ("g++", "g++"),
    ],
)
def test_a_missing_program_says_what_to_type(name: str, package: str):
    missing = status(name)
    assert missing.found == ""
    assert missing.install.startswith("apt-get install ")
    assert package in missing.install


def test_a_compiler_that_cannot_link_is_noticed(bin_folder: Path):
    put(bin_folder, "arm-none-eabi-gcc", 'test "$1" = --version')
    assert status("arm-none-eabi-gcc").found
    assert status("newlib").install == "apt-get install libnewlib-arm-none-eabi"
    put(bin_folder, "arm-none-eabi-gcc", "exit 0")
    assert status("newlib").found == "present"


def test_the_package_of_the_sanitizers_has_clangs_version(bin_folder: Path):
    script = 'case "$*" in *--version*) echo clang version 18.1.3 ;; *-fsanitize*) exit 1 ;; esac'
    put(bin_folder, "clang", script)
    assert status("clang").found == "18.1.3"
    assert status("compiler-rt").install == "apt-get install libclang-rt-18-dev"


def test_a_program_that_fails_counts_as_missing(bin_folder: Path):
    put(bin_folder, "ninja", "exit 1")
    assert status("ninja").found == ""
    assert status("ninja").install == "apt-get install ninja-build"


@pytest.mark.parametrize("tool", tools.TOOLS, ids=lambda tool: tool.name)
def test_exit_1_only_without_what_a_default_command_needs(
    tool: tools.Tool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    states = {other.name: tools.ToolState("1", ()) for other in tools.TOOLS}
    monkeypatch.setattr(tools, "states", lambda: states)
    assert main(["doctor"]) == 0
    states[tool.name] = tools.ToolState("", ("a-package",))
    optional = tool.name not in {
        *("cmake", "ninja", "cc", "objdump", "qemu-system-arm"),
        *("newlib", "arm-none-eabi-gcc", "arm-none-eabi-objdump"),
    }
    assert main(["doctor"]) == (0 if optional else 1)
    assert "apt-get install a-package" in capsys.readouterr().out


@pytest.mark.usefixtures("bin_folder")
def test_a_missing_package_says_what_to_type(monkeypatch: pytest.MonkeyPatch):
    def absent(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", absent)
    assert status("tflite").install == "pip install tflite"
