"""The output of every command with --json, compared with the schemas in docs/schemas."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

from microgen.base.output.console import Console, Outcome
from microgen.interface.commands import COMMANDS
from microgen.verifier import CHECKS
from tests.interface.commands.conftest import NOT_APPLICABLE, ROOT, SEED, Run
from tests.relay.blob.samples import ALL
from tests.support.places import SMALL
from tests.support.tflite_builder import OperatorSpec, TensorSpec, build_model
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA

SCHEMAS = ROOT / "docs" / "schemas"


def _strict(schema: Any) -> Any:
    """The schema, which now allows only the properties that it names, unless it says otherwise."""
    if isinstance(schema, list):
        return [_strict(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: _strict(value) for key, value in schema.items()}
    if found.get("type") == "object" and isinstance(found.get("properties"), dict):
        found.setdefault("additionalProperties", False)
    return found


def _schema(name: str) -> Any:
    return _strict(json.loads((SCHEMAS / f"{name}.json").read_text()))


def _checked(run: Run, command: list[str | Path], code: int = 0, schema: str = "") -> Any:
    """The command's JSON. The command must print nothing else."""
    ran = run([*command, "--json"])
    assert ran.code == code, ran.err
    assert ran.out.isascii()
    found = json.loads(ran.out, parse_constant=lambda text: pytest.fail(text))
    jsonschema.validate(found, _schema(schema or str(command[0])))
    return found


def test_every_command_has_a_sound_schema() -> None:
    board = "board"  # that of board.yml, which a command reads and does not print
    assert {path.stem for path in SCHEMAS.glob("*.json")} == {*COMMANDS, "error", board}
    for name in (*COMMANDS, "error"):
        jsonschema.Draft202012Validator.check_schema(_schema(name))
        assert name in (ROOT / "docs" / "reference" / "json.md").read_text()


@pytest.mark.parametrize("command", ["boards", "ops", "codegens", "cmake"])
def test_listings(run: Run, command: str) -> None:
    assert _checked(run, [command])["schema"] == 1


def test_doctor(run: Run) -> None:
    jsonschema.validate(json.loads(run(["doctor", "--json"]).out), _schema("doctor"))


@pytest.mark.parametrize("model", [SMALL, SEED], ids=lambda path: path.stem)
@pytest.mark.parametrize("command", ["plan", "inspect", "partition"])
def test_models(run: Run, command: str, model: Path) -> None:
    _checked(run, [command, model])


def test_a_plan_adds_up(run: Run) -> None:
    found = _checked(run, ["plan", SMALL])
    used = found["ram"]
    assert used["arena_io"] == used["workspace"] + used["io"] == found["arena"]
    assert used["total"] == used["arena_io"] + used["static"] + used["stack"]
    assert max(call["live"] for call in found["calls"]) == found["peak"]


def test_a_generator_partitions(run: Run) -> None:
    assert _checked(run, ["partition", SEED, "--codegen", "dnnl"])["module"]


@NEEDS_NINJA
@NEEDS_ARM
def test_a_project(run: Run, project: Path, tmp_path: Path) -> None:
    archive = tmp_path / "m.tar"
    _checked(run, ["generate", SMALL, "-b", "mps2_an386", "-o", tmp_path / "p"])
    _checked(run, ["build", project])
    _checked(run, ["plan", project])
    _checked(run, ["export", project, "-o", archive])
    for path in (project, project / "build" / "firmware.elf", project / "model", archive):
        _checked(run, ["inspect", path])
    _checked(run, ["run", project])
    _checked(run, ["run", project, "--profile", "--compare"])


@NEEDS_NINJA
@NEEDS_ARM
def test_verify_has_its_numbers_as_numbers(run: Run, project: Path) -> None:
    found = _checked(run, ["verify", project, "--ram", "8K", "--flash", "3K"], code=1)
    checks = {check["name"]: check for check in found["checks"]}
    assert {name for name, check in checks.items() if check["status"] == "n/a"} == NOT_APPLICABLE
    absent = len(NOT_APPLICABLE)
    assert found["counts"] == {"ok": len(CHECKS) - absent - 1, "failed": 1, "n/a": absent}
    for check in checks.values():
        assert set(check) == {"name", "status", "expected", "found", "values"}
    flash, ram = checks["flash_budget"]["values"], checks["ram_budget"]["values"]
    assert (flash["used"], flash["budget"]) == (found["flash"]["total"], 3072)
    assert (ram["used"], ram["budget"]) == (found["ram"]["total"], 8192)
    used = {m["name"]: m["used"] for m in checks["sections_fit"]["values"]["memories"]}
    assert used == {"flash": flash["used"], "ram": ram["used"]}
    assert 0 < checks["stack"]["values"]["bound"] <= checks["stack"]["values"]["reserve"]
    (pool,) = checks["arena"]["values"]["pools"]
    assert pool["planned"] == pool["found"] == found["ram"]["workspace"]


@NEEDS_NINJA
def test_several_models_and_blobs(run: Run, tmp_path: Path) -> None:
    several, blobs = tmp_path / "s", tmp_path / "b"
    to = ["-b", "native", "-o", several]
    made = _checked(run, ["generate", SMALL, SMALL, "--name", "a,b", "--shared-workspace", *to])
    assert made["ram"]["workspace"] == made["shared_workspace"] < 2 * made["modules"][0]["arena"]
    assert _checked(run, ["plan", several])["ram"]["total"] is None  # the host's is not counted
    _checked(run, ["inspect", several])
    _checked(run, ["verify", several])
    _checked(run, ["run", several, "--compare"])
    _checked(run, ["generate", SEED, "-b", "native", "--codegen", "dnnl", "-o", blobs])
    found = _checked(run, ["inspect", blobs, "--extract", tmp_path / "x"])
    assert len(found["blobs"]) == 1
    (payload, *_) = sorted((tmp_path / "x").glob("*.bin"))
    assert payload.exists()


def test_a_blob_by_itself(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "b.blob"
    path.write_bytes(ALL["full"])
    _checked(run, ["inspect", path])


@pytest.mark.parametrize(
    "command",
    [
        ["build", "absent"],
        ["inspect", "absent"],
        ["generate", str(SMALL), "-b", "moon", "-o", "out"],
        ["generate", str(SMALL), "-b", "native", "-o", "out", "--ram", "12Q"],
        ["run", "absent", "--comp"],
        ["bogus"],
        [],
        ["plan"],
    ],
    ids=" ".join,
)
def test_errors(run: Run, command: list[str], tmp_path: Path) -> None:
    found = _checked(run, list(command), code=2, schema="error")
    assert found["exit_code"] == 2
    assert run([*command, "--json", "-q"]).err.count("\n") == 1


def test_names_from_a_model_are_raw_but_ascii(run: Run, tmp_path: Path) -> None:
    name = "\x1b[31m\u202e\n\u00e9"
    tensors = [TensorSpec("x", (1, 4), "float32"), TensorSpec(name, (1, 4), "float32")]
    path = tmp_path / "m.tflite"
    path.write_bytes(build_model(tensors, [OperatorSpec("ABS", ["x"], [name])], ["x"], [name]))
    assert _checked(run, ["inspect", path])["layers"][0]["layer"] == name


def test_what_json_lacks_is_text(capsys: pytest.CaptureFixture[str]) -> None:
    Console(as_json=True).result(Outcome({"a": float("nan"), "b": np.float64("-inf")}, []))
    assert json.loads(capsys.readouterr().out) == {"schema": 1, "a": "NaN", "b": "-Infinity"}
