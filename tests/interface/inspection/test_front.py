"""What ``plan --explore`` says: RAM as everywhere, time with its conditions, what is left out."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from microgen import relay
from microgen.compiler.schedule import Front
from microgen.interface import api
from microgen.interface.cli import main
from microgen.interface.inspection import front
from microgen.kernels import cost
from microgen.target import board as boards
from microgen.target.board import Board
from tests.support.places import DIGITS
from tests.support.tools import NEEDS_ARM

M4 = boards.load("mps2_an386")


@pytest.fixture(scope="module")
def explored() -> Front:
    return api.explore(DIGITS, "mps2_an386")


def _text(found: Front, board: Board, clock: int = 0) -> str:
    estimated = front.Estimated.on_board(board, clock)
    return "\n".join(str(part) for part in front.parts(found, estimated))


def test_wait_states_of_the_boards_flash_take_time(explored: Front) -> None:
    times = []
    for wait_states in (0, 2, 5):
        board = replace(M4, clock_hz=100_000_000, flash_wait_states=wait_states)
        data = front.to_json(explored, front.Estimated.on_board(board))
        first = data["schedules"][0]
        assert data["modelled"] == {
            "core": "Cortex-M4",
            "fitted": False,
            "clock_hz": 100_000_000,
            "flash_wait_states": wait_states,
        }
        assert first["cycles"] - first["waits"] == explored.found[0].score.cycles
        times.append(first["milliseconds"])
        said = f"Cortex-M4, 100 MHz, {wait_states} wait states of flash"
        assert said in _text(explored, board)
    assert times[0] < times[1] < times[2]


@NEEDS_ARM
def test_the_wait_for_flash_is_near_what_a_run_counts(explored: Front, tmp_path: Path) -> None:
    """Of the default schedule, on a board whose flash has 5 wait states."""
    board, project = boards.load("netduinoplus2"), tmp_path / "p"
    assert board.flash_wait_states == 5
    api.generate(DIGITS, board, project)
    api.build(project)
    ran = api.run(project, profile=True)
    assert ran.modelled is not None
    total = ran.modelled.totals[0]
    counted = ran.modelled.conditions.waiting(total.waited, total.followed)
    (one,) = (one for one in explored.found if "balanced" in one.goals)
    estimated = front.Estimated.on_board(board).waits(one)
    assert counted / 2 < estimated < counted * 2


def test_ram_is_what_others_call_ram(
    explored: Front, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    data = front.to_json(explored, front.Estimated.on_board(M4))
    last = len(data["schedules"])
    file = tmp_path / "front.json"
    assert main(["plan", str(DIGITS), "-b", "mps2_an386", "--explore", "-o", str(file)]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert "arena + I/O B  RAM total B  " in first
    for number in (1, last):
        chosen = ["--schedule", f"{file}#{number}", "--json"]
        assert main(["plan", str(DIGITS), "-b", "mps2_an386", *chosen]) == 0
        ram = json.loads(capsys.readouterr().out)["ram"]
        own = data["schedules"][number - 1]
        assert (ram["arena_io"], ram["total"]) == (own["ram"], own["ram_total"])


def test_layers_of_external_code_generators_are_said_to_be_left_out(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    model, x = tmp_path / "model.relay", relay.var("x", shape=(1, 8), dtype="float32")
    model.write_text(
        str(relay.IRModule.from_expr(relay.Function([x], relay.nn.softmax(relay.add(x, x)))))
    )
    command = ["plan", str(model), "-b", "mps2_an386", "--codegen", "ccompiler", "--explore"]
    assert main([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["left_out"] == {"ccompiler": 1}
    assert main(command) == 0
    said = (
        "cycles, ms, instructions and flash do not include 1 layer that ccompiler computes: "
        "`microgen run --profile` counts what they take"
    )
    assert said in capsys.readouterr().out


def test_nothing_is_left_out_without_external_code_generators(explored: Front) -> None:
    assert front.to_json(explored, front.Estimated.on_board(M4))["left_out"] == {}
    assert "do not include" not in _text(explored, M4)


def test_where_nothing_is_measured_there_are_no_figures_of_time(
    capsys: pytest.CaptureFixture[str],
) -> None:
    host = boards.load("native")
    found = api.explore(DIGITS, host)
    data = front.to_json(found, front.Estimated.on_board(host))
    assert data["modelled"] is None
    assert data["schedules"][0]["milliseconds"] is None
    assert main(["plan", str(DIGITS), "-b", "native", "--explore"]) == 0
    row = capsys.readouterr().out.splitlines()[1]
    assert row.split()[2:6] == ["n/a"] * 4
    assert cost.measured_core(host.cpu) is None
