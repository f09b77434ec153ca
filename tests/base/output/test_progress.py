"""Stages of long work are measured for a listener only."""

from __future__ import annotations

from microgen.base.output import progress


def test_stages_are_measured_while_somebody_asks() -> None:
    @progress.stage("one")
    def work() -> int:
        return sum(range(100_000))

    work()
    with progress.timed() as seconds:
        work()
        before = seconds["one"]
        work()
        with progress.stage("two"):
            pass
    work()
    assert list(seconds) == ["one", "two"]
    assert seconds["one"] > before > 0
