"""The same inputs give the same project, whatever the order of hashes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
DIGITS = EXAMPLES / "digits" / "digits_int8.tflite"


@pytest.mark.parametrize(
    ("model", "options"),
    [
        (EXAMPLES / "seed_demo.relay", ["--codegen", "dnnl", "--composite"]),
        (EXAMPLES / "byoc_guide.relay", ["--codegen", "examplejsoncompiler,ccompiler,dnnl"]),
        (DIGITS, ["--codegen", "accelerator", "--merge-regions"]),
    ],
    ids=["dnnl", "three", "accelerator"],
)
def test_two_runs_give_the_same_bytes(model: Path, options: list[str], tmp_path: Path) -> None:
    trees = []
    for seed in ("1", "2"):
        folder = tmp_path / seed
        command = [sys.executable, "-m", "microgen", "generate", str(model), "-o", str(folder)]
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        subprocess.run([*command, "-b", "mps3_an547", "-q", *options], check=True, env=environment)
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        trees.append({path.relative_to(folder): path.read_bytes() for path in files})
    assert trees[0] == trees[1]
    assert not [name for name, data in trees[0].items() if str(tmp_path).encode() in data]
