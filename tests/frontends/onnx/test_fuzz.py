"""Damaged ONNX models: a graph with which ONNX Runtime agrees, or one line that says what is wrong;
and soon."""

from __future__ import annotations

import functools
import random
import resource
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from microgen import frontends
from microgen.base.errors import InternalError, MicrogenError
from microgen.compiler import passes
from tests.frontends.onnx import judged, node_tests
from tests.frontends.onnx.graphs import float_networks, quantized_networks
from tests.frontends.onnx.mutants import mutant

_SECONDS = 4.0  # of one load and the passes; a sound one takes a few milliseconds
_BYTES = 2**28  # more than sound models need
_MOST_JUDGED = 10  # in every run
_QUICK, _SLOW = 90, 20_000  # mutants


def _seeds(path: Path, count: int) -> list[bytes]:
    """What ``count`` mutants are made from: models of node tests, of various operators, with their
    parameters as constants; and random networks."""
    cases = node_tests.cases_without_pools() if count == _QUICK else node_tests.cases()
    results = node_tests.all_tried(cases[::23], path, binds=True)
    models = [one.model for one in results if one.kind == "ok"]
    networks = float_networks.generate, quantized_networks.generate
    each = 10 if count == _QUICK else 20
    models += [generate(seed).model for generate in networks for seed in range(each)]
    return [model.SerializeToString() for model in models]


@pytest.fixture(scope="module")
def seeds_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], list[bytes]]:
    """``_seeds`` by the number of mutants, each computed once."""
    path = tmp_path_factory.mktemp("seeds") / "m.onnx"
    return functools.cache(lambda count: _seeds(path, count))


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


def _peak() -> int:
    """The most memory that this process has had, in bytes."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


@pytest.mark.parametrize("count", [_QUICK, pytest.param(_SLOW, marks=pytest.mark.slow)])
def test_mutants_are_right_or_refused(
    count: int, seeds_of: Callable[[int], list[bytes]], tmp_path: Path
) -> None:
    rng, seeds, peak = random.Random(count), seeds_of(count), _peak()
    read: list[Path] = []
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for number in range(count):
            path = tmp_path / f"{number}.onnx"
            if _read(path, mutant(rng, seeds[number % len(seeds)])):
                path.unlink()
            else:
                read.append(path)
    assert _peak() - peak < _BYTES
    assert count * 0.05 < len(read) < count * 0.9
    assert not judged.wrong(read[-_MOST_JUDGED:] if count == _QUICK else read)


@pytest.mark.parametrize("number", range(2))
def test_truncated_files_are_refused_or_read(
    number: int, seeds_of: Callable[[int], list[bytes]], tmp_path: Path
) -> None:
    path = tmp_path / "m.onnx"
    data = seeds_of(_QUICK)[number]
    for end in range(0, len(data), 7):
        _read(path, data[:end])
