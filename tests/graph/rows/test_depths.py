"""Random networks equal the reference at every depth to which layers can be computed together, row
by row, with sanitizers on the host."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import microgen
from microgen.base.manifest.schedule import ScheduleRecord
from microgen.compiler.schedule import file
from microgen.interface import api
from microgen.pipeline import Compiled, Planned
from tests.differential import harness
from tests.differential.generator import Case
from tests.differential.stock import SAMPLES, Array
from tests.graph.rows import guarded
from tests.graph.rows.blocks import generate
from tests.graph.rows.depths import schedules

AT_ONCE = 10  # networks that are compiled together
NETWORKS = 1000
USUAL = 20
FEW = 3  # of these at once
MANY = 1000  # depths: all of a network's
_SHARED = 0.9  # of the kernels are out of line, where all networks have the same code


@dataclass(frozen=True)
class Variant:
    """A network with a schedule of some depth."""

    case: Case
    depth: int
    compiled: Compiled


def inputs_of(case: Case) -> list[list[Array]]:
    """The network's inputs for each sample."""
    return [[case.net.values[name][i] for name in case.net.inputs] for i in range(SAMPLES)]


def difference(case: Case, found: Sequence[Sequence[Array]]) -> str:
    """Where outputs differ from the reference, "" if nowhere."""
    by_name = {name: [sample[k] for sample in found] for k, name in enumerate(case.outputs)}
    return harness._difference(case, by_name)


def variants(
    case: Case, folder: Path, board: str = "native", most: int = MANY
) -> Iterator[Variant]:
    """The network with its layers together to each legal depth, or only to ``most`` of them, the
    deepest and others."""
    for depth, model, options in _written(case, folder, board, most):
        yield Variant(case, depth, microgen.compile_model(model, board, **options))


def variant_at(case: Case, folder: Path, depth: int) -> Variant:
    """The network for this machine with its layers together to a depth."""
    every = _written(case, folder, "native", MANY)
    model, options = next((model, options) for each, model, options in every if each == depth)
    return Variant(case, depth, microgen.compile_model(model, "native", **options))


def plans(case: Case, folder: Path) -> Iterator[tuple[int, Planned]]:
    """Each legal depth, and what is planned of the network for this machine with its layers
    together to that depth."""
    for depth, model, options in _written(case, folder, "native", MANY):
        yield depth, api.plan(model, "native", **options)


def _written(
    case: Case, folder: Path, board: str, most: int
) -> Iterator[tuple[int, Path, dict[str, Any]]]:
    """Depths, each with the file of the network and the options for that depth."""
    folder.mkdir(parents=True, exist_ok=True)
    model = folder / f"network{case.seed}.tflite"
    model.write_bytes(case.net.model(case.outputs))
    made = schedules(model, board, np.random.default_rng(case.seed), _SHARED)
    for depth, record in some(made, most):
        path = folder / f"schedule{case.seed}_{depth}.json"
        path.write_text(file.dumps(record))
        name = f"n{case.seed}_{depth}"
        yield depth, model, {"name": name, "schedule": str(path), **guarded.OPTIONS}


def some(made: Mapping[int, ScheduleRecord], most: int) -> list[tuple[int, ScheduleRecord]]:
    """At most so many of the schedules: the deepest, and others at equal distances."""
    deepest = sorted(made.items(), reverse=True)
    return deepest[:: max(1, -(-len(deepest) // most))]


def wrong(seeds: Sequence[int], folder: Path, most: int = MANY) -> tuple[list[str], list[int]]:
    """What is wrong with networks, and the depths that were tried."""
    cases = [generate(seed) for seed in seeds]
    found = [f"{case.seed}: {what}" for case in cases if (what := harness._by_numpy(case))]
    every = [variant for case in cases for variant in variants(case, folder, most=most)]
    host = guarded.for_host([variant.compiled for variant in every], folder)
    for index, variant in enumerate(every):
        try:
            what = difference(variant.case, host.run(index, inputs_of(variant.case)))
        except guarded.GuardedError as error:
            what = str(error)
        if what:
            found.append(f"{variant.case.seed} at depth {variant.depth}: {what}")
    shutil.rmtree(folder)
    return found, [variant.depth for variant in every]


# In every run of the tests a network of int8, and one of floats.
@pytest.mark.parametrize(
    "seeds",
    [
        (0, 2),
        *(
            pytest.param(range(first, first + FEW), marks=pytest.mark.slow)
            for first in range(0, USUAL, FEW)
        ),
    ],
    ids=str,
)
def test_random_networks_at_every_depth(seeds: Sequence[int], tmp_path: Path) -> None:
    found, depths = wrong(seeds, tmp_path / "p", most=3)
    assert not found
    assert max(depths) > 5
    assert len(depths) > 2 * len(seeds), "few layers can be computed together"


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, NETWORKS, AT_ONCE))
def test_a_thousand_random_networks_at_every_depth(first: int, tmp_path: Path) -> None:
    found, _ = wrong(range(first, first + AT_ONCE), tmp_path / "p")
    assert not found
