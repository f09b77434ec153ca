"""Untrusted projects: verify runs nothing that they name, and reads nothing outside of them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from microgen.errors import BoardError, ProjectError
from microgen.files import inside
from microgen.target import board as boards
from microgen.target import projects
from microgen.verifier import verify

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


def _escapes(root: Path, outside: Path) -> dict[str, str]:
    """Paths that lead out of a project, and what verify says about each."""
    (root / "link").symlink_to(outside)
    (root / "folder").symlink_to(outside.parent)
    os.mkfifo(root / "pipe")
    return {
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
        assert (check.status, check.found) == ("failed", f"{name} {found}")
    outside.unlink()


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
