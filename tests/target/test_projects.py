"""A project's copy of a board that is not installed: accepted only if it names no program."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from microgen.base.errors import BoardError, RunError
from microgen.interface import api
from microgen.target import board as boards
from microgen.target import found, projects
from microgen.target.cpu import CPUS
from tests.support.places import SMALL
from tests.support.tools import NEEDS_ARM_GCC, NEEDS_NINJA

QEMU = "qemu: {system: qemu-system-arm, machine: mps2-an386}\n"
TEXT = """\
title: Mine
cpu: cortex-m4
memories:
  - {name: flash, origin: 0x08000000, length: 512K, access: rx}
  - {name: ram, origin: 0x20000000, length: 128K, access: rw}
"""


def _written(folder: Path, more: str = "") -> Path:
    path = folder / "desk" / "board.yml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(TEXT + more)
    return path


@pytest.fixture
def copy(tmp_path: Path) -> dict[str, Any]:
    """What a project's manifest says about a board that is not installed."""
    data: dict[str, Any] = json.loads(json.dumps(found.at(_written(tmp_path)).to_json()))
    return data


def _refused(data: dict[str, Any]) -> str:
    with pytest.raises(BoardError) as error:
        projects.of_project(data)
    said = str(error.value)
    assert "\n" not in said
    assert said.startswith("microgen.json: ")
    return said


def test_a_copy_without_programs_is_taken_as_it_is(copy: dict[str, Any], tmp_path: Path) -> None:
    assert projects.of_project(copy) == found.at(tmp_path / "desk")
    assert projects.original(copy) == found.at(tmp_path / "desk")
    assert projects.of_project({**copy, "clock_hz": 10**8}).clock_hz == 10**8


PROGRAMS: dict[str, Any] = {
    "toolchain": "/tmp/evil-",
    "cflags": ["-fplugin=evil"],
    "platform": "posix",
    "startup": "riscv",
    "qemu": {"system": "qemu-system-arm", "machine": "mps2-an386", "args": []},
}


@pytest.mark.parametrize("field", PROGRAMS)
def test_a_copy_names_no_programs_and_no_arguments(copy: dict[str, Any], field: str) -> None:
    said = _refused({**copy, field: PROGRAMS[field]})
    assert field in said
    harmless = {"toolchain": "evil-", "cflags": ["-Wl,evil"]}.get(field, PROGRAMS[field])
    said = _refused({**copy, field: harmless})
    assert f"names programs or their arguments ({field})" in said
    assert "--board PATH" in said


@pytest.mark.parametrize(
    "evil",
    ['a"b', "a\nb", "a'b", "a b", "a;b", "a)b", "a}b", "$(x)", "../a", "", "a\n", "\u202ea", "A"],
)
def test_names_reach_scripts_only_if_they_are_identifiers(copy: dict[str, Any], evil: str) -> None:
    flash, ram = copy["memories"]
    assert "name is" in _refused({**copy, "memories": [{**flash, "name": evil}, ram]})
    assert "flash" in _refused({**copy, "flash": evil})
    if evil != "A":
        assert "cannot name a board" in _refused({**copy, "name": evil})
        for field in ("large_constants", "arena", "zephyr", "debug_probe"):
            if evil:
                assert field in _refused({**copy, field: evil})
    if not evil.isalnum() and evil not in ("a b", "a)b", "a;b", "../a"):
        assert "title" in _refused({**copy, "title": evil})


@pytest.mark.parametrize("title", ["a */ evil", "a\n)", "`touch x`", '"', "${X}", "<b>", "|"])
def test_a_title_ends_no_comment(copy: dict[str, Any], title: str) -> None:
    assert "title is" in _refused({**copy, "title": title})


@pytest.mark.parametrize(
    ("number", "changes"),
    [
        (0, {"origin": -4}),
        (0, {"origin": "0); evil"}),
        (0, {"origin": 1 << 32}),
        (0, {"origin": 2}),
        (0, {"length": 0}),
        (0, {"length": 1 << 33}),
        (0, {"length": "512K"}),
        (0, {"length": 4 << 30}),
        (0, {"access": "rw"}),
        (0, {"access": "x) : ORIGIN = 0"}),
        (0, {"origin": 0x20000000}),
        (1, {"access": "r"}),
        (1, {"evil": 1}),
        (1, {"name": "flash"}),
    ],
)
def test_memories_have_ranges_and_do_not_overlap(
    copy: dict[str, Any], number: int, changes: dict[str, Any]
) -> None:
    copy["memories"][number] |= changes
    _refused(copy)


