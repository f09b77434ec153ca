"""Projects that name programs, and firmware that starts them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from microgen.base.errors import BoardError, RunError
from microgen.running.runner import run
from tests.support.tools import NEEDS_ARM

Project = Callable[..., Path]
ARM = "mps2_an386"


def _claiming(folder: Path, original: Path, qemu: dict[str, Any]) -> Path:
    """The project with another emulator named in its manifest."""
    folder.mkdir()
    data = json.loads((original / "microgen.json").read_bytes())
    data["board"]["qemu"] |= qemu
    (folder / "microgen.json").write_text(json.dumps(data))
    (folder / "build").symlink_to(original / "build")
    return folder


@NEEDS_ARM
@pytest.mark.parametrize("key", ["system", "args"])
def test_a_project_names_no_emulator_and_no_arguments(
    project: Project, tmp_path: Path, key: str
) -> None:
    mark = tmp_path / "mark"
    evil = tmp_path / "evil"
    evil.write_text(f"#!/bin/sh\ntouch {mark}\n")
    evil.chmod(0o755)
    claims = {"system": str(evil), "args": ["-d", "in_asm", "-D", str(mark)]}
    claiming = _claiming(tmp_path / "project", project(ARM), {key: claims[key]})
    with pytest.raises(BoardError, match=r"not the installed one \(qemu\); generate the project"):
        run(claiming)
    assert not mark.exists()


@NEEDS_ARM
def test_firmware_starts_no_programs_of_the_host(project: Project) -> None:
    """Without a sandbox, the firmware goes on and prints "spawned". With it, QEMU 7.2 is ended, and
    in QEMU 10 the call fails."""
    try:
        said = run(project(ARM, "SPAWN")).console
    except RunError as error:
        said = str(error)
    assert "ended by SIGSYS" in said or "microgen: status=0" in said
    assert "spawned" not in said
