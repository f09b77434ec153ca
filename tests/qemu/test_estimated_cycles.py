"""Cycles that a schedule estimates against modelled ones: no cost was fitted to these networks."""

from __future__ import annotations

import pytest

from scripts.bench.networks import table
from scripts.bench.other import measuring
from scripts.bench.other.measuring import Asked
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA

LIMIT = 0.15
USUAL = (("speech_8", "M4"), ("ecg_300", "M55"))
MORE = ("few_channels", "lstm_36", "wide_head", "super_resolution_3", "dense_600")


@NEEDS_NINJA
@NEEDS_ARM
@pytest.mark.parametrize(
    ("name", "core"),
    [
        *USUAL,
        *(
            pytest.param(name, core, marks=pytest.mark.slow)
            for name in MORE
            for core in ("M4", "M55")
        ),
    ],
)
def test_they_are_within_15_percent(name: str, core: str) -> None:
    found = measuring.of(Asked(name, core, "int8", table.model(name)))
    assert found.cycles > 0
    assert abs(found.estimated / found.cycles - 1) <= LIMIT
