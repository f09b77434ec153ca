"""Fronts in files: the number of a schedule takes it out, and what does not fit is refused."""

from __future__ import annotations

import functools
import json
from dataclasses import replace
from pathlib import Path

import pytest

from microgen.base.errors import MicrogenError
from microgen.base.manifest.schedule import FrontOrigin
from microgen.compiler.schedule import Front, explore, file, front_file
from tests.compiler.schedule.costs import M4, no_ram, parts_of, two_convolutions

ORIGIN = FrontOrigin(model="00ff", core="cortex-m4f", options={"planner": "greedy"})


@functools.cache
def front() -> Front:
    found = explore(parts_of(two_convolutions()), M4.cpu, no_ram)
    return replace(found, origin=ORIGIN)


def written(folder: Path, name: str = "front.json") -> Path:
    front_file.write(front(), folder / name)
    return folder / name


def test_each_schedule_is_taken_by_its_number(tmp_path: Path) -> None:
    path, found = written(tmp_path), front().found
    assert len(found) > 1
    for number, one in enumerate(found, 1):
        assert front_file.load(f"{path}#{number}", ORIGIN) == file.record(one.schedule)


def test_equal_fronts_are_equal_files_with_ram_and_goals(tmp_path: Path) -> None:
    first, second = written(tmp_path, "a.json"), written(tmp_path, "b.json")
    assert first.read_bytes() == second.read_bytes()
    points = json.loads(first.read_text())["points"]
    assert {point["ram"] for point in points} == {100}
    assert {goal for point in points for goal in point["goals"]} >= {"speed", "flash"}


@pytest.mark.parametrize("name", ["schedule#2", "schedule#2.json", "schedule#x"])
def test_the_name_of_a_file_may_have_the_mark(name: str, tmp_path: Path) -> None:
    record = file.record(front().found[0].schedule)
    (tmp_path / name).write_text(file.dumps(record))
    assert front_file.load(str(tmp_path / name), ORIGIN) == record


def test_the_name_of_a_front_may_have_the_mark(tmp_path: Path) -> None:
    path = written(tmp_path, "front#1.json")
    assert front_file.load(f"{path}#1", ORIGIN) == file.record(front().found[0].schedule)


def refusal(given: str, origin: FrontOrigin = ORIGIN) -> str:
    with pytest.raises(MicrogenError) as caught:
        front_file.load(given, origin)
    return str(caught.value)


@pytest.mark.parametrize(
    ("number", "words"),
    [
        ("#0", "and no number 0; give a number from 1 to"),
        ("#999", "schedules, and no number 999"),
        ("#", "'' is not the number of a schedule"),
        ("#-1", "'-1' is not the number of a schedule"),
        ("#1x", "'1x' is not the number of a schedule"),
        ("#" + "9" * 5000, "is not the number of a schedule"),
        ("", "is a front of several schedules; say which one"),
    ],
)
def test_a_number_that_is_none_is_refused(number: str, words: str, tmp_path: Path) -> None:
    assert words in refusal(f"{written(tmp_path)}{number}")


@pytest.mark.parametrize(
    ("origin", "words"),
    [
        (replace(ORIGIN, model="ff"), "is the front of another model"),
        (replace(ORIGIN, core="cortex-m3"), "is a front for cortex-m4f, not for cortex-m3"),
        (replace(ORIGIN, options={}), "was explored with another --planner"),
        (
            replace(ORIGIN, options={**ORIGIN.options, "workspace_io": "True"}),
            "was explored with another --workspace-io",
        ),
    ],
)
def test_a_front_of_something_else_is_refused(
    origin: FrontOrigin, words: str, tmp_path: Path
) -> None:
    assert words in refusal(f"{written(tmp_path)}#1", origin)


def test_what_is_no_front_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_text(file.dumps(file.record(front().found[0].schedule)))
    assert "s.json: is not a front of schedules" in refusal(f"{path}#1")
    path.write_text('{"points": [], "origin": 1}')
    assert "s.json: is not a front of schedules" in refusal(f"{path}#1")
    assert "none.json: no such file" in refusal(f"{tmp_path}/none.json#1")


def test_a_front_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    with pytest.raises(MicrogenError, match="cannot be written"):
        written(tmp_path, "none/front.json")
