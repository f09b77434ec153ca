"""The check ``built_from``: a firmware of other files, or with one object file of them, is noticed,
whatever the files' times are; and building does not use what is stale."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import microgen
from microgen.base import manifest
from microgen.base.manifest import note
from microgen.building import builder
from microgen.graph.arithmetic.terms import Activation
from microgen.project.emit import note as emitted
from microgen.verifier import verify
from microgen.verifier.again import built_from
from microgen.verifier.elf import elf
from microgen.verifier.report import Check
from tests.support.compiling import write_project
from tests.support.graphs import Builder
from tests.support.tools import NEEDS_ARM_GCC, NEEDS_CC, NEEDS_LLVM, NEEDS_NINJA, NEEDS_RISCV_GCC

Make = Callable[..., Any]
TARGETS = [
    pytest.param(board, compiler, id=f"{board}-{compiler}", marks=marks)
    for board, compiler, marks in (
        ("microbit", "gcc", NEEDS_ARM_GCC),
        ("mps2_an386", "gcc", NEEDS_ARM_GCC),
        ("mps2_an386", "llvm", [NEEDS_ARM_GCC, NEEDS_LLVM]),
        ("qemu_riscv32", "gcc", NEEDS_RISCV_GCC),
        ("qemu_riscv32", "llvm", [NEEDS_RISCV_GCC, NEEDS_LLVM]),
        ("native", "gcc", NEEDS_CC),
    )
]
INCLUDE = '#include "default_note.h"'


def checked(project: Any) -> Check:
    return verify(project.root).check("built_from")


def failed(project: Any) -> list[str]:
    return [check.name for check in verify(project.root).failed]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("board", "compiler"), TARGETS)
def test_notes_survive_the_linker_and_strip_and_are_not_loaded(project: Make, board: str) -> None:
    made = project(board)
    made.flags = ["-Os"]
    check = checked(made.build())
    assert (check.status, check.values) == ("ok", {"notes": 4})
    assert re.fullmatch(r"4 notes, compiled by .*\d+\.\d+.*", check.found)
    for options in ("-g", "-s"):
        tool = f"{made.board.toolchain}strip"
        subprocess.run([tool, options, made.elf, "-o", made.root / "stripped.elf"], check=True)
        assert built_from.is_of(made.root, made.root / "stripped.elf")
    loaded = _loaded(made)
    for name in [name for name in made.sources if INCLUDE in made.sources[name]]:
        made.edit(name, INCLUDE, "")
    assert _loaded(made.build()) == loaded
    assert elf.load(made.elf).notes == ()
    assert "built_from" in failed(made)


def _loaded(made: Any) -> list[object]:
    """All that a program takes of memory, and its bytes there."""
    program = elf.load(made.elf)
    return [
        *program.segments,
        *((s, program.read(s.address, s.size)) for s in program.sections),
    ]


@NEEDS_ARM_GCC
@pytest.mark.parametrize("tool", ["readelf", "arm-none-eabi-readelf"])
def test_readelf_prints_what_the_notes_say(project: Make, tool: str) -> None:
    made = project().build()
    shown = subprocess.run([tool, "-n", made.elf], capture_output=True, text=True, check=True)
    texts = re.findall(r"Packaging Metadata: (.*)", shown.stdout)
    assert len(texts) == 4
    assert len(set(texts)) == 1
    said = json.loads(texts[0])
    options = said.pop("options")
    assert re.match(r"\d+\.\d+", said.pop("compiler"))
    assert said == {
        "type": "microgen",
        "name": "default",
        "version": made.manifest.microgen,
        "model": made.manifest.model.sha256,
        "built_from": made.manifest.built_from,
        "board": "mps2_an386",
    }
    recorded = made.manifest.content()["options"]
    assert {key: recorded[key] for key in options} == options
    assert {"toolchain", "executor", "interface", "optimize", "numerics"} <= options.keys()


@pytest.fixture
def built(project: Make) -> Any:
    return project("native").build()


def test_a_project_that_has_changed_since(built: Any) -> None:
    old = built.manifest.built_from
    built.edit("default_lib1.c", "#define NOINLINE", "#define NEVER_INLINE\n#define NOINLINE")
    built.write()
    check = checked(built)
    new = built.manifest.built_from
    assert old != new
    assert check.status == "failed"
    assert check.found == (
        f"4 of 4 notes of default are of another build: built_from is {old[:12]}, expected "
        f"{new[:12]}; build again with `microgen build`"
    )
    assert failed(built) == ["built_from"]


def test_an_edit_of_the_manifest(built: Any) -> None:
    path = built.root / "microgen.json"
    data = json.loads(path.read_bytes())
    for changed in ({**data, "microgen": "other"}, {**data, "built_from": "0" * 64}):
        path.write_text(manifest.digested(changed))
        assert failed(built) == ["built_from"]
        assert "generate again" in checked(built).found
    forged = {**data, "microgen": "other"}
    path.write_text(manifest.digested({**forged, "built_from": note.digest(forged)}))
    assert failed(built) == ["built_from"]
    assert "version is test, expected other" in checked(built).found
    del data["built_from"]
    path.write_text(manifest.digested(data))
    assert "says built_from nothing" in checked(built).found


def _change(old: bytes, new: bytes) -> Callable[[bytes], bytes]:
    return lambda data: data.replace(old, new, 1)


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (_change(b'"name":"default"', b'"name":"another"'), "default has 3 notes, and 4 sources"),
        (_change(b'"name":"default"', b'"name":"another"'), "notes of 'another', which is not"),
        (_change(b'"board":"native"', b'"board":"nativf"'), "board is nativf, expected native"),
        (_change(b'"type":"microgen"', b'"type":"microgem"'), "default has 3 notes"),
        (_change(b'{"type":"micr', b'["type":"micr'), "default has 3 notes"),
        (_change(b'{"type":"micr', b'{"type": micr'), "notes of 'None', which is not"),
        (_change(b'"compiler":"1', b'"compiler":"9'), "and some by"),
        (_change(b"FDO\0", b"FDA\0"), "default has 3 notes"),
        (_change(b"\x7e\x1a\xfe\xca", b"\x7f\x1a\xfe\xca"), "default has 3 notes"),
        (_change(b"\x7e\x1a\xfe\xca", b"\xff\xff\xff\xff"), "default has 3 notes"),
    ],
)
@NEEDS_CC
def test_one_note_that_is_not_as_the_others(
    built: Any, change: Callable[[bytes], bytes], found: str
) -> None:
    data = built.elf.read_bytes()
    assert change(data) != data
    built.elf.write_bytes(change(data))
    assert found in checked(built).found
    assert failed(built) == ["built_from"]


@NEEDS_CC
def test_damaged_sizes_of_notes(built: Any) -> None:
    data = built.elf.read_bytes()
    at = data.index(b"FDO\0") - 12
    for field in (0, 4):
        for size in (0, 1, 2, 8, 0x7FFFFFFF, 0xFFFFFFFF):
            changed = bytearray(data)
            changed[at + field : at + field + 4] = size.to_bytes(4, "little")
            built.elf.write_bytes(changed)
            assert checked(built).status == "failed"


@NEEDS_CC
def test_a_note_too_many_and_none(built: Any) -> None:
    subprocess.run(["objcopy", "--remove-section", note.SECTION, built.elf], check=True)
    assert checked(built).found.startswith("default has 0 notes, and 4 sources")
    assert failed(built) == ["built_from"]
    built.add(f"{INCLUDE}\nint32_t extra(int32_t n) {{ return n; }}")
    built.flags.append("-Imodel/codegen/host/src")
    assert checked(built.build()).found.startswith("default has 5 notes, and 4 sources")


@NEEDS_CC
def test_notes_of_others_are_no_concern_of_ours(built: Any) -> None:
    """A distribution's, say."""
    data = emitted.header(
        "own",
        '{"type":"deb","compiler":"',
        model="",
        section=".note.own",
        owner="FDO",
        kind=note.TYPE,
    )
    built.add(data.decode() + "int32_t extra(int32_t n) { return n; }")
    assert checked(built.build()).status == "ok"
    assert len(elf.load(built.elf).notes) == 5


