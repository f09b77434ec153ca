"""The generator's functions in firmware, together with the built-in kernels."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from _pytest.mark import ParameterSet

import microgen
from microgen import relay
from microgen.relay.expr import Function
from microgen.relay.module import IRModule
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA
from tests.tvm.codegens.ccompiler.random_functions import made

GUIDE = """\
#[version = "0.0.5"]
def @main(%a: Tensor[(10, 10), float32], %b: Tensor[(10, 10), float32],
          %c: Tensor[(10, 10), float32], %d: Tensor[(10, 10), float32]) {
  %0 = add(%a, %b);
  %1 = subtract(%0, %c);
  multiply(%1, %d)
}
"""
BOARDS = [
    pytest.param("native", marks=NEEDS_NINJA),
    pytest.param("mps2_an386", marks=[NEEDS_NINJA, NEEDS_ARM]),
]


def _checked(model: Path, board: str, folder: Path, **options: object) -> microgen.Compiled:
    """The compiled model, after its firmware was verified and computed what numpy does."""
    project = folder / "project"
    compiled = microgen.generate(model, board, project, codegen=("ccompiler",), **options)
    report = microgen.verify(project)
    assert report.ok, [check for check in report.checks if check.status == "failed"]
    run = microgen.run(project, compare=True)
    assert run.verdicts
    assert all(verdict.ok for verdict in run.verdicts), run.verdicts
    return compiled


def _cases(*others: tuple[object, ...]) -> list[ParameterSet]:
    """Every combination of a board with one value of each of the others, which have two. Those that
    are not slow have every pair of values."""
    return [
        pytest.param(
            *(*board.values, *(values[n] for values, n in zip(others, numbers, strict=True))),
            marks=[*board.marks, *[pytest.mark.slow] * ((i + sum(numbers)) % 2)],
        )
        for i, board in enumerate(BOARDS)
        for numbers in itertools.product(range(2), repeat=len(others))
    ]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("board", "interface", "merge_regions"), _cases(("c", "packed"), (False, True))
)
def test_the_guides_graph(board: str, interface: str, merge_regions: bool, tmp_path: Path) -> None:
    model = tmp_path / "guide.relay"
    model.write_text(GUIDE)
    options = {"interface": interface, "merge_regions": merge_regions}
    compiled = _checked(model, board, tmp_path, **options)
    calls = [call.function for call in compiled.program.calls]
    numbers = [0] if merge_regions else [0, 2, 4]
    assert calls == [f"tvmgen_default_ccompiler_main_{n}" for n in numbers]
    steps = [step for call in compiled.program.calls for step in call.steps]
    assert [step.op for step in steps] == ["add", "subtract", "multiply"]
    assert {step.kernel for step in steps} == {"ccompiler"}
    assert [bool(step.unseen) for step in steps] == [merge_regions, merge_regions, False]
    (numpy, _) = microgen.run(tmp_path / "project", compare=True).verdicts
    why = " (ccompiler does not say where it is)"
    assert (str(numpy).count('layer "%'), why in str(numpy)) == (2 * merge_regions, merge_regions)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("board", BOARDS)
def test_the_graph_executor_calls_it(board: str, tmp_path: Path) -> None:
    model = tmp_path / "guide.relay"
    model.write_text(GUIDE)
    _checked(model, board, tmp_path, executor="graph", merge_regions=True)


def _mixed(folder: Path) -> Path:
    """A model with built-in kernels before, between and after functions, and with two outputs."""
    x = relay.var("x", shape=(2, 6))
    weight = relay.const(np.linspace(-1, 1, 12, dtype=np.float32).reshape(2, 6))
    start = relay.sigmoid(x)
    left = relay.maximum(relay.multiply(start, weight), relay.negative(start))
    right = relay.tanh(relay.subtract(left, weight))
    total = relay.divide(relay.abs(right), relay.add(start, start))
    module = IRModule.from_expr(Function([x], relay.Tuple([total, left])))
    path = folder / "mixed.relay"
    relay.save(relay.infer_type(module), path)
    return path


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("board", "merge_regions"), _cases((False, True)))
def test_beside_the_kernels(board: str, merge_regions: bool, tmp_path: Path) -> None:
    compiled = _checked(_mixed(tmp_path), board, tmp_path, merge_regions=merge_regions)
    targets = {compiled.program.function(c.function).target for c in compiled.program.calls}
    assert len(targets) == 2
    assert "ccompiler" in targets


SEEDS = (3000, 3003, 3007, 3012, 3014, 3025)


# In every run of the tests, each network is on one of the boards.
@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("board", "seed"),
    [
        pytest.param(
            *(*board.values, seed),
            marks=[*board.marks, *[pytest.mark.slow] * ((i + k) % 2)],
        )
        for i, board in enumerate(BOARDS)
        for k, seed in enumerate(SEEDS)
    ],
)
def test_random_functions(board: str, seed: int, tmp_path: Path) -> None:
    """Functions like those of test_random.py, in firmware that is made from the model's text."""
    drawn = made("main", seed)
    assert drawn.function.relay is not None
    model = tmp_path / "random.relay"
    relay.save(relay.infer_type(IRModule.from_expr(drawn.function.relay)), model)
    project = tmp_path / "project"
    microgen.generate(model, board, project, codegen=("ccompiler",), merge_regions=True)
    names = [var.name_hint for var in drawn.function.relay.params]
    found = microgen.run(project, dict(zip(names, drawn.inputs, strict=True))).outputs
    for array, expected in zip(found.values(), drawn.outputs, strict=True):
        np.testing.assert_array_equal(array, expected)


def test_the_same_bytes_every_time(tmp_path: Path) -> None:
    model = _mixed(tmp_path)
    first, second = (
        microgen.compile_model(model, "native", codegen=("ccompiler",)) for _ in range(2)
    )
    assert first.files == second.files
