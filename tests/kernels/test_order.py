"""Kernels are chosen by measured costs. Where there are none, their order is stated in code: the
names of modules decide nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from microgen import kernels
from microgen.compiler.partition import Partition
from microgen.compiler.schedule import Schedule, choose
from microgen.compiler.schedule.goals import GOALS
from microgen.compiler.schedule.row_options import _useful
from microgen.kernels import patterns
from microgen.kernels.fitting import _fitting
from microgen.target import board as boards
from tests.compiler.schedule.costs import no_ram, parts_of
from tests.support.graphs import Builder

COPY = """
from dataclasses import replace
from microgen.kernels.dense import dense

OP_NAME = "nn.dense"
IMPLEMENTATIONS = tuple(
    replace(kernel, symbol="mg_a_copy", cost=None, measured_as=None)
    for kernel in dense.IMPLEMENTATIONS
    if kernel.symbol == "mg_dense_s8"
)
"""


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Adds an unmeasured copy of the reference kernel, in a module of that name."""
    caches = (kernels.modules, kernels.registry, _fitting)

    def add(module: str) -> None:
        (tmp_path / f"{module}.py").write_text(COPY)
        monkeypatch.setattr(kernels, "__path__", [*kernels.__path__, str(tmp_path)])
        for cache in caches:
            cache.cache_clear()

    yield add
    monkeypatch.undo()
    for cache in caches:
        cache.cache_clear()


def _parts(board: str) -> Partition:
    b = Builder()
    return parts_of(b.graph(b.dense(b.input(1, 12), 7)), boards.load(board))


def _chosen(board: str) -> dict[str, Schedule]:
    parts = _parts(board)
    return {goal: choose(parts, boards.load(board).cpu, goal, no_ram) for goal in GOALS}


def _symbols(found: dict[str, Schedule]) -> dict[str, list[tuple[str, bool]]]:
    return {
        goal: [(c.symbol, c.is_shared) for region in one.partition.regions for c in region.choices]
        for goal, one in found.items()
    }


@pytest.mark.parametrize("module", ["dense_zz", "dense_aa", "zz", "aa"])
@pytest.mark.parametrize("board", ["mps2_an386", "microbit", "native"])
def test_an_unmeasured_copy_changes_nothing_whatever_its_module_is_called(
    board: str, module: str, copied: Callable[[str], None]
) -> None:
    before = _symbols(_chosen(board))
    copied(module)
    assert kernels.named("nn.dense", "mg_a_copy") is not None
    found = _chosen(board)
    assert _symbols(found) == before
    (choice,) = found["speed"].partition.regions[0].choices
    is_measured = board != "native"
    last = "; last, because its cost is not measured for this core: mg_a_copy"
    assert choice.reason.endswith(last) is is_measured


def test_layers_of_functions_with_rows_take_measured_kernels_first(
    copied: Callable[[str], None],
) -> None:
    copied("dense_zz")
    parts = _parts("mps2_an386")
    (node,) = parts.regions[0].nodes
    found = _useful(node, parts.graph, boards.load("mps2_an386").cpu, lean=False)
    assert all(one.cost and one.kernel.symbol != "mg_a_copy" for one in found)


def test_modules_of_one_op_state_different_places() -> None:
    """Otherwise something else than the code would decide which comes first."""
    places = Counter(
        (op, getattr(module, "PRECEDENCE", 0))
        for module in kernels.modules()
        for op in kernels.of(module)
    )
    assert {place for place, count in places.items() if count > 1} == set()
    assert patterns.JOINT not in "".join(op for op, precedence in places if precedence)


def test_the_reference_kernels_of_an_op_come_after_its_others() -> None:
    for op, found in kernels.registry().items():
        name = op.rpartition(".")[2]
        for module in kernels.modules():
            if hasattr(module, "BY_OP") or module.__name__.endswith(f".{name}"):
                own = kernels.of(module).get(op, found)
                assert found[-1] is own[-1]
