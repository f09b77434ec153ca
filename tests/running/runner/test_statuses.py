"""Every status that a run function can return has an explanation in words."""

from __future__ import annotations

import re

import pytest

from microgen.base import resources
from microgen.running.runner import statuses

HEADER = resources.folder("crt") / "include" / "tvm" / "runtime" / "crt" / "error_codes.h"


def _codes() -> dict[str, int]:
    """The header's names and their numbers."""
    text = HEADER.read_text(encoding="utf-8")
    category = dict(re.findall(r"kTvmErrorCategory(\w+) = (\d+)", text))
    define = r"kTvmError(\w+) =\s+DEFINE_TVM_CRT_ERROR\(kTvmErrorCategory(\w+), (\d+)\)"
    return {name: int(category[of]) << 8 | int(n) for name, of, n in re.findall(define, text)}


def test_the_meanings_are_those_of_the_header() -> None:
    assert {name: code for code, (name, _, _) in statuses.MEANINGS.items()} == _codes()


@pytest.mark.parametrize("name", _codes())
def test_a_status_is_its_number_its_name_and_a_cause(name: str) -> None:
    code = _codes()[name]
    said = statuses.described(code)
    assert said.startswith(f"status {code:#x}, kTvmError{name}: ")
    assert len(said) < 200
    assert statuses.hint(code)


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (77, "status 0x4d (77), which is not in error_codes.h"),
        (-5, "status 0xfffffffb (-5), as operating systems and drivers report errors"),
    ],
)
def test_an_unknown_status_is_shown_in_hexadecimal(status: int, said: str) -> None:
    assert said in statuses.described(status)
    assert "look for that number in the code that the layer calls" in statuses.hint(status)
