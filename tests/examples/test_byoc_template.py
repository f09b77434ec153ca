"""The package that vendors copy: it is installed and listed, its tests pass, and firmware runs
under QEMU."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from microgen import relay
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA

CHECKOUT = Path(__file__).resolve().parents[2]
TEMPLATE = CHECKOUT / "examples" / "byoc_template"
EXAMPLE = TEMPLATE / "example.relay"


def _by_hand(site: Path) -> None:
    """Writes the files that pip would write, and a link to the code."""
    project = tomllib.loads((TEMPLATE / "pyproject.toml").read_text())["project"]
    info = site / f"microgen_byoc_template-{project['version']}.dist-info"
    info.mkdir(parents=True)
    fields = {"Metadata-Version": "2.1", "Name": project["name"], "Version": project["version"]}
    (info / "METADATA").write_text("".join(f"{k}: {v}\n" for k, v in fields.items()))
    groups = project["entry-points"].items()
    lines = [f"[{g}]\n" + "".join(f"{n} = {v}\n" for n, v in e.items()) for g, e in groups]
    (info / "entry_points.txt").write_text("".join(lines))
    package = TEMPLATE / "microgen_byoc_template"
    (site / package.name).symlink_to(package)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for PYTHONPATH with the package installed."""
    folder = tmp_path_factory.mktemp("site")
    _by_hand(folder)
    return folder


def _python(site: Path, *args: str) -> str:
    path = os.pathsep.join([str(site), str(CHECKOUT)])
    env = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, *args]
    done = subprocess.run(command, capture_output=True, text=True, env=env, cwd=site)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


# Runs commands one after the other in one process; they are lists of arguments in JSON. Starting
# Python and its libraries takes longer than most commands.
_IN_TURN = """
import json, sys
from microgen.interface.cli import main

for arguments in json.loads(sys.argv[1]):
    status = main(arguments)
    if status:
        sys.exit(status)
"""


def _in_turn(site: Path, *commands: Sequence[str]) -> str:
    return _python(site, "-c", _IN_TURN, json.dumps(commands))


def _each_json(said: str, count: int) -> Iterator[Any]:
    """What each of the first commands wrote."""
    for _ in range(count):
        found, end = json.JSONDecoder().raw_decode(said)
        said = said[end:].lstrip()
        yield found


LIST = ("codegens", "--json")


def _check_list(found: Any) -> None:
    listed = {one["name"]: one for one in found["codegens"]}
    assert listed["vecunit"]["origin"] == "microgen-byoc-template 0.1.0"
    assert listed["vecunit"]["operators"] == ["add", "multiply", "nn.relu"]
    assert listed["vecunit"]["patterns"] == ["vecunit.multiply_add"]
    assert listed["vectape"]["type_keys"] == ["vectape"]


@pytest.fixture(scope="module")
def answers(site: Path) -> Sequence[Any]:
    """The list of code generators, and a partition with one that takes few elements."""
    few = ("--codegen", "vecunit", "--codegen-option", "vecunit.max_elements=32")
    return list(_each_json(_in_turn(site, LIST, ("partition", str(EXAMPLE), *few, "--json")), 2))


def test_they_are_listed(answers: Sequence[Any]) -> None:
    _check_list(answers[0])


def test_partition_says_why_not(answers: Sequence[Any]) -> None:
    found = answers[1]
    assert "expected multiples of 4 up to 32" in str(found["refusals"])
    assert "vecunit_main" not in found["module"]


