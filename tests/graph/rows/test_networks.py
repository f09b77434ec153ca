"""Random networks that are computed row by row equal the reference, with sanitizers."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.differential import harness
from tests.differential.generator import Case
from tests.graph.rows.forced import roll
from tests.graph.rows.networks import generate, generate_wide

AT_ONCE = 8  # networks that are compiled together


def _agree(
    seeds: Sequence[int],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    make: Callable[[int], Case] = generate,
) -> list[int]:
    sizes = roll(monkeypatch, seeds[0])
    failures = harness.check([make(seed) for seed in seeds], folder)
    assert not failures, [(failure.case.seed, failure.what) for failure in failures]
    shutil.rmtree(folder)
    return sizes


def test_random_networks_in_rows_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = _agree(range(5), tmp_path, monkeypatch)
    assert max(sizes) > 3, "no group is long enough to say anything"


def test_random_networks_in_patches_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _agree(range(4), tmp_path, monkeypatch, generate_wide)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 400, AT_ONCE))
def test_many_random_networks_in_patches_agree(
    first: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _agree(range(first, first + AT_ONCE), tmp_path, monkeypatch, generate_wide)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 1000, AT_ONCE))
def test_a_thousand_random_networks_in_rows_agree(
    first: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _agree(range(first, first + AT_ONCE), tmp_path, monkeypatch)
