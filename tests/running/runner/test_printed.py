"""What the firmware prints as words is shown as numbers, and nothing else is changed."""

from __future__ import annotations

from pathlib import Path

import pytest

import microgen
from microgen.base import manifest
from microgen.interface.cli import main
from microgen.running.runner import samples
from tests.support.tools import NEEDS_CC, NEEDS_NINJA

TEXT = """#[version = "0.0.5"]
def @main(%x: Tensor[(2), float32]) {
  (exp(%x), cast(%x, dtype="int64"), cast(%x, dtype="uint32"), cast(%x, dtype="int8"))
}
"""
WORDS = """hello
microgen: output a = 0x3f800000 0xbdcccccd
microgen: output b = 0xffffffff 0xffffffff 0x00000000 0x00000001
microgen: output c = 0x00000007 0xffffffff
microgen: output d = -3 4
microgen: status=0 samples=1 stack=104
"""
NUMBERS = """hello
microgen: output a = 1.0 -0.1
microgen: output b = -1 4294967296
microgen: output c = 7 4294967295
microgen: output d = -3 4
microgen: status=0 samples=1 stack=104
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("printed")
    (folder / "m.relay").write_text(TEXT)
    microgen.generate(folder / "m.relay", "native", folder / "p")
    return folder / "p"


def test_words_become_numbers(project: Path) -> None:
    assert samples.readable(WORDS, manifest.load(project)) == NUMBERS


@pytest.mark.parametrize(
    "console",
    [
        "",
        WORDS.replace("microgen: output b", "microgen: input b"),  # fewer outputs
        WORDS.replace(" 0xbdcccccd", ""),  # fewer elements
        WORDS.replace("0x3f800000", "0x3f80000"),
    ],
)
def test_what_main_does_not_print_is_unchanged(console: str, project: Path) -> None:
    found = samples.readable(console, manifest.load(project))
    assert found.splitlines()[1:2] == console.splitlines()[1:2]


@NEEDS_CC
@NEEDS_NINJA
def test_run_shows_numbers(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(project), "-q"]) == 0 == main(["run", str(project)])
    assert "microgen: output output0 = 1.0 1.0\n" in capsys.readouterr().out
