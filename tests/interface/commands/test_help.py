"""Help without knowing the commands: likely names, pages of the documents, also from a wheel."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from microgen.base import resources
from microgen.interface.cli import main
from microgen.interface.commands import COMMANDS
from microgen.version import __version__

ROOT = Path(__file__).resolve().parents[3]
Capture = pytest.CaptureFixture[str]


def _ended(*arguments: str) -> int:
    try:
        return main([*arguments])
    except SystemExit as end:  # as argparse ends after help
        return int(end.code or 0)


@pytest.mark.parametrize("option", ["-V", "--version"])
def test_the_version_is_one_line(option: str, capsys: Capture) -> None:
    assert _ended(option) == 0
    assert capsys.readouterr().out == f"microgen {__version__}\n"


def test_no_command_shows_the_help_and_is_wrong(capsys: Capture) -> None:
    assert _ended() == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert all(f"\n    {name} " in said.err for name in COMMANDS)


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_and_its_option_say_the_same(command: str, capsys: Capture) -> None:
    words = [command] if command else []
    assert _ended("help", *words) == _ended(*words, "--help") == 0
    said = capsys.readouterr().out
    half = len(said) // 2
    assert said[:half] == said[half:] != ""


@pytest.mark.parametrize(
    "topic",
    [
        *("numerics", "numerics.md", "docs/numerics.md", "reference/numerics"),
        "docs/reference/numerics.md",
    ],
)
def test_a_topic_is_a_page(topic: str, capsys: Capture) -> None:
    assert _ended("help", topic) == 0
    assert capsys.readouterr().out.startswith("# Numerics")
    assert _ended("help", topic, "--json") == 0
    assert json.loads(capsys.readouterr().out)["page"] == "docs/reference/numerics.md"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["genrate", "x"], "doctor, help; did you mean generate? see `microgen --help`"),
        (["help", "numerix"], "there is no command and no page 'numerix'; did you mean numerics?"),
        (["help", "genrate"], "there is no command and no page 'genrate'; did you mean generate?"),
        (["help", "../README"], "there is no command and no page '../README'; pages: "),
        (["help", "guides/boards.md"], "there is no command and no page 'guides/boards.md'; "),
        (["plan", "x.tflite", "-b", "mps2_an389"], "there is no board 'mps2_an389'; did you mean"),
        (["plan", "x.tflite", "-b", "zzz"], "there is no board 'zzz'; boards: "),
    ],
)
def test_a_word_that_is_unknown(arguments: list[str], said: str, capsys: Capture) -> None:
    assert _ended(*arguments) == 2
    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 1


def test_messages_name_pages_in_a_form_that_can_be_typed() -> None:
    """A page that a text for users names is one that ``microgen help`` shows."""
    named = {}
    for path in sorted((ROOT / "microgen").rglob("*.py")):
        for line in path.read_text("utf-8").splitlines():
            for page in re.findall(r"microgen help ([\w/-]+\.md)", line):
                named[page] = path.name
            quoted = re.search(r"""(hint|HINT|HELP|_SERVES)\b.*["'].*docs/""", line)
            assert not quoted or "microgen help" in line, (path, line)
    assert len(named) >= 4
    assert {*named} <= {*resources.pages().values()}


def test_no_two_pages_have_one_name() -> None:
    docs = ROOT / "docs"
    pages = [*docs.glob("*.md"), *docs.glob("[!b]*/*.md")]  # all but docs/benchmarks/
    assert sorted(page.stem for page in pages) == [*resources.pages()]


def test_the_wheel_has_the_pages(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        wheel.extractall(tmp_path / "installed")
    command = [sys.executable, "-m", "microgen", "help", "docs/reference/boards.md"]
    said = subprocess.run(command, cwd=tmp_path / "installed", check=True, capture_output=True)
    assert said.stdout.decode() == (ROOT / "docs" / "reference" / "boards.md").read_text("utf-8")
