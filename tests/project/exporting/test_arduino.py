"""The Arduino library, compiled by the rules of Arduino's library specification: every C, C++ and
assembler file below ``src``, with only ``src`` in the include path and no options of its own."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import microgen
from microgen.project.exporting.forms import with_options
from microgen.verifier import verify
from tests.project.exporting.firmware import M4, STRICT, Firmware, proved, run
from tests.support.tools import NEEDS_ARM, NEEDS_ARM_GCC, NEEDS_CLANG

COMPILED = (".c", ".cpp", ".S")
FIELDS = ("name", "version", "author", "maintainer", "sentence", "paragraph", "category", "url")
# What the core of a board gives the compiler, in arduino-cli's patterns for its platforms.
CORE = ("-Os", "-std=gnu11", "-ffunction-sections", "-fdata-sections", "-nostdlib")
SERIAL = """
#pragma once
#include <stdint.h>
struct Console {
    void begin(long) {}
    void println(long) {}
    void println(double) {}
};
static Console Serial;
"""
CONTRACTED = "static inline float f(float a, float b, float c) { return a * b + c; }\n"
CONTRACTED += "float g(float a, float b, float c);\n"
CONTRACTED += "float g(float a, float b, float c) { return f(a, b, c); }\n"


@pytest.fixture(scope="module")
def library(projects: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("arduino") / "tvmgen_default"
    microgen.export(projects("mps2_an386"), folder, "arduino")
    return folder


def sources(library: Path) -> list[Path]:
    return sorted(path for path in (library / "src").rglob("*") if path.suffix in COMPILED)


@NEEDS_ARM
def test_a_sketchs_firmware_computes_the_model_and_passes_verify(
    library: Path, projects: Callable[..., Path], expected: list[int], tmp_path: Path
) -> None:
    made = Firmware(tmp_path / "f", (library / "README.md").read_text(), options=CORE)
    objects = made.compiled(sources(library), f"-I{library / 'src'}")
    archive = made.folder / "library.a"
    run(("arm-none-eabi-ar", "rcs", archive, *objects), made.folder)  # dot_a_linkage
    made.link([archive], library / "src")
    proved(projects("mps2_an386"), made.elf)
    assert made.outputs() == expected


@NEEDS_ARM_GCC
@pytest.mark.slow
def test_the_firmware_is_reproduced_with_the_pragma(
    library: Path, projects: Callable[..., Path], tmp_path: Path
) -> None:
    """The ELF records the core's options, and the pragma in each source says others."""
    made = Firmware(tmp_path / "f", (library / "README.md").read_text(), options=(*CORE, "-g"))
    made.link(made.compiled(sources(library), f"-I{library / 'src'}"), library / "src")
    report = verify(projects("mps2_an386"), elf=made.elf, scope="model", reproduce=True)
    assert report.check("reproduce").status == "ok", report.check("reproduce").found
    assert "pragma" in report.check("reproduce").found


@NEEDS_ARM_GCC
def test_the_example_compiles_as_a_sketch(library: Path, tmp_path: Path) -> None:
    (sketch,) = library.glob("examples/*/*.ino")
    assert sketch.stem == sketch.parent.name
    (tmp_path / "Arduino.h").write_text(SERIAL)
    program = tmp_path / "sketch.ino.cpp"
    program.write_text(f'#include "Arduino.h"\n{sketch.read_text()}')
    options = ("-std=gnu++17", "-fno-exceptions", *STRICT, f"-I{library / 'src'}", "-I.")
    run(("arm-none-eabi-g++", *M4, *options, "-fsyntax-only", program), tmp_path)


def test_the_description_has_every_field_of_the_specification(library: Path) -> None:
    lines = (library / "library.properties").read_text().splitlines()
    fields = dict(line.split("=", 1) for line in lines)
    assert {*FIELDS, "architectures", "includes"} <= fields.keys()
    assert re.fullmatch(r"[A-Za-z0-9][\w. -]*", fields["name"])
    assert re.fullmatch(r"\d+\.\d+\.\d+", fields["version"])
    assert fields["category"] == "Data Processing"
    assert all((library / "src" / header).is_file() for header in fields["includes"].split(","))
    assert fields["dot_a_linkage"] == "true"
    names = [path.name for path in sources(library)]
    assert len(set(names)) == len(names), "an archive of Arduino has no folders"


def fused(command: tuple[str, ...], text: str, folder: Path) -> int:
    """How many fused operations a compiler makes of a source."""
    (folder / "x.c").write_text(text)
    run((*command, "-Os", "-S", "x.c", "-o", "x.s"), folder)
    return (folder / "x.s").read_text().count("vfma")


def ours(text: str) -> str:
    return with_options("x.c", text.encode()).decode()


@NEEDS_ARM_GCC
@pytest.mark.parametrize("option", ["-std=gnu11", "-ffp-contract=fast", "-ffast-math"])
def test_the_pragma_keeps_gcc_from_contracting(option: str, tmp_path: Path) -> None:
    command = ("arm-none-eabi-gcc", *M4, *STRICT, option)
    assert fused(command, CONTRACTED, tmp_path) == 1
    assert fused(command, ours(CONTRACTED), tmp_path) == 0


@NEEDS_ARM_GCC
def test_gcc_ignores_the_pragma_of_the_c_standard(tmp_path: Path) -> None:
    text = f"#pragma STDC FP_CONTRACT OFF\n{CONTRACTED}"
    assert fused(("arm-none-eabi-gcc", *M4), text, tmp_path) == 1


@NEEDS_ARM_GCC
def test_the_pragma_keeps_gcc_from_the_rest_of_fast_math(tmp_path: Path) -> None:
    """Which computes (a + 1e8) - 1e8 as a."""
    text = "float f(float a);\nfloat f(float a) { return (a + 1e8F) - 1e8F; }\n"
    counts = []
    for source in (text, ours(text)):
        fused(("arm-none-eabi-gcc", *M4, *STRICT, "-ffast-math"), source, tmp_path)
        counts.append(len(re.findall(r"\bv(add|sub)", (tmp_path / "x.s").read_text())))
    assert counts == [0, 2]


@NEEDS_CLANG
def test_the_pragma_keeps_clang_from_contracting(tmp_path: Path) -> None:
    command = ("clang", "--target=arm-none-eabi", "-mcpu=cortex-m7", "-mfloat-abi=hard", *STRICT)
    text = re.sub(r"f\(a, b, c\);", "a * b + c;", CONTRACTED.split("\n", 1)[1])
    assert fused(command, text, tmp_path) == 1
    assert fused(command, ours(text), tmp_path) == 0


@NEEDS_CLANG
def test_clangs_fast_math_is_refused_because_no_pragma_stops_it(tmp_path: Path) -> None:
    (tmp_path / "x.c").write_text(ours(CONTRACTED))
    command = ["clang", "--target=arm-none-eabi", "-ffast-math", "-fsyntax-only", "x.c"]
    made = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert made.returncode != 0
    assert "compile this library without -ffast-math" in made.stderr
