"""A project's files for Zephyr, as far as they can be checked without Zephyr."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

import microgen
from microgen.building import toolchain
from microgen.building.builder import build
from microgen.target import board as boards
from tests.support.minimal_project import assemble, write
from tests.support.places import SMALL
from tests.support.tools import NEEDS_NINJA

_SOURCE = re.compile(r"^\s+(\S+\.(?:c|s))$", re.M)


def zephyr_branch(cmake: str) -> str:
    return cmake.split("if(MICROGEN_ZEPHYR)")[1].split("return()")[0]


@pytest.mark.parametrize("board", boards.available())
def test_zephyr_starts_the_program_and_microgen_does_not(board: str) -> None:
    files = assemble(board).files
    named = _SOURCE.findall(zephyr_branch(files["CMakeLists.txt"].decode()))
    assert "src/main.c" in named
    assert "src/platform_zephyr.c" in named
    assert set(named) <= set(files)
    start = {
        "src/platform.c",
        "boards/startup.c",
        "crt/src/platform/start.c",
        "crt/src/platform/freestanding.c",
    }
    assert not start & set(named)


@pytest.mark.parametrize("board", boards.available())
def test_twister_is_told_what_to_expect_and_where(board: str) -> None:
    (test,) = yaml.safe_load(assemble(board).files["sample.yaml"])["tests"].values()
    output, status = test["harness_config"]["regex"]
    console = "microgen: output y = 1 2 3\nmicrogen: status=0 samples=1 stack=284"
    assert [bool(re.search(regex, console)) for regex in (output, status)] == [True, True]
    assert not re.search(status, console.replace("status=0", "status=-1"))
    name = boards.load(board).zephyr
    assert test.get("platform_allow", "") == name
    assert test.get("integration_platforms", []) == ([name] if name else [])


@pytest.mark.parametrize("board", boards.available())
def test_mains_stack_is_larger_than_the_boards_which_bounds_the_models(board: str) -> None:
    config = assemble(board).files["prj.conf"].decode()
    (size,) = re.findall(r"^CONFIG_MAIN_STACK_SIZE=(\d+)$", config, re.M)
    assert int(size) >= boards.load(board).stack_bytes + 2048
    assert config.endswith("\n")


@NEEDS_NINJA
def test_west_and_microgen_do_not_share_a_build_directory_unnoticed(tmp_path: Path) -> None:
    project = write(tmp_path / "p", "native")
    elf = build(project).elf
    as_west = ["cmake", "-S", project, "-B", elf.parent, "-DWEST_PYTHON=python3", "-DBOARD=any"]
    refused = toolchain.run(as_west, seconds=60)
    assert not refused.ok
    said = " ".join(refused.output.split())  # CMake breaks lines if the path makes them long
    assert "holds a bare-metal build: choose another directory" in said
    assert "west build -d build-zephyr" in said
    assert build(project).elf.is_file()


def test_a_project_for_risc_v_has_a_toolchain_for_compilers_with_other_names() -> None:
    folder = "boards/cmake/toolchain/cross-compile"
    wanted = {f"{folder}/generic.cmake", f"{folder}/target.cmake"}
    for board in boards.available():
        files = assemble(board).files
        is_riscv = boards.load(board).cpu.architecture == "riscv"
        assert (wanted <= set(files)) == is_riscv
        assert (b"set(TOOLCHAIN_ROOT" in files["CMakeLists.txt"]) == is_riscv


def test_a_profile_counts_each_call_of_an_operator(tmp_path: Path) -> None:
    done = microgen.generate(SMALL, "mps2_an385", tmp_path / "p")
    cmake = (tmp_path / "p" / "CMakeLists.txt").read_text()
    text = (tmp_path / "p" / "src" / "profile_zephyr.c").read_text()
    led = set(re.findall(r"--wrap=(\w+)", cmake))
    assert led == set(re.findall(r"__wrap_(\w+)", text))
    assert {call.function for call in done.program.calls} <= led
    named = re.findall(r'^    \{"(\w+)", "(.*)"\},$', text, re.M)
    assert named == [
        (step.kernel, step.origin.layer) for call in done.program.calls for step in call.steps
    ]
