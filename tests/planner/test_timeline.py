"""The number of bytes that are live at each call."""

from __future__ import annotations

from microgen.planner import plan
from microgen.planner.timeline import live, live_bytes
from tests.planner.builder import Builder, chain


def test_a_chain() -> None:
    program = chain([64, 64, 32], in_place=(1,))
    assert live_bytes(program, plan(program)) == (64, 64, 96, 32)


def test_an_output_that_begins_before_its_input() -> None:
    builder = Builder().call(["input"], {"a": 64}).call(["a"], {"b": 48}, in_place=[(0, 0, 16)])
    program = builder.call(["b"], ["output"]).build()
    assert live_bytes(program, plan(program)) == (64, 80, 48)


def test_state_lives_all_the_time() -> None:
    builder = Builder().variable("state", 32).call(["input"], {"a": 64})
    program = builder.call(["a", "state"], {"b": 32}).call(["b"], ["output"]).build()
    assert live_bytes(program, plan(program)) == (96, 128, 64)


def test_nothing_planned() -> None:
    program = Builder().call(["input"], ["output"]).build()
    assert live_bytes(program, plan(program)) == (0,)


def test_lives_that_a_damaged_manifest_has() -> None:
    assert live([(-9, 99, 4), (3, 1, 8), (50, 60, 16)], 2) == (4, 4)
