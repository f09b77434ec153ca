"""Exceptions in a code generator and in microgen itself: one line, and with -v the traceback."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from microgen import pipeline
from microgen.base.errors import ModelError
from tests.interface.commands.conftest import SEED, Run
from tests.support.places import SMALL

CODEGEN = """
import json

from microgen.compiler.codegens.external import ExternalCodegen
from microgen.relay.transform import Support


def predicate(call):
    {predicate}


class Mine(ExternalCodegen):
    '''Raises.'''

    name = "mine"
    support = Support("mine", {{"nn.relu": predicate}})

    def configured(self, options):
        {configured}
        return self

    def compile(self, functions, board):
        helper({compile})


def helper(text):
    return json.loads(text)


CODEGEN = Mine()
"""


@pytest.mark.parametrize(
    ("broken", "message", "line"),
    [
        (
            {"compile": "'{'"},
            "compile ended with JSONDecodeError: Expecting property",
            "json.loads(t",
        ),
        ({"compile": "1, 2"}, "compile ended with TypeError: ", "helper(1, 2)"),
        ({"predicate": "1 / 0"}, "ended with ZeroDivisionError: division by zero", "1 / 0"),
        ({"configured": "options['x']"}, "configured ended with KeyError: 'x'", "options['x']"),
    ],
)
def test_a_code_generator_that_raises_is_named_by_file_and_line(
    run: Run, tmp_path: Path, broken: dict[str, str], message: str, line: str
) -> None:
    parts = {"predicate": "return None", "configured": "pass", "compile": "'0'", **broken}
    file = tmp_path / "mine.py"
    file.write_text(CODEGEN.format(**parts))
    number = next(k for k, text in enumerate(file.read_text().splitlines(), 1) if line in text)
    command = ["generate", SEED, "-b", "native", "-o", tmp_path / "p", "-q"]
    command += ["--codegen", "mine", "--codegen-path", tmp_path]
    ran = run(command)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert message in ran.err
    assert f"(at {file}:{number})" in ran.err
    assert "-v prints the traceback" in ran.err
    told = run([*command, "-v"]).err
    assert told.startswith(ran.err)
    assert "Traceback (most recent call last)" in told
    assert line in told
    assert not (tmp_path / "p").exists()


def test_a_syntax_error_has_its_own_place(run: Run, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("x = 1\nCODEGEN = (\n")
    command = ["partition", SEED, "--codegen", "mine", "--codegen-path", tmp_path, "-q"]
    ran = run(command)
    assert ran.code == 2
    assert f"(at {tmp_path}/mine.py:2)" in ran.err


def test_what_nobody_expected_is_one_line_that_asks_for_a_report(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise KeyError("a\x1b[31m\nb")

    monkeypatch.setattr(pipeline, "load_board", broken)
    ran = run(["plan", SMALL, "-q"])
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.count("\n") == 1
    assert ran.err.startswith("microgen: unexpected KeyError at ")
    assert "/api.py:" in ran.err
    assert "please report it with the model and what -v prints" in ran.err
    told = run(["plan", SMALL, "-q", "-v"]).err
    assert "Traceback (most recent call last)" in told
    assert "in broken" in told
    assert told.replace("\n", "").isprintable()
    assert json.loads(run(["plan", SMALL, "--json"]).out)["exit_code"] == 1


def test_details_of_an_error_are_for_those_who_ask(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> None:
        details = ("first \x1b[2J", "second")
        raise ModelError("cannot be", where="m", hint="mend it", details=details)

    monkeypatch.setattr(pipeline, "load_board", refused)
    command = ["plan", SMALL, "-q"]
    assert run(command).err == "microgen: m: cannot be; mend it\n"
    assert run([*command, "-v"]).err.splitlines()[1:] == ["  first ?[2J", "  second"]
    found = json.loads(run([*command, "--json"]).out)
    assert found["details"] == ["first \x1b[2J", "second"]
    assert "Traceback" not in run([*command, "-v"]).err
