"""The library of PlatformIO, compiled as ``library.json`` says: the sources that its filter
selects, with its flags after the firmware's, into an archive."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import microgen
from tests.project.exporting.firmware import Firmware, proved, run
from tests.support.tools import NEEDS_ARM_GCC

COMPILED = (".c", ".cpp", ".S", ".s")


@pytest.fixture(scope="module")
def library(projects: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("platformio") / "tvmgen_default"
    microgen.export(projects("mps2_an386"), folder, "platformio")
    return folder


@pytest.fixture(scope="module")
def described(library: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((library / "library.json").read_text())
    return found


def selected(library: Path, filters: list[str]) -> list[Path]:
    """The sources that a filter selects: its patterns, in their order, add or remove files."""
    found: set[Path] = set()
    for entry in filters:
        sign, pattern = entry[0], entry[1:].strip("<>")
        named = library.rglob("*") if pattern == "*" else library.glob(pattern)
        files = {path for path in named if path.suffix in COMPILED}
        found = found | files if sign == "+" else found - files
    return sorted(found)


@NEEDS_ARM_GCC
def test_a_firmware_links_the_library_and_passes_verify(
    library: Path, described: dict[str, Any], projects: Callable[..., Path], tmp_path: Path
) -> None:
    build = described["build"]
    sources = selected(library, build["srcFilter"])
    assert len(sources) == len(build["srcFilter"]) - 1, "the first pattern only removes"
    includes = [library / f[2:] for f in build["flags"] if f.startswith("-I")]
    flags = [f for f in build["flags"] if not f.startswith("-I")]
    made = Firmware(tmp_path / "f", (library / "README.md").read_text(), ("-Os", "-std=gnu99"))
    objects = made.compiled(sources, *flags, *(f"-I{path}" for path in includes))
    archive = made.folder / "libtvmgen_default.a"
    run(("arm-none-eabi-ar", "rc", archive, *objects), made.folder)
    made.link([archive], *includes)
    proved(projects("mps2_an386"), made.elf)


def test_the_manifest_has_the_fields_by_which_the_library_is_found(
    library: Path, described: dict[str, Any]
) -> None:
    assert described["name"] == "tvmgen_default"
    assert described["version"] == microgen.__version__
    assert (described["frameworks"], described["platforms"]) == ("*", "*")
    folder = library / described["build"]["includeDir"]
    assert [(folder / header).is_file() for header in described["headers"]] == [True]
    assert "-ffp-contract=off" in described["build"]["flags"]
