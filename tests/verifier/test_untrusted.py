"""Untrusted projects: verify runs nothing that they name, and reads nothing outside of them."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from microgen.base.errors import BoardError, MicrogenError, ProjectError, cut
from microgen.base.files import check_writable, inside
from microgen.base.manifest import ExternalRecord
from microgen.interface import inspection
from microgen.running.comparing import compare
from microgen.running.runner import npz
from microgen.target import board as boards
from microgen.target import projects
from microgen.verifier import verify
from microgen.version import __version__

Make = Callable[..., Any]


def _with_board(made: Any, **changes: Any) -> Path:
    """The project with another board in its manifest."""
    made.write()
    path: Path = made.root / "microgen.json"
    data = json.loads(path.read_bytes())
    data["board"] |= changes
    path.write_text(json.dumps(data))
    root: Path = made.root
    return root


def test_a_project_names_no_tools(project: Make, tmp_path: Path) -> None:
    built = project().build()
    mark, evil = tmp_path / "mark", tmp_path / "evil-objdump"
    evil.write_text(f"#!/bin/sh\ntouch {mark}\n")
    evil.chmod(0o755)
    root = _with_board(built, toolchain=str(tmp_path / "evil-"))
    with pytest.raises(BoardError, match=r"not the installed one \(toolchain\)"):
        verify(root, elf=built.elf)
    assert not mark.exists()


@pytest.mark.parametrize("name", ["moon", "../../boards/mps2_an386", "", None, 7, []])
def test_a_board_that_is_not_installed(project: Make, name: Any) -> None:
    data = json.loads((_with_board(project(), name=name) / "microgen.json").read_bytes())
    refused = "not installed here, and its copy names programs|cannot name a board|without a name"
    with pytest.raises(BoardError, match=refused):
        projects.of_project(data["board"])


def test_only_what_generation_chooses_may_differ() -> None:
    installed = boards.load("mps2_an386")
    chosen = replace(installed, constants=installed.large_constants or installed.constants)
    assert projects.of_project(json.loads(json.dumps(chosen.to_json()))) == chosen
    for board in map(boards.load, boards.available()):
        data = json.loads(json.dumps(board.to_json()))
        assert projects.of_project(data) == board
        other = "native" if board.name == "microbit" else "microbit"
        for field in data:  # tests/target/test_projects.py has names that are not installed
            with pytest.raises(BoardError):
                projects.of_project({**data, field: other})
            with pytest.raises(BoardError):
                projects.of_project({k: v for k, v in data.items() if k != field})
        with pytest.raises(BoardError, match="it has further fields"):
            projects.of_project({**data, "wrapper": "sh"})


def _holes(path: Path) -> Path:
    """A file of a terabyte, without any data."""
    path.touch()
    os.truncate(path, 2**40)
    return path


def _escapes(root: Path, outside: Path) -> dict[str, str]:
    """Paths that lead out of a project, and what verify says about each."""
    (root / "link").symlink_to(outside)
    (root / "folder").symlink_to(outside.parent)
    os.mkfifo(root / "pipe")
    _holes(root / "holes")
    (root / "device").symlink_to("/dev/zero")
    with zipfile.ZipFile(root / "archive.zip", "w") as archive:
        archive.writestr("inner", "text")
    return {
        "holes": "has 1099511627776 bytes; a project's file has at most 2147483647",
        "device": "is outside the project",
        "/dev/zero": "is outside the project",
        "archive.zip/inner": "is missing",
        "n" * 256: "cannot be read: File name too long",
        str(outside): "is outside the project",
        f"../{outside.name}": "is outside the project",
        "link": "is outside the project",
        f"folder/{outside.name}": "is outside the project",
        "pipe": "is not a regular file",
        "build": "is not a regular file",
        "absent": "is missing",
    }


def test_files_outside_the_project_are_not_read(project: Make, tmp_path: Path) -> None:
    built = project().build()
    outside = built.root.parent / "secret.c"
    outside.write_text("secret")
    for name, found in _escapes(built.root, outside).items():
        built.manifest = replace(built.manifest, files={name: "0"})
        (built.root / "microgen.json").write_bytes(built.manifest.dumps())
        check = verify(built.root).check("project_files")
        assert (check.status, check.found) == ("failed", cut(f"{name} {found}"))
        record = replace(built.manifest, model=replace(built.manifest.model, path=name))
        (built.root / "microgen.json").write_bytes(record.dumps())
        assert verify(built.root).check("manifest").status == "failed"
        with pytest.raises(ProjectError):
            compare.source(built.root, record)
    outside.unlink()


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("bind", ["x={}"]),
        ("dim", ["{}"]),
        ("schedule", "{}"),
        ("codegen_path", "{}"),
        ("schedule", {"path": "{}"}),
    ],
)
def test_options_name_nothing_on_this_machine(
    project: Make, tmp_path: Path, option: str, value: Any
) -> None:
    """Whatever is there: a pipe would never end, and a message would say whether a file exists."""
    built = project().build()
    built.write()
    os.mkfifo(tmp_path / "pipe.npy")
    (tmp_path / "file.json").write_text("{}")
    _holes(tmp_path / "holes.npy")
    (tmp_path / "link.npy").symlink_to("/dev/zero")
    names = ("pipe.npy", "file.json", "holes.npy", "link.npy", "absent", "", "a.zip/inner")
    said = set()
    for place in ("/dev/zero", "pipe", *(str(tmp_path / name) for name in names)):
        given = json.loads(json.dumps(value).replace("{}", place))
        options = {**built.manifest.options, option: given}
        (built.root / "microgen.json").write_bytes(
            replace(built.manifest, options=options, microgen=__version__).dumps()
        )
        report = verify(built.root, reproduce=True, project_files=False)
        for name in ("manifest", "reproduce"):
            check = report.check(name)
            assert check.status == "failed"
            assert f"microgen.json: options.{option}: is " in check.found
        said.add(check.found.partition(f"options.{option}: is ")[2].partition(", expected")[2])
    assert len(said) == 1


def test_a_source_that_is_not_the_projects(project: Make) -> None:
    built = project().build()
    outside = ExternalRecord(codegen="c", kind="c", functions=(), source="/etc/passwd")
    record = replace(built.manifest, external=(outside,))
    (built.root / "microgen.json").write_bytes(record.dumps())
    assert "the source '/etc/passwd'" in verify(built.root).check("manifest").found


def test_a_manifest_of_a_terabyte(tmp_path: Path) -> None:
    _holes(tmp_path / "microgen.json")
    with pytest.raises(ProjectError, match="has 1099511627776 bytes; a manifest has at most"):
        verify(tmp_path)


def test_a_file_of_a_terabyte_was_not_generated(project: Make) -> None:
    laid_out = project()
    laid_out.write()
    name = next(iter(laid_out.manifest.files), "")
    if not name:
        (laid_out.root / "microgen.json").write_text(json.dumps({"files": {"x": "0"}}))
        name = "x"
    _holes(laid_out.root / name)
    with pytest.raises(ProjectError, match="which microgen did not generate"):
        check_writable(laid_out.root, force=False)


@pytest.mark.parametrize("read", [inspection.inspect, npz.read], ids=["inspect", "run --input"])
def test_a_pipe_that_the_user_names(read: Callable[[Path], object], tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(MicrogenError, match="is not a regular file"):
        read(tmp_path / "pipe")


def test_a_manifest_that_is_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "microgen.json")
    with pytest.raises(ProjectError, match="is not a regular file"):
        verify(tmp_path)


def test_a_firmware_that_is_a_device(project: Make) -> None:
    laid_out = project()
    laid_out.write()
    laid_out.elf.symlink_to("/dev/zero")
    with pytest.raises(ProjectError, match="is not a regular file"):
        verify(laid_out.root)


@pytest.mark.parametrize("name", ["a\0b", "\ud800", "../x", "/etc/passwd", "circle", ""])
def test_names_that_are_no_paths_inside(tmp_path: Path, name: str) -> None:
    (tmp_path / "circle").symlink_to("circle")
    with pytest.raises(ProjectError, match=r"outside the project|missing|no regular file"):
        inside(tmp_path, name)
