"""Zephyr's tools, as the tests in this folder use them."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from microgen.building import toolchain

WARNINGS_ARE_ERRORS = "-DCONFIG_COMPILER_WARNINGS_AS_ERRORS=y"
RUN_IN_RISC_V = "qemu_riscv32"


def skip_without_zephyr() -> None:
    """Skips the module that calls it while it is imported."""
    if "ZEPHYR_BASE" not in os.environ or shutil.which("west") is None:
        pytest.skip(
            "set ZEPHYR_BASE to a west workspace's Zephyr and put west into PATH: "
            "docs/guides/zephyr.md",
            allow_module_level=True,
        )


def compiler(board: str) -> dict[str, str]:
    """The variables that docs/guides/zephyr.md names for a board, for the installed compilers."""
    if board.startswith("native"):
        return {"ZEPHYR_TOOLCHAIN_VARIANT": "host"}
    if board == RUN_IN_RISC_V:
        gcc = str(shutil.which("riscv64-unknown-elf-gcc"))
        found = {"ZEPHYR_TOOLCHAIN_VARIANT": "cross-compile"}
        return {**found, "CROSS_COMPILE": gcc.removesuffix("gcc")}
    gcc = str(shutil.which("arm-none-eabi-gcc"))
    found = {"ZEPHYR_TOOLCHAIN_VARIANT": "gnuarmemb"}
    return {**found, "GNUARMEMB_TOOLCHAIN_PATH": str(Path(gcc).parent.parent)}


def west(
    arguments: list[str | Path], board: str, variables: Mapping[str, str] = {}
) -> toolchain.Finished:
    """Runs west in the workspace, with the compiler for a board or with other variables."""
    settings = [f"{name}={value}" for name, value in (variables or compiler(board)).items()]
    command = ["env", *settings, "west", *arguments]
    return toolchain.run(command, seconds=600, cwd=Path(os.environ["ZEPHYR_BASE"]))


def build(project: Path, build: Path, board: str, *options: str) -> toolchain.Finished:
    """``west build`` with warnings as errors."""
    arguments = ["build", "-b", board, project, "-d", build, "--", WARNINGS_ARE_ERRORS, *options]
    return west(arguments, board)


def built(project: Path, folder: Path, board: str, *options: str) -> Path:
    """The ELF of a build that succeeded."""
    finished = build(project, folder, board, *options)
    assert finished.ok, finished.output[-4000:]
    elf = folder / "zephyr" / "zephyr.elf"
    return elf if elf.is_file() else elf.with_suffix(".exe")


def run(folder: Path, board: str) -> toolchain.Finished:
    """``west build -t run``."""
    return west(["build", "-d", folder, "-t", "run"], board)


def lines(console: str) -> list[str]:
    """The lines in which the application printed outputs."""
    return re.findall(r"^microgen: output .*?(?=\r?$)", console, re.M)
