"""A C++ program calls the model: the headers cause no warning in C++17."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from microgen.project.exporting import calling, component
from tests.project.exporting.firmware import FOREIGN, M4, STRICT, application, printed, run
from tests.support.each_compiled import each_compiled
from tests.support.tools import NEEDS_ARM_GCC, NEEDS_CC, NEEDS_CLANG, NEEDS_CXX

CXX = ("-std=c++17", *STRICT, "-Wshadow", "-Wconversion")
BARE = ("-ffreestanding", "-fno-exceptions", "-fno-rtti")
ON_HOST = [
    pytest.param("g++", marks=NEEDS_CXX, id="g++"),
    pytest.param("clang++", marks=[NEEDS_CLANG, NEEDS_CXX], id="clang++"),
]
ON_BOARD = pytest.param("arm-none-eabi-g++", marks=NEEDS_ARM_GCC, id="arm-none-eabi-g++")


@pytest.fixture(scope="module")
def objects(
    projects: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory
) -> tuple[component.Component, list[Path]]:
    """The component of the project for this machine, and its object files from a C compiler."""
    folder = tmp_path_factory.mktemp("cpp")
    project = projects("native")
    found = component.load(project)
    includes = [f"-I{project / name}" for name in found.includes]
    command = ["cc", *component.FLAGS, *STRICT, *includes]
    return found, each_compiled(command, [project / name for name in found.sources], folder)


@NEEDS_CC
@pytest.mark.parametrize("compiler", ON_HOST)
def test_a_cpp_program_computes_the_model(
    compiler: str,
    objects: tuple[component.Component, list[Path]],
    projects: Callable[..., Path],
    expected: list[int],
    tmp_path: Path,
) -> None:
    found, compiled = objects
    application(f"```c\n{calling.code(found)}```", tmp_path)
    folders = [projects("native") / name for name in found.public_includes]
    includes = [f"-I{path}" for path in (*folders, tmp_path, FOREIGN)]
    sources = ["-x", "c++", FOREIGN / "main.c", FOREIGN / "console_host.c", "-x", "none"]
    run((compiler, *CXX, *includes, *sources, *compiled, "-o", "application"), tmp_path)
    assert printed(run((tmp_path / "application",), tmp_path)) == expected


@pytest.mark.sampled(2)
@pytest.mark.parametrize("compiler", [*ON_HOST, ON_BOARD])
def test_every_public_header_compiles_alone_and_with_all_others(
    compiler: str, projects: Callable[..., Path], tmp_path: Path
) -> None:
    is_board = compiler.startswith("arm")
    project = projects("mps2_an386" if is_board else "native")
    found = component.load(project)
    folder = found.public_includes[1]
    tvm = [n.removeprefix(f"{folder}/") for n in found.files if n.startswith(f"{folder}/")]
    headers = [*found.headers, *(name for name in tvm if not name.startswith("microgen/"))]
    assert len(headers) >= 15
    units = [[header] for header in headers] + [headers, headers[::-1]]
    for index, names in enumerate(units):
        text = "".join(f'#include "{name}"\n' for name in names)
        (tmp_path / f"unit{index}.c").write_text(f"{text}int unit{index};\n")
    includes = [f"-I{project / name}" for name in found.public_includes]
    options = ("-x", "c++", *CXX, *(M4 if is_board else ()), *(BARE if is_board else ()))
    sources = [f"unit{index}.c" for index in range(len(units))]
    run((compiler, *options, *includes, "-fsyntax-only", *sources), tmp_path)


@NEEDS_ARM_GCC
def test_a_freestanding_cpp_main_links_for_a_cortex_m4(
    projects: Callable[..., Path], tmp_path: Path
) -> None:
    found = component.load(projects("mps2_an386"))
    application(f"```c\n{calling.code(found)}```", tmp_path)
    folders = [projects("mps2_an386") / name for name in found.public_includes]
    includes = [f"-I{path}" for path in (*folders, tmp_path, FOREIGN)]
    options = (*M4, *CXX, *BARE, *includes, "-c", "-x", "c++", FOREIGN / "main.c")
    run(("arm-none-eabi-g++", *options, "-o", "main.o"), tmp_path)
    undefined = run(("arm-none-eabi-nm", "-u", "main.o"), tmp_path).split()
    names = {"console_print", "console_end", "tvmgen_default_run"}
    assert {*undefined} - {"U"} <= {*names, "memcpy"}, "no name is mangled"
