"""The same inputs give the same project, whatever the order of hashes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from microgen.interface.cli import main

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
DIGITS = EXAMPLES / "digits" / "digits_int8.tflite"


MODELS = {
    "dnnl": (EXAMPLES / "seed_demo.relay", ["--codegen", "dnnl", "--composite"]),
    "three": (EXAMPLES / "byoc_guide.relay", ["--codegen", "examplejsoncompiler,ccompiler,dnnl"]),
    "accelerator": (DIGITS, ["--codegen", "accelerator", "--merge-regions"]),
}
# A process with another order of hashes. Its input is the arguments of commands.
RUN = """
import json, sys
from microgen.interface.cli import main
sys.exit(any([main(arguments) for arguments in json.load(sys.stdin)]))
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two folders with the same projects, by processes with other orders of hashes, of which one is
    this process."""
    folders = [tmp_path_factory.mktemp(name) for name in ("here", "there")]
    here, there = map(_commands, folders)
    assert [main(arguments) for arguments in here] == [0] * len(here)
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    given = json.dumps(there).encode()
    subprocess.run([sys.executable, "-c", RUN], check=True, env=environment, input=given)
    return folders


def _commands(folder: Path) -> list[list[str]]:
    return [
        ["generate", str(model), "-o", str(folder / name), "-b", "mps3_an547", "-q", *options]
        for name, (model, options) in MODELS.items()
    ]


@pytest.mark.parametrize("name", MODELS)
def test_two_runs_give_the_same_bytes(name: str, runs: list[Path]) -> None:
    trees = []
    for root in runs:
        folder = root / name
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        trees.append({path.relative_to(folder): path.read_bytes() for path in files})
    assert trees[0]
    assert trees[0] == trees[1]
    folders = [str(root).encode() for root in runs]
    assert not [file for file, data in trees[0].items() if any(f in data for f in folders)]
