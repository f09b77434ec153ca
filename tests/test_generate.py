"""``generate`` always writes the same bytes, whole or not at all, whatever the model's names."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import microgen
from microgen.base.errors import MicrogenError, ProjectError
from tests.support.places import SMALL
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA

ROOT = Path(__file__).resolve().parent.parent


def _tree(root: Path) -> dict[str, bytes]:
    return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}


def test_two_processes_with_other_hash_seeds_generate_equal_bytes(tmp_path: Path) -> None:
    for seed in ("1", "2"):
        command = [sys.executable, "-m", "microgen", "generate", str(SMALL), "-b", "mps2_an386"]
        command += ["-q", "-o", str(tmp_path / seed)]
        environment = {"PYTHONHASHSEED": seed, "PATH": "", "PYTHONPATH": str(ROOT)}
        subprocess.run(command, env=environment, check=True, cwd=tmp_path)
    assert _tree(tmp_path / "1") == _tree(tmp_path / "2")


def test_no_file_names_this_machine(tmp_path: Path) -> None:
    microgen.generate(SMALL, "mps2_an386", tmp_path / "p")
    for name, content in _tree(tmp_path / "p").items():
        assert str(tmp_path).encode() not in content, name
        assert str(ROOT).encode() not in content, name


@NEEDS_NINJA
@NEEDS_ARM
@pytest.mark.usefixtures("uncached")
def test_two_builds_in_other_directories_are_equal_and_need_no_microgen(tmp_path: Path) -> None:
    microgen.generate(SMALL, "mps2_an386", tmp_path / "a")
    shutil.copytree(tmp_path / "a", tmp_path / "deeper" / "b")
    elves = []
    for project in (tmp_path / "a", tmp_path / "deeper" / "b"):
        configure = ["cmake", "-S", str(project), "-B", str(project / "build"), "-G", "Ninja"]
        subprocess.run(configure, check=True, stdout=subprocess.DEVNULL)
        build = ["ninja", "-C", str(project / "build")]
        subprocess.run(build, check=True, stdout=subprocess.DEVNULL)
        elves.append((project / "build" / "firmware.elf").read_bytes())
    assert elves[0] == elves[1]


def test_what_microgen_did_not_generate_is_not_overwritten(tmp_path: Path) -> None:
    project = tmp_path / "p"
    microgen.generate(SMALL, "native", project)
    microgen.generate(SMALL, "native", project)  # microgen may overwrite its own unchanged project
    (project / "notes.txt").write_text("mine")
    with pytest.raises(ProjectError, match=r"contains notes\.txt.*--force"):
        microgen.generate(SMALL, "native", project)
    assert (project / "notes.txt").read_text() == "mine"
    microgen.generate(SMALL, "native", project, force=True)
    assert not (project / "notes.txt").exists()


def test_a_generated_file_that_was_edited_is_not_overwritten(tmp_path: Path) -> None:
    project = tmp_path / "p"
    microgen.generate(SMALL, "native", project)
    (project / "src" / "main.c").write_text("/* mine */")
    with pytest.raises(ProjectError, match=r"src/main\.c \(changed since it was generated\)"):
        microgen.generate(SMALL, "native", project)


def test_a_foreign_folder_whose_name_begins_with_build_is_not_overwritten(tmp_path: Path) -> None:
    project = tmp_path / "p"
    microgen.generate(SMALL, "native", project)
    (project / "build-notes").mkdir()
    (project / "build-notes" / "mine.txt").write_text("mine")
    with pytest.raises(ProjectError, match=r"contains build-notes/mine\.txt"):
        microgen.generate(SMALL, "native", project)


@pytest.mark.parametrize("force", [False, True])
def test_the_current_directory_is_never_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, force: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").touch()
    with pytest.raises(ProjectError, match="current directory"):
        microgen.generate(SMALL, "native", tmp_path, force=force)
    assert (tmp_path / "mine").exists()


def test_a_write_that_fails_leaves_the_old_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "p"
    microgen.generate(SMALL, "native", project)
    before = _tree(project)
    own, opened = Path.open, list[Path]()

    def fail(path: Path, mode: str = "r", **options: Any) -> Any:
        if "w" in mode:
            opened.append(path)
            if len(opened) > 5:
                raise OSError(28, "No space left on device")
        return own(path, mode, **options)

    monkeypatch.setattr(Path, "open", fail)
    with pytest.raises(ProjectError, match="No space left"):
        microgen.generate(SMALL, "mps2_an386", project)
    assert _tree(project) == before
    assert [p.name for p in tmp_path.iterdir()] == ["p"]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"name": "a-b"}, "cannot name a module"),
        ({"name": "x" * 97}, "cannot name a module"),
        ({"name": "_x"}, "cannot name a module"),
        ({"planner": "best"}, "is not one of optimal, greedy, on-demand"),
        ({"numerics": "tvm"}, "is not one of litert, tflm"),
        ({"alignment": 3}, "is not an alignment"),
        ({"executor": "vm"}, "'vm' is not available"),
        ({"codegen": ("nobody",)}, "there is no codegen 'nobody'"),
        ({"ram": -1}, "is not a budget"),
        ({"ram": 500}, r"the --ram budget is 500"),
        ({"flash": 1000}, r"the --flash budget is 1,000"),
    ],
)
def test_bad_options_are_refused_with_a_sentence(
    options: dict[str, object], text: str, tmp_path: Path
) -> None:
    with pytest.raises(MicrogenError, match=text) as error:
        microgen.generate(SMALL, "mps2_an386", tmp_path / "p", **options)
    assert error.value.exit_code == 2
    assert not (tmp_path / "p").exists()


@NEEDS_NINJA
@pytest.mark.parametrize("name", ["MyModel", "a1_B", "x" * 96, "register"])
@pytest.mark.sampled(2)
def test_any_legal_module_name_gives_code_that_compiles_and_runs(name: str, tmp_path: Path) -> None:
    microgen.generate(SMALL, "native", tmp_path / "p", name=name)
    assert microgen.run(tmp_path / "p").samples == 1


@pytest.mark.sampled(2)
@NEEDS_NINJA
@pytest.mark.parametrize("planner", ["on-demand", "greedy", "optimal"])
@pytest.mark.parametrize("optimize", ["speed", "flash"])
def test_every_planner_and_optimization_gives_the_same_outputs(
    planner: str, optimize: str, tmp_path: Path
) -> None:
    project = tmp_path / "p"
    microgen.generate(SMALL, "native", project, planner=planner, optimize=optimize)
    verdicts = microgen.run(project, compare=True).verdicts
    assert verdicts[0].ok
    assert verdicts[0].samples == 8


_QUICK = """
import time
start = time.process_time()
import numpy
imported = time.process_time()
import microgen
microgen.compile_model({model!r}, "mps2_an386")
print((time.process_time() - imported) / (imported - start))
"""


def _imports_of_numpy() -> float:
    """How often a process that generates could have imported numpy instead, by its CPU time."""
    code = _QUICK.format(model=str(SMALL))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(done.stdout)


def test_generate_is_quick() -> None:
    """The whole process may take as much CPU time as eighteen imports of numpy, for a real model.

    A single import of numpy is short enough for a busy machine to halve or to double it: the
    best of a few processes counts.
    """
    assert any(_imports_of_numpy() < 18 for _ in range(4))


def test_outputs_do_not_depend_on_alignment() -> None:
    plans = [microgen.compile_model(SMALL, "native", alignment=n).plan for n in (1, 16, 64)]
    assert len({tuple(p.nbytes for p in plan.placements) for plan in plans}) == 1
    assert all(p.offset % 64 == 0 for p in plans[2].placements)
    assert np.all([plan.gap >= 0 for plan in plans])
