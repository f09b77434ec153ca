"""The check ``manifest`` of the places of layers inside a call."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from microgen.base.manifest import ModuleRecord
from microgen.target import board as boards
from microgen.verifier.checks import consistency
from tests.verifier.conftest import CALLS, manifest_for

SCRATCH = 6  # the position among the arguments of the first call; it has 64 bytes
MODULE: ModuleRecord = manifest_for(boards.load("mps2_an386"))


def _problems(*inside: dict[str, Any]) -> list[str]:
    """What is wrong if the first call has further layers, with these fields, before its own."""
    (last,) = CALLS[0].steps
    inner = replace(last, tensor="inner", shape=(32,), argument=SCRATCH)
    steps = (*(replace(inner, **fields) for fields in inside), last)
    calls = (replace(CALLS[0], steps=steps), *CALLS[1:])
    known = {*consistency._problems(MODULE)}
    return [p for p in consistency._problems(replace(MODULE, calls=calls)) if p not in known]


def test_layers_in_scratch_and_layers_that_are_not_seen_are_sound() -> None:
    assert _problems({"offset": 0}, {"offset": 32}, {"argument": None, "unseen": "why"}) == []


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"offset": 33}, "computes int8[32] at 33, but scratch_0 has 64 bytes"),
        ({"offset": -1}, "computes int8[32] at -1, but scratch_0 has 64 bytes"),
        ({"argument": 5, "offset": 0}, "computes int8[32] at 0, but sid_1 has 112 bytes"),
        ({"argument": 9}, "call 0 has no argument 9"),
        ({"argument": None}, "inner is at None, not seen: "),
        ({"unseen": "why"}, f"inner is at {SCRATCH}, not seen: why"),
        ({"argument": 5, "shape": (112,)}, "computes 2 layers at 1 places"),
    ],
)
def test_impossible_places(fields: dict[str, Any], message: str) -> None:
    assert any(message in problem for problem in _problems(fields))


def test_a_call_without_layers() -> None:
    calls = (replace(CALLS[0], steps=()), *CALLS[1:])
    problems = consistency._problems(replace(MODULE, calls=calls))
    assert "call 0 computes 0 layers at 0 places" in problems