# Two networks that differ in one attribute only, and have the same files, symbols and constants.
ACTIVATIONS = (Activation.RELU, Activation.RELU6)


def _generated(root: Path, activation: Activation) -> Path:
    b = Builder()
    hidden = b.conv(b.input(1, 4, 4, 2), 2, activation=activation)
    write_project(b.graph(b.conv(hidden, 3)), root)
    return root


@pytest.fixture
def networks(tmp_path: Path) -> tuple[Path, Path]:
    """Two projects; the first is built."""
    one, other = (_generated(tmp_path / name, a) for name, a in zip("ab", ACTIVATIONS, strict=True))
    microgen.build(one)
    return one, other


def _copied_over(source: Path, target: Path, *, of: str = "*") -> None:
    """Copy a project's files over another's, all older than what was built there."""
    for path in sorted(source.rglob(of)):
        name = path.relative_to(source)
        if path.is_file() and "build" not in name.parts:
            shutil.copyfile(path, target / name)
    for path in target.rglob("*"):
        if path.is_file() and "build" not in path.relative_to(target).parts:
            os.utime(path, (0, 0))


@NEEDS_NINJA
def test_files_of_another_network_over_a_built_one(networks: tuple[Path, Path]) -> None:
    one, other = networks
    assert verify(one).ok
    _copied_over(other, one)
    report = verify(one)
    assert [check.name for check in report.failed] == ["built_from"]
    microgen.run(one)
    assert verify(one).ok


