"""Options by their whole names, refusals of others, plans of projects, JUnit reports of runs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest

from microgen.interface import api
from tests.interface.commands.conftest import Run
from tests.support.places import SMALL
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA


@pytest.mark.parametrize(
    ("command", "option", "whole"),
    [
        (["run", "p"], "--comp", "--compare"),
        (["verify", "p"], "--fla", "--flash"),
        (["generate", "m", "-b", "b", "-o", "o"], "--exec", "--executor"),
        (["plan", "m"], "--js", "--json"),
    ],
)
def test_abbreviated_options_are_refused(
    run: Run, command: list[str], option: str, whole: str
) -> None:
    ran = run([*command, option])
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert ran.err.startswith(f"microgen: {command[0]}: unrecognized arguments: {option}; ")
    assert f"did you mean {whole}? see `microgen {command[0]} --help`" in ran.err


@pytest.mark.parametrize("command", [["bogus"], ["run"], ["verify", "p", "--ram"]])
def test_usage_errors_obey_json(run: Run, command: list[str]) -> None:
    plain, asked = run(command), run([*command, "--json"])
    assert (plain.code, plain.out) == (2, "")
    assert plain.err.count("\n") == 1
    found = json.loads(asked.out)
    assert (asked.code, found["ok"], found["exit_code"]) == (2, False, 2)
    assert found["error"] in asked.err
    assert "--help`" in found["hint"]


def test_a_project_has_its_plan_as_it_was_generated(run: Run, tmp_path: Path) -> None:
    made = tmp_path / "p"
    options = ["-b", "mps2_an385", "--planner", "on-demand"]
    assert run(["generate", SMALL, *options, "-o", made]).code == 0
    of_model, of_project = run(["plan", SMALL, *options]), run(["plan", made])
    assert of_project.out == of_model.out
    data = [
        json.loads(run([*c, "--json"]).out) for c in (["plan", SMALL, *options], ["plan", made])
    ]
    assert data[0] == data[1]


def test_options_that_a_project_has_already_are_refused(run: Run, tmp_path: Path) -> None:
    made = tmp_path / "p"
    assert run(["generate", SMALL, "-b", "native", "-o", made]).code == 0
    for option in (["-b", "native"], ["--planner", "greedy"], ["--pool", "a:1K"]):
        ran = run(["plan", made, *option])
        assert ran.code == 2
        assert "cannot change the plan of a project that is already generated" in ran.err


def test_a_folder_that_is_no_project_has_no_plan(run: Run, tmp_path: Path) -> None:
    ran = run(["plan", tmp_path])
    assert ran.code == 2
    assert "is not a generated project: it has no microgen.json; run `microgen generate" in ran.err


def test_the_plan_of_several_models(run: Run, tmp_path: Path) -> None:
    made = tmp_path / "p"
    models = [SMALL, SMALL, "--name", "a,b", "--shared-workspace"]
    alone = api.plan(SMALL, "mps2_an386").plan.peak
    assert run(["generate", *models, "-b", "mps2_an386", "-o", made]).code == 0
    ran = run(["plan", made])
    assert ran.out.startswith("a:\n")
    assert "\nb:\n" in ran.out
    both = f"arena + I/O: {alone + 148:,} bytes (workspace {alone:,}, inputs and outputs 148)"
    assert both in ran.out


@NEEDS_NINJA
@NEEDS_ARM
def test_a_run_writes_junit(run: Run, project: Path, tmp_path: Path) -> None:
    report = tmp_path / "run.xml"
    assert run(["run", project, "--compare", "--junit", report]).code == 0
    suite = ElementTree.parse(report).getroot()
    cases = {case.get("name"): case for case in suite}
    assert suite.get("name") == "microgen run"
    assert (suite.get("failures"), suite.get("tests")) == ("0", str(len(cases)))
    assert {"arena", "run", "numpy reference (litert)"} <= set(cases)
    assert cases["ram_budget"].find("skipped") is not None


@NEEDS_NINJA
@NEEDS_ARM
def test_a_run_that_fails_writes_junit(run: Run, project: Path, tmp_path: Path) -> None:
    made, report = shutil.copytree(project, tmp_path / "p"), tmp_path / "run.xml"
    manifest = made / "microgen.json"
    data = json.loads(manifest.read_text())
    data["plan"]["buffers"][0]["nbytes"] += 1
    manifest.write_text(json.dumps(data))
    assert run(["run", made, "--junit", report]).code == 1
    suite = ElementTree.parse(report).getroot()
    (failure,) = suite.iter("failure")
    assert suite.get("failures") == "1"
    assert "the firmware is not what was planned" in str(failure.get("message"))


def test_a_junit_report_that_cannot_be_written(run: Run, project: Path, tmp_path: Path) -> None:
    ran = run(["verify", project, "--junit", tmp_path / "absent" / "v.xml"])
    assert ran.code == 2
    assert "cannot be written: No such file or directory" in ran.err
