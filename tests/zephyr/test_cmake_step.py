"""``zephyr_microgen_model()`` in a plain CMake project, with Zephyr's functions replaced."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from microgen.base import resources
from microgen.building import toolchain
from tests.support.places import SMALL
from tests.support.tools import NEEDS_NINJA

pytestmark = NEEDS_NINJA

CMAKE = """cmake_minimum_required(VERSION 3.20)
project(app LANGUAGES C ASM)
add_library(zephyr_interface INTERFACE)
set(CONFIG_ARCH_POSIX y)
set(BOARD native)
add_compile_options(-ffunction-sections -fdata-sections)
add_link_options(-Wl,--gc-sections)
function(zephyr_ld_options)
endfunction()
add_executable(app main.c)
find_package(microgen REQUIRED)
zephyr_microgen_model(app net model.file OPTIONS --optimize flash --planner greedy)
"""
ERROR = re.compile(r"^ +microgen: \S*model\.file: .*\.file., which no frontend reads; .*$", re.M)
MAIN = """
#include "tvmgen_net.h"
#include <stddef.h>

int main(void)
{
    return tvmgen_net_run(NULL, NULL) == 0;
}
"""


@pytest.fixture
def app(tmp_path: Path) -> Path:
    """An application that is configured, but not built."""
    folder = tmp_path / "app"
    folder.mkdir()
    shutil.copy(SMALL, folder / "model.file")
    (folder / "CMakeLists.txt").write_text(CMAKE)
    (folder / "main.c").write_text(MAIN)
    return folder


def configured(app: Path) -> toolchain.Finished:
    given = f"-Dmicrogen_DIR={resources.folder('templates') / 'cmake'}"
    fast = "-DMICROGEN_MODEL_OPTIMIZATION=-O0"
    command = ["cmake", "-G", "Ninja", "-S", app, "-B", app / "b", given, fast]
    return toolchain.run(command, seconds=120)


def ninja(app: Path) -> str:
    finished = toolchain.run(["ninja", "-C", app / "b"], seconds=300)
    assert finished.ok, finished.output
    return finished.output


def test_it_is_generated_again_only_if_the_network_or_an_option_changes(app: Path) -> None:
    assert configured(app).ok
    project = app / "b" / "microgen" / "net"
    before = (project / "microgen.json").stat().st_mtime_ns
    assert "Linking C executable app" in ninja(app)
    assert "no work to do" in ninja(app)
    (app / "model.file").touch()
    assert "Building" not in ninja(app)
    assert (project / "microgen.json").stat().st_mtime_ns == before
    assert "no work to do" in ninja(app)
    data = bytearray(SMALL.read_bytes())
    data[1000] ^= 1  # a weight of the dense layer
    (app / "model.file").write_bytes(data)
    assert "Linking C executable app" in ninja(app)
    assert "no work to do" in ninja(app)
    assert subprocess.run([app / "b" / "app"], check=False).returncode == 0
    (app / "CMakeLists.txt").write_text(CMAKE.replace("--planner greedy", "--executor graph"))
    assert "net_graph.S" in ninja(app)  # a source that only this option needs
    assert "no work to do" in ninja(app)


def test_what_is_wrong_with_a_network_is_one_line(app: Path) -> None:
    (app / "model.file").write_bytes(b"nothing")
    said = configured(app)
    assert not said.ok
    assert ERROR.search(said.output)
    shutil.copy(SMALL, app / "model.file")
    assert configured(app).ok
    (app / "model.file").write_bytes(b"nothing")
    failed = toolchain.run(["ninja", "-C", app / "b"], seconds=300)
    assert not failed.ok
    assert ERROR.search(failed.output)
    assert "Traceback" not in failed.output
    shutil.copy(SMALL, app / "model.file")
    ninja(app)


@pytest.mark.parametrize("option", ["-o", "-oelsewhere", "--name=other", "--help"])
def test_an_option_that_the_function_decides_is_refused(app: Path, option: str) -> None:
    (app / "CMakeLists.txt").write_text(CMAKE.replace("--planner greedy", f"{option} x"))
    said = configured(app)
    assert not said.ok
    assert f"OPTIONS cannot have {option}, which" in " ".join(said.output.split())
    assert not (app / "b" / "microgen").exists()


def test_a_semicolon_in_the_path_of_a_model_is_refused(app: Path) -> None:
    (app / "CMakeLists.txt").write_text(CMAKE.replace("model.file", '"a;b.file"'))
    said = configured(app)
    assert not said.ok
    assert "a semicolon in the model's path: rename a;b.file" in " ".join(said.output.split())
