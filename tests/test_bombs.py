"""Small files that ask for huge memory or time: each is refused at once, in one line."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from microgen.base import errors
from microgen.base.errors import ModelError, ResourceError, StatusRunError, UnsupportedError
from microgen.base.output.console import Console
from microgen.graph.ops import budget
from microgen.graph.ops.cost import ReferenceCost
from microgen.interface import api, cli
from microgen.interface.commands import boards
from microgen.running.runner.compare import Difference, Unseen
from microgen.verifier.report import Check
from tests.support import bombs

ROOT = Path(__file__).resolve().parent.parent
_MEMORY = 2**31  # bytes of address space
_SECONDS = 60  # seconds of CPU for all of them together
_SECONDS_EACH = 8.0  # most take milliseconds, but the machine may be slow and busy


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS))


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """The outcome of each bomb in one process with little memory.

    If a bomb ends the process, later ones are missing.
    """
    folder = tmp_path_factory.mktemp("bombs")
    command = [sys.executable, "-m", "tests.support.bombs", str(folder)]
    ran = subprocess.run(
        command, cwd=ROOT, preexec_fn=_limit, stdout=subprocess.PIPE, check=False, text=True
    )
    found = [json.loads(line) for line in ran.stdout.splitlines()]
    return {outcome["name"]: outcome for outcome in found}


@pytest.mark.parametrize(
    ("name", "word"),
    [(name, word) for name, _, word in bombs.BOMBS],
    ids=[n for n, _, _ in bombs.BOMBS],
)
def test_a_bomb_is_refused_at_once_in_one_line(
    name: str, word: str, outcomes: dict[str, dict[str, Any]]
) -> None:
    outcome = outcomes[name]
    (line,) = outcome["lines"]
    assert outcome["code"] == 2, line
    assert word in line
    assert len(line) < 600
    assert outcome["seconds"] < _SECONDS_EACH


@pytest.mark.parametrize(
    ("raised", "said"), [(MemoryError(), "out of memory"), (RecursionError(), "out of stack")]
)
def test_what_the_machine_lacks_is_one_line(
    raised: Exception,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise raised

    monkeypatch.setattr(boards, "execute", fail)
    assert cli.main(["boards"]) == 2
    assert said in capsys.readouterr().err
    monkeypatch.setattr("microgen.pipeline.plan_model", fail)
    with pytest.raises(ResourceError, match=said):
        api.plan("m.tflite", "native")


def test_what_is_quoted_in_an_error_is_cut() -> None:
    error = ModelError(f"found {'a' * 100_000!r} {'b ' * 100_000}", where="c" * 100_000)
    assert len(str(error)) < 5000
    assert all(len(word) <= 201 for word in str(error).split())
    short = ModelError("found 'a  b'", where="m.relay:1:1", hint="give c")
    assert str(short) == "m.relay:1:1: found 'a b'; give c"


def test_what_is_found_out_later_about_an_error_is_short_too() -> None:
    name = "n" * 100_000
    error = StatusRunError(5, 0, "", "status 0x5", where="firmware.elf", hint="")
    error = error.at(f'in layer "{name}"', f"give {name!r} other samples", {"layer": name})
    error.hint += f"; {name}"
    assert len(str(error)) < 1000
    assert len(json.dumps({**error.to_json(), "facts": {}})) < 1000


def test_a_difference_and_a_note_name_long_layers_briefly(
    capsys: pytest.CaptureFixture[str],
) -> None:
    name = "n" * 100_000
    difference = Difference(0, 1, name, name, (0,), 1.0, 2.0, 1, 1, 1.0)
    assert len(str(difference)) < 400
    assert len(str(Unseen(1, name, name, "it is not in memory"))) < 200
    Console().note(f"reading {name} ...")
    Console(verbose=True).error(ModelError("wrong", details=[name]))
    assert max(map(len, capsys.readouterr().err.splitlines())) < 300


def test_what_a_check_quotes_is_cut() -> None:
    check = Check("calls", "failed", "a" * 100_000, "b " * 100_000)
    assert len(check.expected) <= 200
    assert len(check.found) <= 2000


def test_many_small_computations_add_up() -> None:
    cost, count = ReferenceCost(2**20, 1), budget.MOST_BYTES // 2**20
    with budget.of_model():
        for _ in range(count):
            budget.spend(cost, "m: layer", kept=2**20)
        with pytest.raises(UnsupportedError, match=r"m: layer: .* bytes with the layers before it"):
            budget.spend(cost, "m: layer", kept=2**20)
    budget.spend(cost, "m: layer", kept=2**20)  # this is another model


def test_steps_add_up_within_one_model_only() -> None:
    most = ReferenceCost(0, budget.MOST_STEPS)
    with budget.of_model():
        with budget.of_model():
            budget.spend(most, "m: layer")
        with pytest.raises(UnsupportedError, match="steps of arithmetic"):
            budget.spend(ReferenceCost(0, 1), "m: layer")
    with budget.of_model():
        budget.spend(most, "m: layer")


def test_short_texts_are_left_alone() -> None:
    assert errors.short("conv2d_1/Relu") == "conv2d_1/Relu"
    assert len(errors.short("a" * 100)) == 48
