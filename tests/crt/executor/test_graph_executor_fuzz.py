"""Hostile graphs and parameter files: success or an error code, under sanitizers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.crt.executor import executor_fuzz as fuzz
from tests.crt.executor.executor_graphs import Case, Result, compiled, run

# Codes in error_codes.h, except those that an operator returns.
MALFORMED, UNSUPPORTED, BAD_PARAMS, NOT_SET = 0x780, 0x781, 0x782, 0x783
NO_FUNCTION, NO_MEMORY, BAD_STORAGE, NO_INPUT = 0x100, 0x503, 0x600, 0x702
WRONG_TYPE, INVALID = 0x801, 0x803
CREATE = {0, MALFORMED, UNSUPPORTED, NO_FUNCTION, NO_MEMORY, BAD_STORAGE}
LOAD = {0, BAD_PARAMS, NO_MEMORY, BAD_STORAGE, NO_INPUT, WRONG_TYPE, INVALID}
RUN = {0, NO_MEMORY, NOT_SET, -3, -17}


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("fuzz"), "graph_executor_driver.c")


def check(driver: Path, cases: Sequence[Case], seconds: int = 60) -> list[Result]:
    results = run(driver, cases, seconds)
    assert len(results) == len(cases)
    for result in results:
        assert result.create in CREATE, result
        assert result.load in LOAD, result
        assert result.run in RUN, result
    return results


def test_every_beginning_of_a_graph_or_of_parameters_is_refused(driver: Path) -> None:
    cases = list(fuzz.truncations())
    assert len(cases) > 1000
    for result in check(driver, cases):
        assert result.create == MALFORMED or result.load == BAD_PARAMS


def test_mutations_are_run_or_refused(driver: Path) -> None:
    results = check(driver, list(fuzz.mutations(1, 6_000)))
    found = {
        *(result.create for result in results),
        *(result.load for result in results),
        *(result.run for result in results),
    }
    # The mutations reach every refusal, and do not only break the syntax.
    assert found >= (CREATE | LOAD | RUN) - {-17}
    assert Counter(result.codes for result in results)[0, 0, 0] > 300


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 12))
def test_many_mutations_are_run_or_refused(driver: Path, seed: int) -> None:
    check(driver, list(fuzz.mutations(seed, 100_000)), 600)