@pytest.mark.parametrize(
    "changes",
    [
        {"wrapper": "sh"},
        {"stack_bytes": "4K"},
        {"stack_bytes": 1 << 20},
        {"stack_bytes": -1},
        {"memories": []},
        {"memories": None},
        {"memories": {"a": 1}},
        {"cpu": "host"},
        {"cpu": "evil"},
        {"cpu": ["host"]},
        {"title": None},
        {"clock_hz": 1},
        {"clock_hz": True},
        {"large_buffers": "flash"},
        {"name": None},
        {"name": 7},
        {"name": "zephyr"},
        {"qemu": []},
        {"cflags": None},
    ],
    ids=str,
)
def test_everything_else_in_a_copy_is_checked_too(
    copy: dict[str, Any], changes: dict[str, Any]
) -> None:
    _refused({**copy, **changes})
    (field,) = changes
    if field in copy:
        _refused({key: value for key, value in copy.items() if key != field})


def test_a_host_copy_starts_nothing(copy: dict[str, Any]) -> None:
    native = json.loads(json.dumps(boards.load("native").to_json()))
    _refused({**native, "name": "desk"})
    _refused({**copy, "cpu": "host", "toolchain": "", "platform": "posix", "startup": ""})


def test_a_board_with_programs_is_taken_from_the_users_folders_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    board = found.at(_written(tmp_path / "boards", QEMU))
    data = json.loads(json.dumps(board.to_json()))
    monkeypatch.chdir(tmp_path)  # ./boards has it, but nobody said so
    assert "(qemu)" in _refused(data)
    with projects.given(tmp_path / "boards" / "desk"):
        assert projects.of_project(data) == board
        assert projects.of_project({**data, "clock_hz": 10**8}) == replace(board, clock_hz=10**8)
    assert "(qemu)" in _refused(data)
    monkeypatch.setenv(found.VARIABLE, str(tmp_path / "boards"))
    assert projects.of_project(data) == projects.original(data) == board
    data["qemu"]["args"] = ["-d", "in_asm", "-D", "/tmp/evil"]
    assert "(qemu)" in _refused(data)


def test_the_board_that_is_given_must_be_the_projects(copy: dict[str, Any], tmp_path: Path) -> None:
    with projects.given(_written(tmp_path / "other", QEMU)):
        assert "is not the given one (qemu)" in _refused(copy)
        assert "is for board 'microbit', not for desk" in _refused({**copy, "name": "microbit"})


def test_what_generation_chooses_may_differ(copy: dict[str, Any], tmp_path: Path) -> None:
    text = "large_buffers: sram\n"
    path = _written(tmp_path, text)
    path.write_text(
        path.read_text().replace(
            "access: rw}", "access: rw}\n  - {name: sram, origin: 0, length: 1M, access: rw}"
        )
    )
    board = found.at(path)
    chosen = replace(board, arena="sram")
    with projects.given(path):
        assert projects.of_project(chosen.to_json()) == chosen
        assert projects.original(chosen.to_json()) == board
        assert "(arena)" in _refused(replace(board, arena="flash").to_json())
    assert projects.of_project(chosen.to_json()) == chosen


@NEEDS_NINJA
@NEEDS_ARM_GCC
def test_nothing_that_a_project_names_is_started(tmp_path: Path) -> None:
    project, mark = tmp_path / "p", tmp_path / "mark"
    evil = tmp_path / "evil-gcc"
    evil.write_text(f"#!/bin/sh\ntouch {mark}\n")
    evil.chmod(0o755)
    api.generate(SMALL, _written(tmp_path), project)
    manifest = project / "microgen.json"
    sound = json.loads(manifest.read_bytes())
    for changes in ({"toolchain": f"{tmp_path}/evil-"}, {"cflags": [f"-B{tmp_path}"]}):
        manifest.write_text(json.dumps({**sound, "board": sound["board"] | changes}))
        for command in (api.build, api.verify, api.run):
            with pytest.raises(BoardError, match=r"microgen.json: board: (toolchain|cflags\[0\]) "):
                command(project)
    assert not mark.exists()
    assert not (project / "build").exists()
    manifest.write_text(json.dumps(sound))
    with pytest.raises(RunError, match="nothing here runs board desk, which has no emulator; run"):
        api.run(project)


def test_every_core_says_what_a_copy_may_say() -> None:
    implied = {(cpu.toolchain, cpu.platform, cpu.startup) for cpu in CPUS.values()}
    assert implied == {
        ("arm-none-eabi-", "semihosting", "cortex_m"),
        ("riscv64-unknown-elf-", "semihosting", "riscv"),
        ("", "posix", ""),
    }
