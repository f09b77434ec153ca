"""Operators in C as a reviewer reads them: few parameters, and a map of each scratch."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import microgen
from microgen.planner.program.types import MOST_PARAMETERS
from tests.graph.rows.forced import roll
from tests.graph.rows.networks import generate
from tests.support import fused_layers
from tests.support.places import DIGITS, SEED_DEMO

LIMIT = 12  # parameters of any generated function
BOARD = "mps2_an386"
FORMS: Mapping[str, dict[str, Any]] = {
    "speed": {"optimize": "speed"},
    "ram": {},
    "rows": {"input_rows": 1},
    "packed": {"interface": "packed"},
    "graph": {"executor": "graph"},
    "pools": {"pool": ("fast:*:external", "slow:*:external:const")},
    "workspace I/O": {"workspace_io": True},
}
_DEFINED = re.compile(r"^(?:MG_ONCE |static )*\w[\w ]*?\**(\w+)\(([^()]*)\)\n\{", re.MULTILINE)
_ROW = re.compile(r"^ \* +(\d+) +(\d+) +(?:\d+ +)?(always|\d+\.\.\d+) +(\w+)$", re.MULTILINE)


def compiled(model: Path, board: str = BOARD, **options: Any) -> dict[str, str]:
    """The generated C of a project, by path."""
    made = microgen.compile_model(model, board, **{"optimize": "ram", **options})
    own = (p for p in made.files.files if p.startswith(("model/", "src/")) and p.endswith(".c"))
    return {path: made.files.files[path].decode() for path in own}


def counts(files: Mapping[str, str]) -> dict[str, int]:
    """The number of parameters of each function that is defined."""
    return {
        name: 0 if parameters.strip() in ("", "void") else parameters.count(",") + 1
        for text in files.values()
        for name, parameters in _DEFINED.findall(text)
    }


def check(files: Mapping[str, str]) -> int:
    """Check the functions. Returns the most parameters that an operator has."""
    found = counts(files)
    assert len(found) > 4
    assert max(found.values()) <= LIMIT, max(found, key=lambda name: found[name])
    return max(n for name, n in found.items() if "_fused_" in name and "tvmgen" in name)


@pytest.mark.parametrize("form", FORMS)
def test_functions_have_few_parameters(form: str) -> None:
    # A packed function has six, and the operators of this network need no more.
    assert check(compiled(DIGITS, **FORMS[form])) <= MOST_PARAMETERS


@pytest.mark.parametrize("codegen", ["builtin", "dnnl"])
def test_functions_of_relay_have_few_parameters(codegen: str) -> None:
    check(compiled(SEED_DEMO, codegen=(codegen,)))


@pytest.mark.parametrize("board", [BOARD, "mps3_an547", "qemu_riscv32"])
def test_functions_of_large_networks_have_few_parameters(board: str, mlperf_models: Path) -> None:
    """Without structures, operators of these networks have 31 to 43 parameters."""
    for file in ("kws_ref_model.tflite", "pretrainedResnet_quant.tflite"):
        made = microgen.compile_model(mlperf_models / file, board, optimize="ram")
        assert max(len(function.parameters) for function in made.program.functions) > 30
        assert check(compiled(mlperf_models / file, board)) <= MOST_PARAMETERS


def test_functions_of_many_layers_have_few_parameters(monkeypatch: pytest.MonkeyPatch) -> None:
    fused_layers.fuse(monkeypatch, 7)
    made = microgen.compile_model(DIGITS, BOARD)
    assert max(len(function.parameters) for function in made.program.functions) > LIMIT
    assert check(compiled(DIGITS)) <= MOST_PARAMETERS


@dataclass(frozen=True)
class Buffer:
    """A row of the memory map of a scratch. ``parts`` are those in which it is live."""

    name: str
    start: int
    end: int
    parts: range | None

    def meets(self, other: Buffer) -> bool:
        """Whether both are live at one time."""
        if self.parts is None or other.parts is None:
            return True
        return bool({*self.parts} & {*other.parts})


def maps(text: str) -> Iterator[tuple[list[Buffer], str]]:
    """The memory map of each function with rows, and its code."""
    for block in re.findall(r"^/\*(?:(?!\*/).)*?\n \*/\n.*?^\}", text, re.MULTILINE | re.DOTALL):
        comment, _, code = block.partition("*/")
        rows = [
            Buffer(name, int(at), int(at) + int(nbytes), _parts(live))
            for at, nbytes, live, name in _ROW.findall(comment)
        ]
        if rows:
            yield rows, code


def _parts(live: str) -> range | None:
    if live == "always":
        return None
    first, last = map(int, live.split(".."))
    return range(first, last + 1)


def test_the_scratch_of_functions_with_rows_has_a_map(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Buffers that share bytes are not live in one part, and code names each place once."""
    roll(monkeypatch)
    seen = 0
    for seed in range(6):
        case = generate(seed)
        (tmp_path / "m.tflite").write_bytes(case.net.model(case.outputs))
        files = compiled(tmp_path / "m.tflite", "native", optimize="balanced")
        for rows, code in maps(files["model/codegen/host/src/default_lib1.c"]):
            seen += len(rows)
            for number, one in enumerate(rows):
                for other in rows[number + 1 :]:
                    is_apart = one.end <= other.start or other.end <= one.start
                    assert is_apart or not one.meets(other), (one, other)
            places = re.findall(r"(\w+) =\s(?:\{\s*\.rows = )?&scratch\[(\d+)\]", code)
            assert {(name, int(at)) for name, at in places} == {(r.name, r.start) for r in rows}
            assert code.count("scratch[") == len(rows)
    assert seen > 20


def test_the_table_of_steps_says_what_the_loop_does() -> None:
    (made,) = [
        function.rolling
        for function in microgen.compile_model(DIGITS, BOARD, optimize="ram").program.functions
        if function.rolling
    ]
    text = compiled(DIGITS)["model/codegen/host/src/default_lib1.c"]
    rows = re.findall(
        r"^ \* +(\d+|-) +(\d+)\.\.(\d+) +(\d+) +(\w+) +\S+ +(\S+)", text, re.MULTILINE
    )
    assert [(int(first), int(last) + 1, int(every)) for _, first, last, every, _, _ in rows] == [
        (event.when.first, event.when.end, event.when.period) for event in made.events
    ]
    assert [layer for *_, layer in rows] == [event.tensor for event in made.events]
    assert f" * {made.steps} steps, " in text
