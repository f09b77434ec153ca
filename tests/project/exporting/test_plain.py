"""The zip archive in programs that CMake, Meson and Make build, with fatal warnings."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

import microgen
from microgen.building import tools
from tests.project.exporting.firmware import (
    FATAL,
    FOREIGN,
    M4,
    SMALL,
    STRICT,
    Firmware,
    application,
    printed,
    proved,
    run,
)
from tests.support.tools import NEEDS_ARM, NEEDS_ARM_GCC, NEEDS_CXX, NEEDS_NINJA, needs

PLACED = "-no-pie"  # as firmware: constants with addresses are not written by a loader
HOSTED = f"""
cmake_minimum_required(VERSION 3.13)
project(application LANGUAGES C CXX)
set(CMAKE_CXX_STANDARD 17)
add_compile_options({" ".join(STRICT)} -ffast-math -fno-pie)
add_subdirectory(tvmgen_default)
set_source_files_properties({FOREIGN}/main.c PROPERTIES LANGUAGE CXX)
add_executable(application {FOREIGN}/main.c {FOREIGN}/console_host.c)
target_include_directories(application PRIVATE . {FOREIGN})
target_link_libraries(application PRIVATE tvmgen_default {PLACED})
"""
BARE = f"""
cmake_minimum_required(VERSION 3.13)
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_C_COMPILER arm-none-eabi-gcc)
set(CMAKE_ASM_COMPILER arm-none-eabi-gcc)
project(application LANGUAGES C ASM)
add_compile_options({" ".join(M4)} "$<$<COMPILE_LANGUAGE:C>:-Os;{";".join(STRICT)}>")
add_subdirectory(MODEL model)
add_executable(firmware.elf {FOREIGN}/main.c {FOREIGN}/console_arm.c)
target_include_directories(firmware.elf PRIVATE . {FOREIGN})
target_link_options(firmware.elf PRIVATE
  {" ".join(M4)} -nostdlib -L${{CMAKE_SOURCE_DIR}} -T {FOREIGN}/arm.ld {" ".join(FATAL)})
target_link_libraries(firmware.elf PRIVATE tvmgen_default c gcc)
"""
MESON = f"""
project('application', 'c', default_options: ['warning_level=3', 'werror=true', 'buildtype=debug'])
executable('application', 'main.c', 'console_host.c',
  dependencies: dependency('tvmgen_default', fallback: 'tvmgen_default'), link_args: '{PLACED}',
  c_args: '-fno-pie')
"""
MAKE = f"""
CC := arm-none-eabi-gcc
AR := arm-none-eabi-ar
CFLAGS := {" ".join(M4)} -Os -ffast-math {" ".join(STRICT)}
BUILD := out
all: $(BUILD)/firmware.elf
include tvmgen_default/model.mk
SOURCES := {FOREIGN}/main.c {FOREIGN}/console_arm.c
$(BUILD)/firmware.elf: $(SOURCES) $(TVMGEN_DEFAULT_LIBRARY)
\t$(CC) $(CFLAGS) -I. -I{FOREIGN} $(TVMGEN_DEFAULT_INCLUDES) $^ -nostdlib \\
\t  -Ltvmgen_default -T {FOREIGN}/arm.ld {" ".join(FATAL)} $(TVMGEN_DEFAULT_LDFLAGS) -lc -lgcc -o $@
"""


@pytest.fixture
def unpacked(projects: Callable[..., Path], tmp_path: Path) -> Callable[[str, Path], Path]:
    """A function that unpacks the archive of a board's project, and writes the application."""

    def unpack(board: str, folder: Path) -> Path:
        microgen.export(projects(board), tmp_path / "model.zip", "zip")
        with zipfile.ZipFile(tmp_path / "model.zip") as archive:
            archive.extractall(folder)
        return application((folder / "tvmgen_default" / "README.md").read_text(), tmp_path)

    return unpack


def cmake(folder: Path, text: str) -> Path:
    """Builds a CMake project; the folder with what was built."""
    (folder / "CMakeLists.txt").write_text(text)
    run(("cmake", "-S", folder, "-B", folder / "build", "-G", "Ninja"), folder)
    run(("ninja", "-C", folder / "build"), folder)
    return folder / "build"


@NEEDS_NINJA
@NEEDS_CXX
def test_a_cpp_program_of_cmake_computes_the_model(
    unpacked: Callable[[str, Path], Path],
    projects: Callable[..., Path],
    expected: list[int],
    tmp_path: Path,
) -> None:
    unpacked("native", tmp_path)
    made = cmake(tmp_path, HOSTED) / "application"
    assert printed(run((made,), tmp_path)) == expected
    proved(projects("native"), made)


