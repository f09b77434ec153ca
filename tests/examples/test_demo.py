"""The demo that newcomers run first: it prints its measurements.

``pytest tests/examples/test_demo.py --update-golden`` writes them into the documents.
"""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import microgen
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA

CHECKOUT = Path(__file__).resolve().parents[2]
DEMO = CHECKOUT / "examples" / "digits" / "demo.py"
README = (CHECKOUT / "README.md").read_text(encoding="utf-8")
DEMO_PAGE = CHECKOUT / "docs" / "start" / "demo.md"
PAGE = DEMO_PAGE.read_text(encoding="utf-8")
# What depends on the compiler's version, in addition to the layers' instructions.
_COMPILED = ("RAM: static", "RAM total", "RAM: reserved", "Flash:", "Stack:", "Instructions")


@dataclass(frozen=True)
class Demo:
    """What one run of the demo left: its table, and its project."""

    rows: dict[str, str]
    project: Path


def _rows(text: str) -> dict[str, str]:
    return {key.strip(): value.strip() for key, value in re.findall(r"│(.*?)│(.*?)│", text)}


def _compiler() -> str:
    asked = ["arm-none-eabi-gcc", "-dumpfullversion"]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()


def _said() -> str:
    """The compiler of the figures in documents."""
    (version,) = re.findall(r"measurements \(here with GCC ([\d.]+)\):", PAGE)
    assert f" with GCC {version}:" in README
    return str(version)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    project = tmp_path_factory.mktemp("demo") / "project"
    command = [sys.executable, str(DEMO), "--output", str(project)]
    finished = subprocess.run(command, capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr
    return Demo(_rows(finished.stdout), project)


@NEEDS_NINJA
@NEEDS_ARM
@pytest.mark.parametrize(("document", "rows"), [(DEMO_PAGE, 18), (CHECKOUT / "README.md", 5)])
def test_documents_show_what_the_demo_prints(
    demo: Demo, document: Path, rows: int, request: pytest.FixtureRequest
) -> None:
    if request.config.getoption("--update-golden"):
        document.write_text(_with_figures(document.read_text("utf-8"), demo), encoding="utf-8")
    shown = {k: v for k, v in _rows(document.read_text("utf-8")).items() if k != "..."}
    compared = {
        key: value
        for key, value in shown.items()
        if _compiler() == _said() or not (key.startswith(_COMPILED) or "/" in key)
    }
    assert len(shown) == rows
    assert compared == {key: demo.rows[key] for key in compared}
    assert f"runs {demo.rows['Outputs bit-exact with LiteRT'].split()[-1]} held-out" in PAGE


def _with_figures(text: str, demo: Demo) -> str:
    """A document with the demo's values in the rows that it shows."""

    def row(found: re.Match[str]) -> str:
        value = demo.rows.get(found[1].strip(), found[2].strip())
        return f"│{found[1]}│{value:>{len(found[2]) - 1}} │"

    return re.sub(r"│(.*?)│(.*?)│", row, text)


@NEEDS_NINJA
@NEEDS_ARM
def test_demo_is_bit_exact_and_as_accurate_as_the_readme_says(demo: Demo) -> None:
    readme = (DEMO.parent / "README.md").read_text()
    accuracy = re.search(r"LiteRT reference kernels \| (\d+ of \d+) \|", readme)
    assert accuracy
    rows = demo.rows
    assert rows["Digits read correctly, device"].startswith(accuracy[1])
    assert rows["Outputs bit-exact with numpy reference"] == "359 of 359"
    instructions = int(rows["Instructions per inference, mean"].replace(",", ""))
    assert instructions > 37_376, "fewer instructions than multiply-accumulates in the model"
    bound = int(rows["Stack: worst case, proven"].removesuffix(" B").replace(",", ""))
    seen = int(rows["Stack: deepest seen"].removesuffix(" B").replace(",", ""))
    assert 0 < seen <= bound


@NEEDS_NINJA
@NEEDS_ARM
def test_the_document_on_cycles_shows_what_a_run_gives(demo: Demo) -> None:
    text = (CHECKOUT / "docs" / "explanation" / "timing.md").read_text(encoding="utf-8")
    ran = microgen.run(demo.project, profile=True)
    assert ran.modelled is not None
    assert ran.instructions is not None
    instructions, cycles = ran.instructions[0], ran.modelled.totals[0].cycles
    ms = cycles / 120_000
    if _compiler() != _said():
        pytest.skip(f"the figures in the document are of GCC {_said()}, this is {_compiler()}")
    assert re.search(rf"\n +inference +{instructions:,} +100.0 +{cycles:,} +{ms:.3f} +", text)