@pytest.mark.skipif(
    importlib.util.find_spec("hatchling") is None,
    reason="without a network, pip wants hatchling here: pip install hatchling",
)
def test_pip_installs_it(tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
    offline = ["--no-build-isolation", "--no-deps", "--no-index"]
    subprocess.run([*pip, *offline, "--target", str(tmp_path), str(TEMPLATE)], check=True)
    chosen = ("--codegen", "vecunit,vectape", "--composite")
    generated = ("--codegen", "vectape", "-o", str(tmp_path / "project"))
    said = _in_turn(
        *(tmp_path, LIST),
        ("partition", str(EXAMPLE), *chosen, "--json"),
        ("generate", str(EXAMPLE), "-b", "native", *generated, "-q"),
    )
    listed, partition = _each_json(said, 2)
    _check_list(listed)
    assert 'Composite="vecunit.multiply_add"' in partition["module"]
    assert (tmp_path / "project" / "codegens" / "vectape" / "vectape.c").is_file()


# In every run, its firmware is built with all options, and not with each of them.
@NEEDS_NINJA
@pytest.mark.parametrize("chosen", ["not False", pytest.param("False", marks=pytest.mark.slow)])
def test_its_own_tests_pass(site: Path, chosen: str) -> None:
    tests = ("-k", chosen, str(TEMPLATE / "tests"))
    _python(site, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests)


@pytest.mark.sampled(1)
@NEEDS_ARM
@NEEDS_NINJA
@pytest.mark.parametrize(
    "options",
    [
        pytest.param(("vecunit",), marks=pytest.mark.slow),  # the last test runs it, too
        pytest.param(("vecunit", "--composite", "--interface", "packed"), marks=pytest.mark.slow),
        ("vecunit", "--composite", "--merge-regions", "--executor", "graph"),
        pytest.param(("vectape",), marks=pytest.mark.slow),  # the last test runs it, too
        ("vectape", "--merge-regions", "--interface", "packed"),
    ],
    ids=" ".join,
)
def test_their_firmware_runs(site: Path, options: tuple[str, ...], tmp_path: Path) -> None:
    project = str(tmp_path / "project")
    chosen = ("--codegen", *options, "-o", project)
    generate = ("generate", str(EXAMPLE), "-b", "mps2_an386", *chosen)
    said = _in_turn(site, generate, ("verify", project), ("run", project, "--compare"))
    assert "outputs equal on 8 of 8 samples" in said


@NEEDS_NINJA
def test_its_payload_is_described(site: Path, tmp_path: Path) -> None:
    project = str(tmp_path / "project")
    chosen = ("--codegen", "vectape", "--merge-regions", "-o", project)
    generate = ("generate", str(EXAMPLE), "-b", "native", *chosen, "-q")
    said = _in_turn(site, generate, ("inspect", project, "--json"), ("verify", project))
    (shown,) = _each_json(said, 1)
    found = shown["blobs"][0]["modules"]
    tapes = [module["facts"]["commands"] for module in found if module["key"] == "vectape"]
    commands = sorted(op for tape in tapes for op in tape)
    assert commands == ["add", "add", "multiply", "multiply", "nn.relu"]


def _mixed(folder: Path) -> Path:
    """A model with something for each of three generators and for the built-in kernels."""
    x, y = relay.var("x", shape=(4, 4)), relay.var("y", shape=(2, 3))
    weight = relay.const(np.linspace(-1, 1, 16, dtype=np.float32).reshape(4, 4))
    scaled = relay.multiply(relay.add(x, x), weight)
    outputs = relay.Tuple([relay.sigmoid(scaled), relay.subtract(y, relay.abs(y))])
    path = folder / "mixed.relay"
    module = relay.IRModule.from_expr(relay.Function([x, y], outputs))
    relay.save(relay.infer_type(module), path)
    return path


@NEEDS_ARM
@NEEDS_NINJA
def test_three_generators_and_the_kernels(site: Path, tmp_path: Path) -> None:
    model, project = str(_mixed(tmp_path)), str(tmp_path / "project")
    chosen = ("--codegen", "vectape,vecunit,ccompiler")
    generate = ("generate", model, "-b", "mps2_an386", *chosen, "-o", project)
    said = _in_turn(
        site,
        ("partition", model, *chosen, "--json"),
        *(generate, ("verify", project), ("run", project, "--compare")),
    )
    (partition,) = _each_json(said, 1)
    owners = {region["codegen"] for region in partition["regions"]}
    assert owners == {"vectape", "vecunit", "ccompiler", "builtin"}
    assert "outputs equal on 8 of 8 samples" in said
