"""ONNX's node tests: refused by a sentence, or right in numpy and in C."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from microgen.frontends.onnx.node_tests import NodeTestCounts, recorded
from microgen.pipeline import Compiled
from tests.differential import program
from tests.frontends.onnx import node_tests
from tests.frontends.onnx.node_tests import Case, Result

_SAMPLED = 200
_BUILT = 12  # of the sample, as one program
_BATCH = 40
_SHARDS = 8
_ADVICE = "run: python -m tests.frontends.onnx.node_tests --record"
_MOST_OF_OP = 30  # tests of an operator that are counted in every run


def _sampled(most: int) -> list[Case]:
    every = node_tests.cases_without_pools()
    return [every[i * len(every) // most] for i in range(most)]


def _bad(results: Sequence[Result]) -> list[str]:
    return [str(result) for result in results if result.kind in ("wrong", "broken")]


def _by_c(results: Sequence[Result], folder: Path) -> list[Result]:
    """What becomes of tests that are ok in numpy, in C: one program computes all of them."""
    found: list[Result] = []
    made: list[tuple[Result, Compiled]] = []
    for k, result in enumerate(results):
        one = node_tests.compiled(result, folder / f"{k}.onnx", f"n{k}")
        if isinstance(one, Result):
            found.append(one)
        else:
            made.append((result, one))
    if not made:
        return found
    built = program.build([one for _, one in made], folder, 1)
    for k, (result, one) in enumerate(made):
        found.append(_ran(result, one, built, k))
    return found


def _ran(result: Result, one: Compiled, built: program.Program, index: int) -> Result:
    values = result.case.named_inputs
    given = [
        node_tests.array_of(values[port.tensor]).astype(port.type.dtype.numpy)
        for port in one.program.inputs
    ]
    try:
        (outputs,) = built.run(index, [given])
    except program.ProgramError as error:
        return Result(result.case, "broken", str(error), result.model)
    why = node_tests.differs(result.case, outputs)
    return Result(result.case, "wrong" if why else "ok", f"C: {why}", result.model)


def test_a_sample_is_refused_or_right_in_numpy_and_c(tmp_path: Path) -> None:
    results = node_tests.all_tried(_sampled(_SAMPLED), tmp_path / "m.onnx", binds=True)
    assert not _bad(results)
    passing = [result for result in results if result.kind == "ok"]
    chosen = [passing[i * len(passing) // _BUILT] for i in range(_BUILT)]
    assert not _bad(_by_c(chosen, tmp_path))


def _counted(chosen: Sequence[Case], path: Path) -> dict[str, NodeTestCounts]:
    both = [node_tests.all_tried(chosen, path, binds=binds) for binds in (True, False)]
    assert not _bad([result for results in both for result in results])
    return node_tests.by_operator(*both)


def test_some_operators_pass_as_recorded(tmp_path: Path) -> None:
    every, known = node_tests.cases_without_pools(), recorded()
    there = {case.op for case in every}
    ops = [op for op, row in known.items() if op in there and row.tests <= _MOST_OF_OP][::12]
    found = _counted([case for case in every if case.op in ops], tmp_path / "m.onnx")
    assert found == {op: known[op] for op in ops}, _ADVICE


@pytest.mark.slow
def test_all_are_refused_or_right_in_numpy_as_recorded(tmp_path: Path) -> None:
    assert _counted(node_tests.cases(), tmp_path / "m.onnx") == recorded(), _ADVICE


@pytest.mark.slow
@pytest.mark.parametrize("shard", range(_SHARDS))
def test_all_that_are_right_in_numpy_are_right_in_c(
    shard: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TESTS_BUILD_QUICKLY", "1")  # kernels have tests of their own
    results = node_tests.all_tried(
        node_tests.cases()[shard::_SHARDS], tmp_path / "m.onnx", binds=True
    )
    passing = [result for result in results if result.kind == "ok"]
    found: list[Result] = []
    for first in range(0, len(passing), _BATCH):
        folder = tmp_path / str(first)
        folder.mkdir()
        found += _by_c(passing[first : first + _BATCH], folder)
    assert not _bad(found)
    assert sum(result.kind == "ok" for result in found) >= 0.9 * len(passing)
