"""The check ``manifest`` of the places of layers inside a call."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from microgen.base.manifest import ModuleRecord, PatchRecord, RowsRecord
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


PATCH = PatchRecord("patch_rows", 0, 2, 0, 1, 3, 3, 2, 1)
ROWS = RowsRecord("part_rows", 2, 1, 0, 1, 4, patch=PATCH)


@pytest.mark.parametrize(
    ("fields", "patch", "is_sound"),
    [
        ({}, {}, True),
        ({}, {"count": 2}, False),  # two columns of six are missing
        ({}, {"above": 3}, False),  # the last row is never computed
        ({}, {"stride": 4}, False),  # rows between are not
        ({}, {"period": 0}, False),
        ({"rows": 2}, {}, False),
        ({"count": 3}, {}, False),
    ],
)
def test_patches_compute_all_rows_and_columns(
    fields: dict[str, Any], patch: dict[str, Any], is_sound: bool
) -> None:
    rows = replace(ROWS, **fields, patch=replace(PATCH, **patch))
    inner = {"argument": None, "offset": 0, "shape": (1, 8, 6, 4), "in_rows": rows}
    problems = [p for p in _problems(inner) if "computes 3 rows of 2 columns of inner" in p]
    assert (problems == []) is is_sound
