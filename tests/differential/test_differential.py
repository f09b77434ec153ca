"""Random networks: C, numpy and LiteRT must agree. Integers must agree in every byte.

A network that fails is cut down and kept in ``build/differential/<seed>``.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from microgen.frontends.tflite.litert import LiteRT
from tests.differential import harness
from tests.differential.generator import generate

pytestmark = pytest.mark.skipif(bool(LiteRT().lacking()), reason="ai-edge-litert is not installed")
KEPT = Path(__file__).parents[2] / "build" / "differential"
AT_ONCE = 8  # networks that are compiled together


def _agree(seeds: Sequence[int], folder: Path) -> None:
    failures = harness.check([generate(seed) for seed in seeds], folder)
    if failures:
        said = [harness.keep(failure, KEPT / str(failure.case.seed)) for failure in failures]
        pytest.fail("\n".join(said))
    shutil.rmtree(folder)  # thousands of projects would fill a disk


@pytest.mark.sampled(1)
@pytest.mark.parametrize("first", range(0, 16, AT_ONCE))
def test_random_networks_agree(first: int, tmp_path: Path) -> None:
    _agree(range(first, first + AT_ONCE), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("first", [*range(16, 40, AT_ONCE), *range(1000, 3000, AT_ONCE)])
def test_two_thousand_random_networks_agree(first: int, tmp_path: Path) -> None:
    _agree(range(first, first + AT_ONCE), tmp_path)