@NEEDS_NINJA
def test_build_does_not_use_object_files_of_other_files(networks: tuple[Path, Path]) -> None:
    one, other = networks
    _copied_over(other, one)
    microgen.build(one)
    assert verify(one).ok


@NEEDS_NINJA
def test_a_stale_object_file_in_a_mixed_build(networks: tuple[Path, Path]) -> None:
    """All but one source are compiled again, by hand; microgen then builds all."""
    one, other = networks
    _copied_over(other, one)
    folder = one / builder.BUILD
    stale = next(folder.rglob("default_lib1.c.o*")).read_bytes()
    subprocess.run(["ninja", "-C", folder, "-t", "clean"], check=True, stdout=subprocess.PIPE)
    subprocess.run(["ninja", "-C", folder], check=True, stdout=subprocess.PIPE)
    assert verify(one).ok
    (path,) = folder.rglob("default_lib1.c.o*")
    times = path.stat()
    path.write_bytes(stale)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    (folder / "firmware.elf").unlink()
    subprocess.run(["ninja", "-C", folder], check=True, stdout=subprocess.PIPE)
    check = verify(one).check("built_from")
    assert check.found.startswith("1 of 4 notes of default are of another build: built_from is ")
    assert microgen.build(one).elf.is_file()
    assert verify(one).ok


@NEEDS_NINJA
def test_what_is_up_to_date_is_not_built_again(networks: tuple[Path, Path]) -> None:
    one, _ = networks
    before = (one / "build" / "firmware.elf").stat().st_mtime_ns
    log = microgen.build(one).log
    microgen.run(one)
    assert "no work to do" in log
    assert (one / "build" / "firmware.elf").stat().st_mtime_ns == before


@NEEDS_NINJA
def test_a_damaged_firmware_is_built_again(networks: tuple[Path, Path]) -> None:
    one, _ = networks
    (one / "build" / "firmware.elf").write_bytes(b"damaged")
    microgen.run(one)
    assert verify(one).ok
