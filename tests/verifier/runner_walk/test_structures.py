"""The check ``runner`` on firmware that passes an operator's constants in a structure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import microgen
from microgen.base import manifest
from microgen.verifier import CHECKS, verify
from tests.support.places import DIGITS
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA, NEEDS_RISCV
from tests.tamper.encodings import word
from tests.verifier.patched import Built

pytestmark = NEEDS_NINJA
# The structure is a constant of the runner, or a variable of what calls the operator.
FORMS: Mapping[str, dict[str, Any]] = {
    "constant": {},
    "pool": {"pool": ("fast:*:external", "slow:*:external:const")},
    "packed": {"interface": "packed"},
    "graph": {"executor": "graph"},
}


@pytest.fixture(
    scope="module",
    params=[
        pytest.param("mps2_an386", marks=NEEDS_ARM),
        pytest.param("qemu_riscv32", marks=NEEDS_RISCV),
    ],
)
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Built:
    root = tmp_path_factory.mktemp(request.param) / "p"
    microgen.generate(DIGITS, request.param, root, optimize="ram")
    microgen.build(root)
    return Built(root, request.param)


def members(built: Built) -> list[str]:
    """The symbols of the constants in the structure, in order."""
    (call,) = (c for c in manifest.load(built.root).calls if any(a.in_struct for a in c.args))
    return [argument.name for argument in call.args if argument.in_struct]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize(
    "board",
    [
        pytest.param("mps2_an386", marks=NEEDS_ARM),
        pytest.param("qemu_riscv32", marks=NEEDS_RISCV),
    ],
)
def test_sound_firmware_passes(board: str, name: str, tmp_path: Path) -> None:
    made = microgen.generate(DIGITS, board, tmp_path / "p", optimize="ram", **FORMS[name])
    assert any(function.in_struct for function in made.program.functions)
    microgen.build(tmp_path / "p")
    report = verify(tmp_path / "p")
    assert report.failed == ()
    assert report.check("runner").status == "ok"


def place_of(built: Built) -> int:
    """The address of the structure, which GCC gives a number of its own."""
    (symbol,) = (s for s in built.elf.symbols if s.name.startswith("constants_0."))
    return symbol.address


def test_each_member_is_compared(built: Built, tmp_path: Path) -> None:
    place = place_of(built)
    names = members(built)
    assert len(names) > 8
    for number, name in enumerate(names):
        at = place + 4 * number
        assert built.elf.word(at) == built.address(name)
        for wrong in (built.address(name) + 4, built.address(names[number - 1])):
            said = built.found(built.patched(tmp_path / "e", (at, word(wrong))))
            assert f"argument {number + 2} is {wrong:#x}, planned {name}, " in said


@pytest.mark.parametrize("built", [pytest.param("mps2_an386", marks=NEEDS_ARM)], indirect=True)
@pytest.mark.parametrize("wrong", ["global_workspace", "conv1_Relu_weight"])
def test_another_structure(built: Built, tmp_path: Path, wrong: str) -> None:
    """The address of something else is passed: of memory that the program writes, whose content at
    link time says nothing, or of a constant."""
    place = place_of(built)
    (literal, *_) = built.literals(place)
    changed = (literal, word(built.address(f"tvmgen_default_{wrong}")))
    said = built.found(built.patched(tmp_path / "e", changed))
    assert f"argument 2 is {'unknown' if wrong == 'global_workspace' else '0x'}" in said


@pytest.mark.parametrize("position", [0, 1, 5, -3, -2, -1])
def test_a_plan_with_other_members(built: Built, position: int) -> None:
    """An argument that the manifest says is in the structure, but is not, or the reverse."""
    path = built.root / "microgen.json"
    original = path.read_text()
    data = json.loads(original)
    argument = data["calls"][0]["args"][position]
    argument["in_struct"] = not argument["in_struct"]
    try:
        path.write_text(manifest.digested(data))
        assert CHECKS["runner"](built.subject(built.path)).status == "failed"
    finally:
        path.write_text(original)
