"""A generated project is a west workspace with commands of its own, and needs no Zephyr."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import microgen
from microgen.base.errors import ProjectError
from tests.base.west.west import NEEDS_WEST, done, west
from tests.support.places import SMALL
from tests.support.tools import needs

pytestmark = [*NEEDS_WEST, needs("cmake", "ninja", "arm-none-eabi-gcc", "qemu-system-arm")]

CONFIG = "[manifest]\npath = west\nfile = west.yml\n\n"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that is a workspace and was built. Tests that change it have to copy it."""
    folder = tmp_path_factory.mktemp("west") / "a -b 'digits'"
    microgen.generate(SMALL, "mps2_an386", folder)
    done(folder, "init", "-l", "west")
    assert (folder / ".west" / "config").read_text() == CONFIG
    printed = done(folder, "build")
    assert printed == f"{folder}/build/firmware.elf\nnext: microgen verify .\n"
    return folder


@pytest.fixture
def copy(project: Path, tmp_path: Path) -> Path:
    """The project with its workspace and its build, elsewhere."""
    return Path(shutil.copytree(project, tmp_path / "copy"))


def test_verify_proves_a_project_that_is_a_workspace(project: Path) -> None:
    report = json.loads(done(project, "verify", "--reproduce", "--json"))
    assert report["ok"]
    status = {check["name"]: check["status"] for check in report["checks"]}
    assert status["reproduce"] == "ok"
    assert (project / "west" / "__pycache__").is_dir()  # this was there, too


def test_run_takes_options_and_files_of_the_current_directory(project: Path) -> None:
    assert "status=0 samples=1" in done(project, "run")
    below = project / "build" / "CMakeFiles"
    printed = done(below, "run", "--", "--compare", "--output", "results.npz")
    assert "outputs equal on 8 of 8 samples; all 4 layers equal" in printed
    with np.load(below / "results.npz") as results:
        assert [array.shape for array in results.values()] == [(8, 1, 10)]


def test_a_bad_option_is_an_error_of_microgen(project: Path) -> None:
    finished = west(project / "model" / "src", "build", "-b", "mps2_an386")
    assert finished.returncode == 2
    said = "microgen: build: unrecognized arguments: -b mps2_an386; see `microgen build --help`\n"
    assert finished.stderr == said


def test_help_shows_the_options_of_microgen(project: Path) -> None:
    assert done(project, "help", "verify").startswith("usage: microgen verify ")
    listed = " ".join(done(project, "help").split())
    assert "run: verify this project's firmware, then run it" in listed


def test_failures_have_microgens_statuses(copy: Path) -> None:
    (copy / "prj.conf").write_text("# changed\n")
    failed = west(copy, "verify")
    assert failed.returncode == 1
    assert "prj.conf" in failed.stdout
    (copy / "src" / "main.c").write_text("none\n")
    broken = west(copy, "build")
    assert broken.returncode == 1
    assert "src/main.c:1:1: error:" in broken.stderr


def test_neighbours_and_copies_do_not_collide(project: Path, copy: Path) -> None:
    other = copy.with_name("other")
    microgen.generate(SMALL, "native", other)
    done(other, "init", "-l", "west")
    assert [done(place, "topdir").strip() for place in (copy, other)] == [str(copy), str(other)]
    head = "default: small_int8.tflite for native,"
    assert done(other, "microgen", "inspect", ".").startswith(head)
    assert not copy.parent.joinpath(".west").exists()


def test_a_second_init_changes_nothing(project: Path) -> None:
    again = west(project, "init", "-l", "west")
    assert again.returncode == 1
    assert "already initialized" in again.stderr
    assert (project / ".west" / "config").read_text() == CONFIG


def test_a_project_generated_again_is_still_a_workspace(copy: Path) -> None:
    microgen.generate(SMALL, "mps2_an386", copy, name="again")
    assert sorted(p.name for p in (copy / ".west").iterdir()) == ["config"]
    assert done(copy, "topdir") == f"{copy}\n"
    (copy / ".west" / "mine").touch()
    with pytest.raises(ProjectError, match=r"contains \.west/mine"):
        microgen.generate(SMALL, "mps2_an386", copy)


def test_only_a_project_keeps_a_workspace(tmp_path: Path) -> None:
    (tmp_path / "p" / ".west").mkdir(parents=True)
    (tmp_path / "p" / ".west" / "config").write_text("[manifest]\npath = zephyr\n")
    with pytest.raises(ProjectError, match=r"contains \.west/config"):
        microgen.generate(SMALL, "native", tmp_path / "p")
    microgen.generate(SMALL, "native", tmp_path / "p", force=True)
    assert not (tmp_path / "p" / ".west").exists()
