"""Assembled concatenations as a choice: when they are taken, and the bounds that hold with them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import microgen
from microgen import frontends, planner
from microgen.compiler import codegens, lowering
from microgen.compiler.partition import Partition
from microgen.compiler.partition.assembly import assemblies
from microgen.compiler.schedule import certificate, choose, division
from microgen.compiler.schedule.assembled import space
from microgen.compiler.schedule.choose import _forms
from microgen.compiler.schedule.search import fastest
from microgen.compiler.schedule.state import Candidate, Scorer, Worth, scheduled
from microgen.planner.program.ram import Ram
from tests.compiler.schedule.costs import M4, parts_of
from tests.support import concat_networks

ALIGNMENT = 16
MOST = 4  # concatenations of which all choices are tried
SEEDS = pytest.mark.parametrize("seed", range(24))
SOME = pytest.mark.sampled(6)  # of the seeds


def random_parts(seed: int, folder: Path) -> Partition:
    made, outputs = concat_networks.random(seed)
    return _parts(made.model(*outputs), folder)


def _parts(model: bytes, folder: Path) -> Partition:
    path = folder / "m.tflite"
    path.write_bytes(model)
    return parts_of(frontends.load(path))


def planned(parts: Partition, worth: Worth = bool) -> Ram:
    """Bytes of workspace."""
    program = lowering.lower(
        parts, codegens.registry(), M4, module="m", output_names=parts.graph.outputs
    )
    made = planner.plan(program)
    return Ram(made.peak, least=made.lower_bound)


def candidates(parts: Partition) -> Iterator[Candidate]:
    """The fastest kernels, with each choice for some concatenations."""
    found = space(parts, M4.cpu, prefers_shared=False)
    first = fastest(found)
    names = sorted(name for name, options in found.single.items() if options[0].is_assembled)[:MOST]
    ways = [(found.single[name][0], found.single[name][1]) for name in names]
    for picked in itertools.product(*ways):
        yield first.after(dict(zip(names, picked, strict=True)))


@SOME
@SEEDS
def test_bounds_hold_for_all_choices(seed: int, tmp_path: Path) -> None:
    parts = random_parts(seed, tmp_path)
    found = space(parts, M4.cpu, prefers_shared=False)
    bound = certificate.bound(parts, M4.cpu, division.ROWS, division.MOST_LAYERS)
    scorer = Scorer(found, planned)
    every = list(candidates(parts))
    for one in every:
        assert bound <= scorer.ram(one).arena_io
    for one, other in itertools.permutations(every, 2):
        change = {name: other.picks[name] for name in one.picks if _differ(one, other, name)}
        gaps = ALIGNMENT * len(parts.regions)  # they are no part of what a change can save
        assert scorer.least_ram(one, change) <= scorer.ram(other).arena_io + gaps


def _differ(one: Candidate, other: Candidate, name: str) -> bool:
    return one.picks[name] is not other.picks[name]


@SOME
@SEEDS
def test_divisions_need_no_less_than_the_certificate(seed: int, tmp_path: Path) -> None:
    parts = random_parts(seed, tmp_path)
    found = space(parts, M4.cpu, prefers_shared=False)
    bound = certificate.bound(parts, M4.cpu, division.ROWS, division.MOST_LAYERS)
    for one in division.pieces(found, M4.cpu).front():
        for candidate in _forms(one, found):
            assert bound <= planned(scheduled(found, candidate.picks, {})).arena_io


def test_a_detectors_heads_are_assembled_for_every_goal(tmp_path: Path) -> None:
    made, boxes, classes = concat_networks.detector()
    parts = _parts(made.model(boxes, classes), tmp_path)
    for goal in ("speed", "balanced", "ram", "flash"):
        chosen = choose(parts, M4.cpu, goal, planned)
        regions = {region.main.outputs[0]: region for region in chosen.partition.regions}
        assert regions[boxes].is_assembled
        assert regions[classes].is_assembled
        (choice,) = regions[boxes].choices
        assert "its parts are computed in its bytes; mg_write_slice" in choice.reason


def test_copying_needs_less_memory_where_parts_are_early(tmp_path: Path) -> None:
    """Between the first part and the concatenation there is a layer that needs much memory."""
    made = concat_networks.Network(11)
    x = made.input(1, 2, 2, 1)
    first = made.conv(x, 1, 1)
    big = made.conv(made.conv(x, 200, 1), 200, 1)
    second = made.reshape(made.conv(big, 64, 1), 1, 256)
    both = made.concat([made.reshape(first, 1, 4), second], 1)
    parts = _parts(made.model(made.dense(both, 3)), tmp_path)
    (result,) = assemblies(parts)
    regions = {}
    for goal in ("speed", "balanced"):
        chosen = choose(parts, M4.cpu, goal, planned).partition.regions
        regions[goal] = next(region for region in chosen if region.main.outputs[0] == result)
    assert regions["speed"].is_assembled
    assert not regions["balanced"].is_assembled


def test_a_graph_executor_has_none(tmp_path: Path) -> None:

    made, boxes, classes = concat_networks.detector()
    parts = _parts(made.model(boxes, classes), tmp_path)
    assert len(assemblies(parts)) == 2
    assert not assemblies(replace(parts, copies_parts=True))


def test_an_output_in_an_inputs_buffer_is_not_assembled(tmp_path: Path) -> None:
    made = concat_networks.Network(3)
    x = made.input(1, 4, 4, 2)
    path = tmp_path / "m.tflite"
    path.write_bytes(made.model(made.concat([made.conv(x, 2, 1), made.conv(x, 2, 1)], 1)))
    for optimize in ("speed", "balanced"):
        found = microgen.compile_model(path, M4, optimize=optimize, output_overlay=True)
        assert [step.op for call in found.program.calls for step in call.steps][-1] == "concatenate"
