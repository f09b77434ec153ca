"""Damaged ONNX models: a graph, or one line that says what is wrong; and soon."""

from __future__ import annotations

import random
import time
import warnings
from pathlib import Path

import pytest

from microgen import frontends, passes
from microgen.errors import InternalError, MicrogenError
from tests.frontends.onnx import node_tests
from tests.frontends.onnx.mutants import mutant

_SECONDS = 4.0  # of one load and the passes; a sound one takes a few milliseconds
_COUNTS = (150, pytest.param(20_000, marks=pytest.mark.slow))


def _seeds(path: Path) -> list[bytes]:
    """Models of node tests, of various operators, with their parameters as constants."""
    chosen = node_tests.cases()[::23]
    results = node_tests.all_tried(chosen, path, binds=True)
    return [one.model.SerializeToString() for one in results if one.kind == "ok"]


def _read(path: Path, data: bytes) -> str:
    """What is said of a file; empty if it is read. Any other exception fails the test."""
    path.write_bytes(data)
    start, said = time.process_time(), ""
    try:
        passes.run(frontends.load(path))
    except InternalError:
        raise
    except MicrogenError as error:
        said = str(error)
        assert "\n" not in said
    assert time.process_time() - start < _SECONDS
    return said


@pytest.mark.parametrize("count", _COUNTS)
def test_mutants_are_read_or_refused(count: int, tmp_path: Path) -> None:
    path, rng = tmp_path / "m.onnx", random.Random(count)
    seeds, read = _seeds(path), 0
    for number in range(count):
        data = mutant(rng, seeds[number % len(seeds)])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                read += not _read(path, data)
            except BaseException:
                (tmp_path / "failed.onnx").write_bytes(data)
                raise
    assert count * 0.05 < read < count * 0.9


@pytest.mark.parametrize("number", range(2))
def test_truncated_files_are_refused_or_read(number: int, tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    data = _seeds(path)[number]
    for end in range(0, len(data), 7):
        _read(path, data[:end])
