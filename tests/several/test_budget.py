"""A budget of RAM that several models share."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from microgen.base.errors import CapacityError
from microgen.compiler.schedule import Offer
from microgen.compiler.schedule.options import NOISE
from microgen.interface import api
from microgen.options import Options
from microgen.pipeline import budget, planning
from microgen.pipeline.partitioning import partitioned
from microgen.planner.program.ram import Ram
from microgen.project.firmware.compiled import Firmware
from microgen.target import board as boards
from tests.support.places import DIGITS

BOARD = "mps2_an386"
STACK, STATIC, ALIGNED = 4096, 64, 48  # of which static data and alignment are for each model


def firmware(limit: int = 0, *, shared: bool = False) -> Firmware:
    """Two models in so many bytes of workspaces, inputs and outputs."""
    ram = limit and limit + STACK + 2 * (STATIC + ALIGNED)
    models = [(DIGITS, "a"), (DIGITS, "b")]
    options = {"ram": ram, "stack": STACK, "optimize": "speed"}
    return api.compile_models(models, BOARD, shared_workspace=shared, **options)


def needed(found: Firmware, *, shared: bool = False) -> int:
    peaks = [one.plan.peak for one in found.models]
    return (max(peaks) if shared else sum(peaks)) + sum(m.program.io_bytes for m in found.models)


def cycles(found: Firmware) -> int:
    schedules = [one.schedule for one in found.manifest.modules]
    return sum(one.cycles for one in schedules if one)


@pytest.fixture(scope="module")
def usual() -> Firmware:
    return firmware()


@pytest.mark.sampled(1)
@pytest.mark.parametrize("shared", [False, True])
def test_models_that_fit_are_as_without_a_budget(shared: bool, usual: Firmware) -> None:
    found = firmware(needed(usual, shared=shared), shared=shared)
    assert [one.plan.peak for one in found.models] == [one.plan.peak for one in usual.models]


def test_less_ram_is_kept_to_and_costs_cycles(usual: Firmware) -> None:
    most = needed(usual)
    found = [firmware(limit) for limit in (most - 1, most * 2 // 3)]
    assert needed(found[0]) <= most - 1
    assert needed(found[1]) <= most * 2 // 3
    # What is fast as far as estimates can tell may be left for less RAM.
    assert cycles(usual) * (1 - NOISE) <= cycles(found[0]) < cycles(found[1])


def test_of_a_shared_workspace_the_largest_model_counts(usual: Firmware) -> None:
    most = needed(usual, shared=True)
    found = firmware(most - 1, shared=True)
    assert needed(found, shared=True) <= most - 1
    assert needed(found) > most - 1


def test_what_is_missing_is_said_of_the_smallest_firmware() -> None:
    board = boards.load(BOARD)
    offers = planning.offers(partitioned(DIGITS, board, Options(optimize="speed")), board)
    least = 2 * min(offer.ram.arena_io for offer in offers)
    assert needed(firmware(least)) == least
    with pytest.raises(CapacityError, match=r"\(1 too many\)") as caught:
        firmware(least - 2 * (STATIC + ALIGNED) - 1)
    assert f"needs at least {least + STACK:,} bytes of RAM" in str(caught.value)


def offer(own: int, shared: int, stack: int, cycles: int) -> Offer:
    return Offer(Ram(shared, own, stack=stack, shared=shared), cycles)


@pytest.mark.parametrize("seed", range(20))
def test_it_is_the_fastest_combination_that_fits(seed: int) -> None:
    rng = np.random.default_rng(seed)
    models = [
        [
            offer(own, common, stack, int(rng.integers(100)))
            for own, common, stack in (rng.integers(1, 50, (int(rng.integers(1, 6)), 3)).tolist())
        ]
        for _ in range(3)
    ]
    every = [
        (
            sum(o.ram.own for o in each)
            + max(o.ram.shared for o in each)
            + max(o.ram.stack for o in each),
            sum(o.cycles for o in each),
        )
        for each in itertools.product(*models)
    ]
    for limit in sorted({nbytes for nbytes, _ in every}):
        found = budget.best(models, limit)
        assert found.nbytes <= limit
        assert found.cycles == min(cycles for nbytes, cycles in every if nbytes <= limit)
        assert all(one in each for each, one in zip(models, found.offers, strict=True))
        assert found.cycles == sum(offer.cycles for offer in found.offers)
    nothing = budget.best(models, 0)
    assert (nothing.nbytes, nothing.cycles) == min(every)


def test_many_combinations_are_bounded_and_have_the_smallest() -> None:
    models = [
        [offer(2000 - n, 0, 0, n * n + model) for n in range(100 + model)] for model in range(5)
    ]
    least = sum(2000 - len(each) + 1 for each in models)
    assert budget.best(models, least).nbytes == least
    found = budget.best(models, least + 250)
    assert found.nbytes <= least + 250
    assert found.cycles < 0.6 * budget.best(models, least).cycles


def test_kernels_without_arrays_on_the_stack_are_offered(mlperf_models: Path) -> None:
    """The fast kernels of ad's widest layers have 1.4 KB on the stack, those of its others less,
    which may stay."""
    ad = mlperf_models / "ad01_int8.tflite"

    def found(ram: int) -> Firmware:
        return api.compile_models([(ad, "a"), (DIGITS, "b")], BOARD, optimize="speed", ram=ram)

    usual = found(0)
    most = usual.manifest.estimate.ram_most
    small = found(most - 1800)
    assert small.manifest.estimate.ram_most <= most - 1800
    without = "mg_dense_s8_high_paired"
    assert f"{without}_stack" in usual.models[0].manifest.kernels
    assert without not in usual.models[0].manifest.kernels
    assert without in small.models[0].manifest.kernels
    assert cycles(usual) < cycles(small)
