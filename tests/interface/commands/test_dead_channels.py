"""What ``generate`` and ``inspect`` say about channels that the firmware does not compute."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from microgen.base import manifest
from microgen.verifier.checks import consistency
from tests.interface.commands.conftest import ROOT, Run
from tests.support import dead_networks
from tests.support.places import DIGITS

TEXT = "dead channels: 8 removed, which saves 688 weights and 6,720 products in each inference"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "dead.tflite"
    path.write_bytes(dead_networks.tflite())
    return path


def _checked(run: Run, *command: str | Path) -> dict[str, object]:
    found = json.loads(run([*command, "--json"]).out)
    schema = json.loads((ROOT / "docs" / "schemas" / f"{command[0]}.json").read_text())
    jsonschema.validate(found, schema)
    assert isinstance(found, dict)
    return found


def test_generate_says_what_is_saved(run: Run, model: Path, tmp_path: Path) -> None:
    to = ("-b", "native", "-o", tmp_path / "p")
    assert TEXT in run(["generate", model, *to]).out.splitlines()
    found = _checked(run, "generate", model, *to, "--force")
    assert found["dead_channels"] == {"channels": 8, "weights": 688, "products": 6720}


def test_each_of_several_models_has_its_own(run: Run, model: Path, tmp_path: Path) -> None:
    to = ("-b", "native", "-o", tmp_path / "p", "--name", "a,b")
    lines = run(["generate", model, DIGITS, *to]).out.splitlines()
    assert [line for line in lines if "dead channels" in line] == [f"a: {TEXT}"]


def test_inspect_lists_the_layers(run: Run, model: Path, tmp_path: Path) -> None:
    run(["generate", model, "-b", "native", "-o", tmp_path / "p"])
    assert TEXT in run(["inspect", tmp_path / "p"]).out.splitlines()
    rows = [line.split() for line in run(["inspect", tmp_path / "p", "-v"]).out.splitlines()]
    assert ["second", "nn.conv2d", "4", "8", "64", "1,920"] in rows
    found = _checked(run, "inspect", tmp_path / "p")["dead_channels"]
    assert isinstance(found, list)
    assert [layer["layer"] for layer in found] == ["first", "second", "third", "y"]
    assert found[0]["kept"] == list(dead_networks.KEPT["first"])


def test_a_network_without_dead_channels_has_no_line(run: Run, tmp_path: Path) -> None:
    made = run(["generate", DIGITS, "-b", "native", "-o", tmp_path / "p"]).out
    assert "dead channels" not in made + run(["inspect", tmp_path / "p", "-v"]).out
    assert "dead_channels" not in json.loads((tmp_path / "p" / "microgen.json").read_text())


@pytest.mark.parametrize(
    ("kept", "problem"),
    [
        ([0, 3, 4, 7, 8, 9, 10], "first is int8[1, 6, 5, 8], but keeps 7 channels"),
        ([0, 3, 4, 7, 8, 9, 10, 12], "first keeps channels"),
        ([3, 0, 4, 7, 8, 9, 10, 11], "first keeps channels"),
        ([0, 0, 4, 7, 8, 9, 10, 11], "first keeps channels"),
    ],
)
def test_contradictions_are_found(
    run: Run, model: Path, tmp_path: Path, kept: list[int], problem: str
) -> None:
    run(["generate", model, "-b", "native", "-o", tmp_path / "p"])
    path = tmp_path / "p" / "microgen.json"
    assert not [*consistency._problems(manifest.load(path.parent))]
    data = json.loads(path.read_text())
    data["dead_channels"][0]["kept"] = kept
    path.write_text(manifest.digested(data))
    assert any(p.startswith(problem) for p in consistency._problems(manifest.load(path.parent)))
