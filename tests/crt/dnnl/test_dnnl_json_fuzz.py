"""Hostile modules of type dnnl_json: success or an error code, under sanitizers."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.crt.dnnl import dnnl_json_cases as cases
from tests.crt.dnnl import dnnl_json_fuzz as fuzz
from tests.crt.dnnl.dnnl_json_cases import INVALID, MALFORMED, NO_MEMORY, NOT_RUN, UNSUPPORTED


def check(driver: Path, seed: int, count: int, seconds: int) -> Counter[tuple[int, int, int]]:
    results = cases.run(driver, fuzz.mutations(seed, count), seconds)
    assert len(results) == count
    found = Counter(result.codes for result in results)
    assert {load for load, _, _ in found} <= {0, MALFORMED, UNSUPPORTED, NO_MEMORY}
    # A loaded function runs, because it gets the memory that it asks for; only large ones do not
    # run.
    assert {codes[1:] for codes in found if codes[0] == 0} <= {(0, 0), (NOT_RUN, NOT_RUN)}
    return found


def test_mutations_are_run_or_refused(dnnl_driver: Path) -> None:
    found = check(dnnl_driver, 1, 8_000, 120)
    # The mutations reach every refusal, and do not only break the syntax.
    assert {load for load, _, _ in found} == {0, MALFORMED, UNSUPPORTED, NO_MEMORY}
    assert found[0, 0, 0] > 800
    assert INVALID not in {code for codes in found for code in codes}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 6))
def test_many_mutations_are_run_or_refused(dnnl_driver: Path, seed: int) -> None:
    check(dnnl_driver, seed, 50_000, 600)
