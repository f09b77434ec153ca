"""Costs against committed samples: two measured layers of each kernel that has costs, and one of
each that is measured as another. A cost that is wrong by a factor of three is found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from microgen.kernels import cost
from microgen.target.cpu import CPUS
from scripts.measuring import layer_costs, samples, shapes
from scripts.measuring.layer_costs import Case
from tests.kernels.test_calibration import CORES
from tests.support.tools import NEEDS_NINJA

EVERY = samples.load()
_IN_FLOAT32 = "MG_ROUND_FLOAT"
# By core and form, the share of measured numbers by which a sample may differ when it is measured
# again: other versions of compilers make other code.
AGAIN = 0.1
# Kernels that `make test` measures again: the first of each core that are chosen for convolutions,
# depthwise convolutions and dense layers.
USUAL = ("mg_conv2d_s8_high_paired_stack", "mg_conv2d_1x1_s8_dsp", "mg_dense_s8_high_paired")


@pytest.mark.parametrize("core", cost.cores())
def test_every_kernel_that_has_costs_has_a_sample(core: str) -> None:
    missing = samples.missing(EVERY, core)
    assert not missing, "run scripts/measure.py --missing"


@pytest.mark.parametrize("core", cost.cores())
def test_costs_are_those_of_the_samples(core: str) -> None:
    assert not list(samples.differing(EVERY, core))


def _scaled(found: Any, factor: float) -> Any:
    """A kernel's table with all costs multiplied."""
    if isinstance(found, Mapping):
        return {key: _scaled(value, factor) for key, value in found.items()}
    return found * factor if isinstance(found, int | float) else found


def _found(symbol: str, core: str, factor: float, patch: pytest.MonkeyPatch) -> bool:
    """Whether the samples show that a kernel's costs are wrong."""
    table = cost.table

    def wrong(name: str) -> Mapping[str, Any]:
        return _scaled(table(name), factor) if name == symbol else table(name)

    with patch.context() as inner:
        inner.setattr(cost, "table", wrong)
        return any(samples.differing(EVERY, core, [symbol]))


@pytest.mark.parametrize("factor", [3, 1 / 3])
@pytest.mark.parametrize("core", cost.cores())
def test_any_cost_that_is_wrong_by_a_factor_of_three_is_found(
    core: str, factor: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = [s for s in samples.estimated(core) if cost.table(s).get(core)]
    assert len(own) > 60
    assert not [s for s in own if not _found(s, core, factor, monkeypatch)]


@pytest.mark.parametrize("factor", [3, 1 / 3])
@pytest.mark.parametrize("core", cost.cores())
def test_what_float32_adds_to_other_roundings_is_held(
    core: str, factor: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = cost.table
    added = _scaled(table(_IN_FLOAT32), factor)
    monkeypatch.setattr(cost, "table", lambda n: added if n == _IN_FLOAT32 else table(n))
    assert any("_float" in line for line in samples.differing(EVERY, core))


@pytest.mark.parametrize("core", cost.cores())
def test_kernels_that_differ_in_requantizations_cost_what_these_add(core: str) -> None:
    """A kernel that is measured as another costs as much for each output as the table adds."""
    layer = shapes.COMPARED["nn.dense"][-1]  # of int8, rounded in float32
    kernel = samples.estimated(core)["mg_dense_s8_float"][1]
    node, graph = samples.built(Case(kernel, "s8", layer, 0))
    plain = replace(kernel, variant=())
    for form in (cost.SPECIALISED, cost.SHARED):
        mine, other = (
            cost.estimate(k, node, graph, CPUS[core], shared=form == cost.SHARED)
            for k in (kernel, plain)
        )
        assert mine is not None
        assert other is not None
        added = cost.table(_IN_FLOAT32)[core][form]
        outputs = graph.types[node.outputs[0]].size
        assert mine.instructions - other.instructions == pytest.approx(
            added["instructions"]["output"] * outputs, abs=1
        )
        assert dict(mine.cores)["mg_requantize_float"] > 500
        assert "mg_requantize_float" not in dict(other.cores)


def _again(core: str, symbols: Mapping[str, Any] | tuple[str, ...], folder: Path) -> Iterator[str]:
    """A line for each sample of these kernels that is measured otherwise than it was."""
    known = samples.estimated(core)
    rows = EVERY[core][cost.SPECIALISED]
    cases = {
        samples.named(known[symbol][1], layer): numbers
        for symbol in symbols
        if symbol in rows
        for layer, numbers in rows[symbol].items()
        if cost.SPECIALISED in samples.forms(known[symbol][1], core)
    }
    parts = iter(cases)
    while part := list(islice(parts, 100)):
        for one in layer_costs.measure(part, core, folder / part[0].kernel.symbol, shared=False):
            before = dict(zip(samples.FIELDS, cases[one.case], strict=False))
            for name in ("instructions", "cycles"):
                now, then = getattr(one, name), before[name]
                if abs(now - then) > AGAIN * then:
                    yield f"{one.case.name} {core} {name}: {now:,}, in samples.json {then:,}"


@NEEDS_NINJA
@pytest.mark.parametrize("core", [core for core in CORES if core.values[0] == "cortex-m4f"])
def test_samples_of_some_kernels_are_as_measured(core: str, tmp_path: Path) -> None:
    assert CPUS[core].name == core
    assert not list(_again(core, USUAL, tmp_path))


@pytest.mark.slow
@NEEDS_NINJA
@pytest.mark.parametrize("core", [*CORES])
def test_samples_of_all_kernels_are_as_measured(core: str, tmp_path: Path) -> None:
    integers = {s: 0 for s in EVERY[core][cost.SPECIALISED] if "f32" not in s}
    floats = {s: 0 for s in EVERY[core][cost.SPECIALISED] if "f32" in s}
    assert not [line for each in (integers, floats) for line in _again(core, each, tmp_path)]