@NEEDS_NINJA
@NEEDS_ARM
def test_a_projects_own_folder_is_one_target_of_cmake(
    projects: Callable[..., Path], expected: list[int], tmp_path: Path
) -> None:
    """Without any export: ``model/`` of the project."""
    project = projects("mps2_an386")
    microgen.export(project, tmp_path / "model.zip", "zip")
    with zipfile.ZipFile(tmp_path / "model.zip") as archive:
        readme = archive.read("tvmgen_default/README.md").decode()
    made = Firmware(tmp_path / "f", readme)
    made.elf = cmake(made.folder, BARE.replace("MODEL", f"{project}/model")) / "firmware.elf"
    proved(project, made.elf)
    assert made.outputs() == expected


@NEEDS_NINJA
@NEEDS_ARM_GCC
def test_the_model_library_format_archive_is_the_same_target(
    projects: Callable[..., Path], tmp_path: Path
) -> None:
    project = projects("mps2_an386")
    microgen.export(project, tmp_path / "model.tar")
    (tmp_path / "unpacked").mkdir()
    run(("tar", "xf", tmp_path / "model.tar", "-C", tmp_path / "unpacked"), tmp_path)
    microgen.export(project, tmp_path / "model.zip", "zip")
    with zipfile.ZipFile(tmp_path / "model.zip") as archive:
        application(archive.read("tvmgen_default/README.md").decode(), tmp_path)
    proved(project, cmake(tmp_path, BARE.replace("MODEL", "unpacked")) / "firmware.elf")


@needs("meson", "ninja", "cc")
def test_a_program_of_meson_computes_the_model(
    unpacked: Callable[[str, Path], Path],
    projects: Callable[..., Path],
    expected: list[int],
    tmp_path: Path,
) -> None:
    unpacked("native", tmp_path / "subprojects")
    for name in ("main.c", "console_host.c", "console.h"):
        (tmp_path / name).write_bytes((FOREIGN / name).read_bytes())
    (tmp_path / "meson.build").write_text(MESON)
    found = {**os.environ, "PATH": tools.search_path()}
    run(("meson", "setup", "build"), tmp_path, env=found)
    run(("ninja", "-C", "build"), tmp_path)
    made = tmp_path / "build" / "application"
    assert printed(run((made,), tmp_path)) == expected
    proved(projects("native"), made)


@NEEDS_ARM
@needs("make")
def test_a_firmware_of_make_computes_the_model(
    unpacked: Callable[[str, Path], Path],
    projects: Callable[..., Path],
    expected: list[int],
    tmp_path: Path,
) -> None:
    unpacked("mps2_an386", tmp_path)
    (tmp_path / "Makefile").write_text(MAKE)
    run(("make", "-j2"), tmp_path)
    made = Firmware(tmp_path / "f", (tmp_path / "tvmgen_default" / "README.md").read_text())
    made.elf = tmp_path / "out" / "firmware.elf"
    proved(projects("mps2_an386"), made.elf)
    assert made.outputs() == expected
    assert "up to date" in run(("make", "-n", "out/firmware.elf"), tmp_path)


SHARING = """
#include "tvmgen_a.h"
#include "tvmgen_b.h"
#include "console.h"
int main(void)
{
    static int8_t pixels[TVMGEN_A_IMAGE_COUNT];
    static int8_t one[TVMGEN_A_OUTPUT_COUNT], two[TVMGEN_B_OUTPUT_COUNT];
    struct tvmgen_a_inputs a_in;
    struct tvmgen_a_outputs a_out;
    struct tvmgen_b_inputs b_in;
    struct tvmgen_b_outputs b_out;
    int32_t status;

    tvmgen_a_set_image(&a_in, pixels);
    tvmgen_a_set_output(&a_out, one);
    tvmgen_b_set_image(&b_in, pixels);
    tvmgen_b_set_output(&b_out, two);
    status = tvmgen_b_run(&b_in, &b_out); /* the second model first: its object file comes later */
    status = status == 0 ? tvmgen_a_run(&a_in, &a_out) : status;
    for (int i = 0; i < TVMGEN_A_OUTPUT_COUNT; i++) {
        console_print(one[i] - two[i]);
    }
    console_end(status);
    return status;
}
"""


@NEEDS_NINJA
@NEEDS_ARM
@pytest.mark.slow
def test_models_that_share_a_workspace_are_one_target_that_keeps_their_order(
    projects: Callable[..., Path], tmp_path: Path
) -> None:
    project = tmp_path / "p"
    pairs = [(SMALL, "a"), (SMALL, "b")]
    microgen.generate_models(pairs, "mps2_an386", project, shared_workspace=True)
    (tmp_path / "main.c").write_text(SHARING)
    application("```c\n```", tmp_path)
    text = BARE.replace("MODEL", str(project / "model")).replace(f"{FOREIGN}/main.c", "main.c")
    text = text.replace("tvmgen_default", "tvmgen_a_tvmgen_b")
    made = Firmware(tmp_path / "f", "```c\n```")
    made.elf = cmake(tmp_path, text) / "firmware.elf"
    assert proved(project, made.elf).check("shared_workspace").status == "ok"
    assert made.outputs() == [0] * 10
