"""The check of the function registry, on generated firmware and on broken ones."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import microgen
from microgen.verifier import verify
from microgen.verifier.elf import elf as elf_reader
from tests.support.places import SMALL
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA

pytestmark = [NEEDS_NINJA, NEEDS_ARM]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = tmp_path_factory.mktemp("packed") / "p"
    microgen.generate(SMALL, "mps2_an386", project, interface="packed")
    microgen.build(project)
    return project


def _failed(project: Path, elf: Path) -> list[str]:
    return [check.name for check in verify(project, elf=elf, project_files=False).failed]


def _patched(sound: Path, tmp_path: Path, symbol: str, offset: int, data: bytes) -> Path:
    """The ELF with other bytes at an offset in an object."""
    path = sound / "build" / "firmware.elf"
    elf = elf_reader.load(path)
    (found,) = elf.named(symbol)
    whole = elf.read(found.address, found.size)
    assert whole is not None
    content = path.read_bytes()
    assert content.count(whole) == 1
    changed = whole[:offset] + data + whole[offset + len(data) :]
    patched = tmp_path / "firmware.elf"
    patched.write_bytes(content.replace(whole, changed))
    return patched


def test_a_sound_registry_passes(sound: Path) -> None:
    report = verify(sound)
    assert report.failed == ()
    (check,) = (c for c in report.checks if c.name == "registry")
    assert (check.status, check.found) == ("ok", "6 functions")


@pytest.mark.parametrize(
    ("symbol", "offset", "data"),
    [
        pytest.param("tvm_function_names", 0, b"\x08", id="count"),
        pytest.param("tvm_function_names", 2, b"T", id="name"),
        pytest.param("tvm_function_names", 2, b"\0", id="no names"),
        pytest.param("tvm_functions", 8, b"\x02", id="address"),
    ],
)
def test_a_registry_that_lies_fails(
    sound: Path, tmp_path: Path, symbol: str, offset: int, data: bytes
) -> None:
    assert _failed(sound, _patched(sound, tmp_path, symbol, offset, data)) == ["registry"]


def test_a_program_without_registry_fails(sound: Path, tmp_path: Path) -> None:
    project = tmp_path / "p"
    shutil.copytree(sound, project, ignore=shutil.ignore_patterns("build"))
    cmake = project / "CMakeLists.txt"
    cmake.write_text(cmake.read_text().replace("-Wl,--undefined=TVMSystemLibEntryPoint", ""))
    microgen.build(project)
    assert _failed(project, project / "build" / "firmware.elf") == ["registry"]
