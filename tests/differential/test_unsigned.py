"""uint8: each operator by itself, and random networks of uint8 and int8."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from microgen.base.errors import MicrogenError
from microgen.frontends.tflite.litert import LiteRT
from microgen.frontends.tflite.quantization import CONVERSIONS, DETECTION, EXACT
from microgen.graph.ops.base import StatusError
from tests.differential import generator, harness, litert, makers
from tests.differential.network import Network, UnfitError
from tests.support.sampling import seeds

pytestmark = pytest.mark.skipif(bool(LiteRT().lacking()), reason="ai-edge-litert is not installed")
KEPT = Path(__file__).parents[2] / "build" / "differential"
CODES = sorted(code for code, dtype in makers.registry() if dtype == "uint8")
AT_ONCE = 8  # networks that are compiled together
USUAL = len(seeds(15))  # networks of one operator
FEW = len(seeds(25))  # networks at once


def test_every_exact_operator_is_compared() -> None:
    """Two read no data, and one has tests of its own only."""
    assert frozenset(CODES) - {"CALL_ONCE", "VAR_HANDLE"} == EXACT - {DETECTION}
    assert CONVERSIONS <= EXACT


def _difference(code: str, seed: int) -> str | None:
    """What differs in a network of one operator; None if there is no such network."""
    net = Network(np.random.default_rng(seed))
    try:
        makers.registry()[code, "uint8"].make(net, code, "uint8")
        generator.compute_last(net)
    except (UnfitError, StatusError, MicrogenError):
        return None
    return litert.difference(net)


def _compare(code: str, seeds: range, count: int) -> None:
    """Compares ``count`` networks of one operator, which some of the seeds give."""
    found = (_difference(code, seed) for seed in seeds)
    compared = list(islice((wrong for wrong in found if wrong is not None), count))
    assert len(compared) == count, f"only {len(compared)} of {len(seeds)} networks are useful"
    assert not any(compared), next(filter(None, compared))


@pytest.mark.parametrize("code", CODES)
def test_an_operator_equals_litert(code: str) -> None:
    _compare(code, range(50), USUAL)


@pytest.mark.slow
@pytest.mark.parametrize("code", CODES)
def test_many_of_an_operator_equal_litert(code: str) -> None:
    _compare(code, range(100, 1600), 150)


def _agree(seeds: Sequence[int], folder: Path) -> None:
    cases = [generator.generate(seed, ("uint8", "int8")) for seed in seeds]
    failures = harness.check(cases, folder)
    if failures:
        said = [harness.keep(failure, KEPT / str(failure.case.seed)) for failure in failures]
        pytest.fail("\n".join(said))
    shutil.rmtree(folder)  # hundreds of projects would fill a disk


@pytest.mark.parametrize("first", [0, pytest.param(AT_ONCE, marks=pytest.mark.slow)])
def test_random_networks_agree(first: int, tmp_path: Path) -> None:
    _agree(range(first, first + AT_ONCE)[:FEW], tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(5000, 5600, AT_ONCE))
def test_six_hundred_random_networks_agree(first: int, tmp_path: Path) -> None:
    _agree(range(first, first + AT_ONCE), tmp_path)
