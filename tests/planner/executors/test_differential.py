"""Random networks: the graph executor gives the same bytes as the AOT executor."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

import microgen
from microgen.base.errors import UnsupportedError
from microgen.project.firmware.compiled import Compiled
from tests.differential import program
from tests.differential.generator import Case, generate
from tests.differential.stock import SAMPLES

AT_ONCE = 5  # networks that are compiled together
_NO_STATE = "--executor: the graph executor keeps no state between runs"


def _compiled(case: Case, executor: str, folder: Path) -> Compiled:
    model = folder / f"{case.seed}.tflite"
    model.write_bytes(case.net.model(case.outputs))
    options = {"executor": executor, "optimize": case.options["optimize"]}
    return microgen.compile_model(model, "native", name=f"{executor}{case.seed}", **options)


def _both(case: Case, folder: Path) -> list[Compiled]:
    """The network compiled for the AOT and for the graph executor; nothing if it keeps a state."""
    ahead = _compiled(case, "aot", folder)
    if ahead.program.state:
        with pytest.raises(UnsupportedError, match=_NO_STATE):
            _compiled(case, "graph", folder)
        return []
    return [ahead, _compiled(case, "graph", folder)]


def _agree(seeds: Sequence[int], folder: Path) -> None:
    cases = [generate(seed) for seed in seeds]
    pairs = [(case, both) for case in cases if (both := _both(case, folder))]
    built = program.build([one for _, both in pairs for one in both], folder, SAMPLES)
    wrong = [case.seed for k, (case, _) in enumerate(pairs) if _differ(built, 2 * k, case)]
    assert not wrong, f"seeds whose graph executor differs: {wrong}"
    shutil.rmtree(folder)


def _differ(built: program.Program, index: int, case: Case) -> bool:
    """Whether two neighbouring networks differ in a byte of any sample."""
    inputs = [[case.net.values[name][i] for name in case.net.inputs] for i in range(SAMPLES)]
    ahead, graph = (built.run(index + k, inputs) for k in range(2))
    return any(
        a.tobytes() != b.tobytes()
        for one, other in zip(ahead, graph, strict=True)
        for a, b in zip(one, other, strict=True)
    )


@pytest.mark.parametrize(
    "first", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(AT_ONCE, 20, AT_ONCE))]
)
def test_random_networks_agree(first: int, tmp_path: Path) -> None:
    _agree(range(first, first + AT_ONCE), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(5000, 5300, AT_ONCE))
def test_three_hundred_random_networks_agree(first: int, tmp_path: Path) -> None:
    _agree(range(first, first + AT_ONCE), tmp_path)
