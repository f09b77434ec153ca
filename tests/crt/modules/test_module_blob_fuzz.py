"""Damaged module blobs: loaded and run, or an error code, under sanitizers."""

from __future__ import annotations

import struct
import subprocess
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from tests.crt.modules import module_blob_cases as b

CODES = {
    "load": {0, b.MALFORMED, b.UNSUPPORTED, b.NO_MEMORY},
    "find": {0, b.NOT_FOUND, b.BAD_INDEX},
    "init": {0, b.NOT_FOUND, b.BAD_INDEX, b.NO_CONSTANT, b.WRONG_NUMBER, b.INVALID},
    "run": {0, b.BAD_INDEX, b.NOT_CALLABLE, b.NOT_SET},
}


@pytest.fixture(scope="module")
def fuzzer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return b.compiled(tmp_path_factory.mktemp("fuzzer"), "module_blob_fuzz")


def times(fuzzer: Path, seed: int, count: int) -> dict[str, Counter[int]]:
    """The number of times that each code came. The program stops early only on an error."""
    originals = [b.VECTOR, b.usual(), b.older(), b.deep(), b.without_tree()]
    stdin = b"".join(struct.pack("<I", len(data)) + data for data in originals)
    command = [str(fuzzer), str(seed), str(count)]
    done = subprocess.run(command, input=stdin, capture_output=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr.decode()[-4000:]
    found: dict[str, Counter[int]] = defaultdict(Counter)
    for line in done.stdout.decode().splitlines():
        step, code, number = line.split(" ")
        found[step][int(code)] = int(number)
    assert found["load"].total() == count
    for step, codes in CODES.items():
        assert found[step].keys() <= codes, step
    return found


def test_damaged_blobs_are_run_or_refused(fuzzer: Path) -> None:
    found = times(fuzzer, 1, 20_000)
    # The mutations reach every refusal, and do not only break the frame.
    assert {step: set(found[step]) for step in CODES} == CODES
    assert found["load"][0] > 1000
    assert found["run"][0] > 1000


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 6))
def test_many_damaged_blobs_are_run_or_refused(fuzzer: Path, seed: int) -> None:
    times(fuzzer, seed, 50_000)
