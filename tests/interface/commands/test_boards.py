"""`microgen boards`, a new board, and the way from there to a verified firmware."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from microgen.base import manifest
from microgen.target import board as boards
from microgen.target import found
from tests.interface.commands.conftest import ROOT, Run
from tests.support.places import SMALL
from tests.support.tools import NEEDS_ARM, NEEDS_ARM_GCC, NEEDS_NINJA

REGIONS = ["--flash", "512K@0x08000000", "--ram", "128K@0x20000000"]
NEW = ["boards", "--new", "desk", "--cpu", "cortex-m4", *REGIONS]
QEMU = "qemu: {system: qemu-system-arm, machine: mps2-an386}\n"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(found.VARIABLE, raising=False)


def test_a_new_board_is_written_once(run: Run, tmp_path: Path) -> None:
    ran = run([*NEW, "--clock", "120MHz", "--stack", "2K"])
    assert ran.out.startswith("boards/desk/board.yml\nnext: microgen generate MODEL -b boards/desk")
    board = found.at(tmp_path / "boards" / "desk")
    assert (board.clock_hz, board.stack_bytes, board.cpu.name) == (120_000_000, 2048, "cortex-m4")
    before = (tmp_path / "boards" / "desk" / "board.yml").read_bytes()
    assert all(line.startswith("#") for line in before.decode().splitlines()[:1])
    again = run(NEW)
    assert (again.code, again.err) == (
        2,
        "microgen: boards/desk/board.yml: exists already; edit it, or choose another name or -o\n",
    )
    assert (tmp_path / "boards" / "desk" / "board.yml").read_bytes() == before
    assert run([*NEW, "-o", "other"]).code == 0
    assert (tmp_path / "other" / "desk" / "board.yml").is_file()


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["boards", "--new", "desk"], "--new: needs --cpu, --flash, --ram; --cpu cortex-m4"),
        (["boards", "--cpu", "cortex-m4"], "--cpu: is for --new only; leave it out"),
        ([*NEW, "--cpu", "cortex-m9"], "--new: cpu is 'cortex-m9', expected the name of a CPU"),
        ([*NEW, "--cpu", "host"], "--new: memories are given for the host"),
        ([*NEW, "--ram", "1K@0x08000000"], "memories[1].origin makes it overlap the memory flash"),
        ([*NEW, "--ram", "1Q@0"], "--ram: '1Q' is not a size"),
        ([*NEW, "--ram", "128K"], "--ram: '128K' is not a memory: expected SIZE@ADDRESS"),
        ([*NEW, "--stack", "128K"], "--new: stack_bytes is 131072, expected 256 or more, and less"),
        ([*NEW, "--clock", "fast"], "--clock: 'fast' is not a clock: expected a clock from 1 kHz"),
        ([*NEW, "--new", "a/b"], "--new: 'a/b' cannot name a board"),
        ([*NEW, "--new", "zephyr"], "--new: 'zephyr' cannot name a board"),
        ([*NEW, "--new", "microbit"], "--new: a board called microbit is installed"),
    ],
    ids=range(12),
)
def test_what_cannot_be_a_new_board(
    run: Run, command: list[str], said: str, tmp_path: Path
) -> None:
    ran = run(command)
    assert (ran.code, said in ran.err, ran.err.count("\n")) == (2, True, 1), ran.err
    assert not list(tmp_path.iterdir())


def test_boards_from_everywhere_are_listed(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(NEW)
    run([*NEW, "--new", "second", "-o", "more"])
    bad = tmp_path / "boards" / "bad" / "board.yml"
    bad.parent.mkdir()
    bad.write_text("title: 7\n")
    monkeypatch.setenv(found.VARIABLE, str(tmp_path / "more"))
    ran = run(["boards", "--json"])
    data = json.loads(ran.out)
    schema = json.loads((ROOT / "docs" / "schemas" / "boards.json").read_text())
    jsonschema.validate(data, schema)
    assert [b["name"] for b in data["boards"]] == [*boards.available(), "second", "desk"]
    assert data["paths"] == {
        "second": str(tmp_path / "more" / "second" / "board.yml"),
        "desk": "boards/desk/board.yml",
    }
    assert ran.err.startswith("boards/bad/board.yml:1:")
    created = json.loads(run([*NEW, "--new", "third", "--json"]).out)
    jsonschema.validate(created, schema)
    assert created["created"] == "boards/third/board.yml"


@NEEDS_NINJA
@NEEDS_ARM_GCC
def test_from_a_new_board_to_a_verified_firmware_without_further_options(
    run: Run, tmp_path: Path
) -> None:
    run(NEW)
    made = run(["generate", SMALL, "-b", "boards/desk", "-o", "d", "--clock", "100MHz"])
    assert made.out.startswith("d: 4 calls of 4 functions for desk\n")
    (tmp_path / "boards" / "desk" / "board.yml").unlink()  # nothing reads it any more
    assert run(["build", "d"]).code == 0
    assert run(["verify", "d", "--reproduce", "-q"]).code == 0
    assert manifest.load(tmp_path / "d").board["clock_hz"] == 100_000_000
    ran = run(["run", "d"])
    assert (ran.code, "nothing here runs board desk" in ran.err) == (1, True)


def test_a_name_in_the_current_folder_is_for_generate_plan_and_boards(run: Run) -> None:
    run(NEW)
    assert run(["generate", SMALL, "-b", "desk", "-o", "d"]).code == 0
    assert run(["plan", SMALL, "-b", "desk"]).code == 0
    refused = run(["partition", SMALL, "-b", "desk"])
    assert (refused.code, "there is no board 'desk'" in refused.err) == (2, True)


@NEEDS_NINJA
@NEEDS_ARM
def test_a_board_with_an_emulator_is_named_again(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is a copy of MPS2+ AN386, so QEMU runs it."""
    run([*NEW[:5], "--flash", "4M@0", "--ram", "4M@0x20000000"])
    file = tmp_path / "boards" / "desk" / "board.yml"
    file.write_text(file.read_text().replace("cortex-m4\n", "cortex-m4f\n") + QEMU)
    made = run(["generate", SMALL, "-b", "desk", "-o", "d"])
    assert "desk names programs: build, verify and run need --board desk" in made.err
    for command in (["build", "d"], ["verify", "d"], ["run", "d"]):
        refused = run(command)
        assert (refused.code, "(qemu); give the board with" in refused.err) == (2, True)
        assert not (tmp_path / "d" / "build").exists()
    for command in (["build", "d"], ["verify", "d"], ["run", "d", "--compare"]):
        assert run([*command, "--board", "boards/desk"]).code == 0
    monkeypatch.setenv(found.VARIABLE, str(tmp_path / "boards"))
    assert run(["verify", "d"]).code == 0
