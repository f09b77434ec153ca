"""The component of ESP-IDF. ESP-IDF's functions and linker script are imitated in ``foreign``:
``idf.cmake``, ``esp32c3.ld``. CMake, the compiler for the core and the options are real."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

import microgen
from tests.project.exporting.firmware import FATAL, FOREIGN, STRICT, application, proved, run
from tests.support.tools import NEEDS_NINJA, NEEDS_RISCV_GCC

CORE = "-march=rv32imac_zicsr -mabi=ilp32"
PROJECT = f"""
cmake_minimum_required(VERSION 3.16)
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_C_COMPILER riscv64-unknown-elf-gcc)
set(CMAKE_ASM_COMPILER riscv64-unknown-elf-gcc)
project(application LANGUAGES C ASM)
include({FOREIGN}/idf.cmake)
add_compile_options({CORE} -ffunction-sections -fdata-sections -ffreestanding
  "$<$<COMPILE_LANGUAGE:C>:-Og;-std=gnu17;{";".join(STRICT)}>" "SHELL:-isystem CRT/libc"
  "SHELL:-isystem CRT/src")
add_subdirectory(components/tvmgen_default)
add_executable(application.elf {FOREIGN}/main.c console.c)
target_include_directories(application.elf PRIVATE . {FOREIGN})
target_link_options(application.elf PRIVATE
  {CORE} -nostdlib -T {FOREIGN}/esp32c3.ld {" ".join(FATAL)})
target_link_libraries(application.elf PRIVATE __idf_tvmgen_default gcc)
"""
# What ESP-IDF's C library has; the compiler comes without one.
CONSOLE = """
#include "console.h"
#include <string.h>
static volatile int32_t seen;
void console_print(int32_t number) { seen = number; }
void console_end(int32_t status) { seen = status; }
void *memcpy(void *to, const void *from, size_t size)
{
    volatile char *out = to;
    for (const char *in = from; size > 0; size--) { *out++ = *in++; }
    return to;
}
void *memset(void *to, int value, size_t size)
{
    for (volatile char *out = to; size > 0; size--) { *out++ = (char)value; }
    return to;
}
"""


@pytest.fixture
def component(projects: Callable[..., Path], tmp_path: Path) -> Path:
    folder = tmp_path / "components" / "tvmgen_default"
    microgen.export(projects("qemu_riscv32"), folder, "esp-idf")
    return folder


@NEEDS_NINJA
@NEEDS_RISCV_GCC
def test_an_application_links_the_component_and_passes_verify(
    component: Path, projects: Callable[..., Path], tmp_path: Path
) -> None:
    application((component / "README.md").read_text(), tmp_path)
    (tmp_path / "console.c").write_text(CONSOLE)
    crt = projects("qemu_riscv32") / "crt"  # for headers of a C library
    (tmp_path / "CMakeLists.txt").write_text(PROJECT.replace("CRT", str(crt)))
    run(("cmake", "-S", ".", "-B", "build", "-G", "Ninja"), tmp_path)
    run(("ninja", "-C", "build"), tmp_path)
    proved(projects("qemu_riscv32"), tmp_path / "build" / "application.elf")


def test_the_component_manager_knows_version_and_requirements(component: Path) -> None:
    found = yaml.safe_load((component / "idf_component.yml").read_text())
    assert found["version"] == microgen.__version__
    assert found["license"] == "Apache-2.0"
    assert found["dependencies"] == {"idf": ">=5.0"}
    assert found["description"]
