"""The demo that newcomers run first: it prints what was measured."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests.tools import NEEDS_ARM, NEEDS_NINJA

CHECKOUT = Path(__file__).resolve().parents[2]


@NEEDS_NINJA
@NEEDS_ARM
def test_demo_is_bit_exact_and_as_accurate_as_the_readme_says(tmp_path: Path):
    demo = CHECKOUT / "examples" / "digits" / "demo.py"
    command = [sys.executable, str(demo), "--output", str(tmp_path / "project")]
    finished = subprocess.run(command, capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr
    readme = (demo.parent / "README.md").read_text()
    accuracy = re.search(r"LiteRT reference kernels \| (\d+ of \d+) \|", readme)
    assert accuracy
    rows = {
        key.strip(): value.strip() for key, value in re.findall(r"│(.*?)│(.*?)│", finished.stdout)
    }
    assert rows["Digits read correctly, device"].startswith(accuracy[1])
    assert rows["Outputs bit-exact with numpy reference"] == "359 of 359"
    instructions = int(rows["Instructions per inference, mean"].replace(",", ""))
    assert instructions > 37_376, "fewer instructions than multiply-accumulates in the model"
    bound = int(rows["Stack: worst case, proven"].removesuffix(" B").replace(",", ""))
    seen = int(rows["Stack: deepest seen"].removesuffix(" B").replace(",", ""))
    assert 0 < seen <= bound
