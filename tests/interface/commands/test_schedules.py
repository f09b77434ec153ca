"""``plan --explore``, the files that it writes, and ``generate --schedule``."""

from __future__ import annotations

import json
import operator
from pathlib import Path

import pytest

from microgen.compiler.schedule import front, search
from microgen.compiler.schedule.goals import GOALS
from microgen.interface import api
from microgen.interface.cli import main
from tests.support.places import DIGITS
from tests.support.tools import NEEDS_ARM_GCC, NEEDS_NINJA

MODEL = [str(DIGITS), "-b", "mps2_an386"]


def _explored(folder: Path, *more: str) -> int:
    return main(["plan", *MODEL, "--explore", "-o", str(folder), *more])


@NEEDS_NINJA
@NEEDS_ARM_GCC
def test_a_schedule_that_was_explored_is_taken_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _explored(tmp_path / "s", "--json") == 0
    found = json.loads(capsys.readouterr().out)["schedules"]
    written = {file.name for file in tmp_path.glob("s/*")}
    assert written == {f"schedule-{n + 1}.json" for n in range(len(found))}
    last, project = tmp_path / "s" / f"schedule-{len(found)}.json", tmp_path / "p"
    assert main(["generate", *MODEL, "--schedule", str(last), "-o", str(project), "-q"]) == 0
    record = json.loads((project / "microgen.json").read_text())
    assert record["schedule"]["functions"] == json.loads(last.read_text())["functions"]
    assert record["schedule"]["cycles"] == found[-1]["cycles"]
    assert record["options"]["schedule"] == ""
    last.unlink()
    assert main(["build", str(project), "-q"]) == 0
    capsys.readouterr()
    assert main(["verify", str(project), "--reproduce", "--json"]) == 0
    checks = json.loads(capsys.readouterr().out)["checks"]
    assert {c["name"]: c["status"] for c in checks}["reproduce"] == "ok"


def test_a_point_of_a_front_in_one_file_is_taken(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    front = tmp_path / "front.json"
    assert main(["plan", *MODEL, "--explore", "-o", str(front), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["schedules"]
    last = f"{front}#{len(found)}"
    assert main(["plan", *MODEL, "--schedule", last, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["arena"] == found[-1]["ram"]
    project = tmp_path / "p"
    assert main(["generate", *MODEL, "--schedule", last, "-o", str(project), "-q"]) == 0
    record = json.loads((project / "microgen.json").read_text())["schedule"]
    assert record["cycles"] == found[-1]["cycles"]
    other = ["plan", str(DIGITS), "-b", "mps2_an500", "--schedule", last]
    assert main(other) == 2
    assert "is a front for cortex-m4f, not for cortex-m7f" in capsys.readouterr().err


def test_the_front_is_a_table_and_a_drawing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", *MODEL, "--explore", "--clock", "100MHz"]) == 0
    text = capsys.readouterr().out
    assert "implementations" in text.splitlines()[0]
    assert "schedules considered\ncertificate: no schedule needs less than" in text
    assert any(line.startswith("+---") for line in text.splitlines())
    assert "n/a" not in text


def test_exploring_again_replaces_what_was_written(tmp_path: Path) -> None:
    assert _explored(tmp_path / "s") == 0
    (tmp_path / "s" / "schedule-99.json").write_text("{}")
    assert _explored(tmp_path / "s") == 0
    assert not (tmp_path / "s" / "schedule-99.json").exists()


def test_other_files_are_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    assert _explored(tmp_path) == 2
    assert "has 'notes.txt', which is no schedule" in capsys.readouterr().err
    assert (tmp_path / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["plan", *MODEL, "-o", "s"], "--output: is for --explore only"),
        (["plan", *MODEL, "--clock", "1MHz"], "--clock: is for --explore only"),
        (["plan", *MODEL, "--explore", "--schedule", "s"], "--schedule: leaves nothing to explore"),
        (["plan", ".", "--explore"], "--explore: a project's schedule is chosen already"),
        (["generate", *MODEL, "--schedule", "none.json", "-o", "p"], "none.json: no such file"),
        (
            ["generate", str(DIGITS), *MODEL, "--name", "a,b", "--schedule", "s", "-o", "p"],
            "--schedule: a schedule is of one model; leave it out, or give one model",
        ),
    ],
)
def test_what_has_no_effect_is_refused(
    arguments: list[str],
    words: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    error = capsys.readouterr().err.strip()
    assert words in error.splitlines()[-1]
    assert "Traceback" not in error
    assert not list(tmp_path.iterdir())


def test_the_front_has_what_each_goal_chooses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where every search spends all plans that it may make; unless it has something better."""
    for spender in (search, front):
        monkeypatch.setattr(spender, "PLANS", 6)
    explored = api.explore(DIGITS, "mps2_an386", output_workspace=True).found
    found = [(one.ram.arena_io, one.score.cycles, one.score.flash) for one in explored]
    labels = {goal: axes for one, axes in zip(explored, found, strict=True) for goal in one.goals}
    assert len(labels) >= 2
    for goal in GOALS:
        made = api.compile_model(DIGITS, "mps2_an386", optimize=goal, output_workspace=True)
        score = made.manifest.schedule
        assert score is not None
        axes = (made.plan.peak + made.program.io_bytes, score.cycles, score.flash)
        assert labels.get(goal, axes) == axes
        assert any(all(map(operator.le, one, axes)) for one in found)
