"""Work that grows linearly with the network. The tests count lines instead of seconds."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

import microgen
from microgen.compiler.schedule.state import Candidate
from microgen.interface import api
from microgen.planner import check, plan, sweep
from microgen.planner.layout import make_problem
from microgen.planner.lifetimes import all_merged, analyse
from microgen.planner.program.types import Program
from microgen.planner.repair import find_core
from microgen.planner.search import PlacementSearch
from microgen.planner.timeline import live_bytes
from tests.planner.builder import Builder
from tests.support.counting import more_than_linear
from tests.support.tflite_builder import OperatorSpec, TensorSpec, build_model

BOARD = "mps2_an386"
SIZE = 12  # layers; the counts are compared with those of two and three times as many


def _tensor(name: str, *shape: int, scale: float = 0.5) -> TensorSpec:
    return TensorSpec(name, shape or (1, 4), scale=(scale,), zero_point=(0,))


def _add(a: str, b: str, result: str) -> OperatorSpec:
    return OperatorSpec("ADD", [a, b], [result], "AddOptions")


def _chain(n: int) -> bytes:
    """Calls of one function, each on the previous result."""
    names = ["x", *(f"t{i}" for i in range(n))]
    adds = [_add(a, a, b) for a, b in pairwise(names)]
    return build_model([_tensor(name) for name in names], adds, ["x"], [names[-1]])


def _ports(n: int) -> bytes:
    """As many inputs and outputs as functions. The outputs' scales all differ."""
    inputs, results = [f"x{i}" for i in range(n)], [f"t{i}" for i in range(n)]
    tensors = [_tensor(name) for name in inputs]
    tensors += [_tensor(name, scale=0.5 + i / 1024) for i, name in enumerate(results)]
    adds = [_add(a, a, b) for a, b in zip(inputs, results, strict=True)]
    return build_model(tensors, adds, inputs, results)


def _alive(n: int) -> bytes:
    """Results that are read in reverse order, so all are live at once."""
    names, sums = [f"t{i}" for i in range(n)], [f"s{i}" for i in range(n)]
    tensors = [_tensor(name) for name in ("x", *names, *sums)]
    adds = [_add(a, "x", b) for a, b in zip(["x", *names], names, strict=False)]
    after = zip(["x", *sums], reversed(names), sums, strict=False)
    return build_model(tensors, [*adds, *(_add(*each) for each in after)], ["x"], [sums[-1]])


def _joined(n: int) -> bytes:
    """A concatenation of many results, and a layer that reads it."""
    names = [f"t{i}" for i in range(n)]
    tensors = [_tensor(name) for name in ("x", *names)]
    tensors += [_tensor(name, 1, 4 * n) for name in ("y", "z")]
    adds = [_add(a, "x", b) for a, b in zip(["x", *names], names, strict=False)]
    join = OperatorSpec("CONCATENATION", names, ["y"], "ConcatenationOptions", {"axis": 1})
    return build_model(tensors, [*adds, join, _add("y", "y", "z")], ["x"], ["z"])


def _relay(n: int) -> bytes:
    """Calls in a chain."""
    names = ["%x", *(f"%{i}" for i in range(n))]
    calls = [f"{b} = add({a}, {a});" for a, b in pairwise(names)]
    body = "\n".join([*calls, names[-1]])
    head = '#[version = "0.0.5"]\ndef @main(%x: Tensor[(1, 4), float32])'
    return f"{head} {{\n{body}\n}}\n".encode()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("make", [_chain, _ports, _alive, _joined, _relay])
def test_generating_is_linear(
    make: Callable[[int], bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if make in (_alive, _joined):
        monkeypatch.setattr(sweep, "MOST", 0)  # with fewer buffers all pairs are compared
    microgen.compile_model(_file(tmp_path, make, 2), BOARD)  # what is made only once is not counted

    def work(n: int) -> Callable[[], object]:
        model = _file(tmp_path, make, n)
        return lambda: microgen.compile_model(model, BOARD)

    assert more_than_linear(work, SIZE) == []


class _Hashed(tuple[object, ...]):
    """A tuple that counts how often it is hashed, which takes as long as it has elements."""

    times = 0

    def __hash__(self) -> int:
        _Hashed.times += 1
        return super().__hash__()


def test_what_decides_the_memory_of_all_layers_is_rarely_looked_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The search for a schedule tries some options for each layer. If it looked up the memory of
    all layers for each of them, its time would grow with the square of the network."""

    def memory(candidate: Candidate) -> tuple[object, ...]:
        return _Hashed(option.memory for option in candidate.options)

    monkeypatch.setattr(Candidate, "memory", property(memory))

    def times(n: int) -> int:
        _Hashed.times = 0
        api.plan(_file(tmp_path, _chain, n), BOARD)
        return _Hashed.times

    assert 0 < times(3 * SIZE) <= times(SIZE)


def _file(folder: Path, make: Callable[[int], bytes], n: int) -> Path:
    path = folder / f"{n}.{'relay' if make is _relay else 'tflite'}"
    path.write_bytes(make(n))
    return path


def _crowd(n: int) -> Program:
    """Buffers of different sizes. The last call reads all of them, earlier calls read one each."""
    builder = Builder().call(["input"], {"s0": 48})
    for i in range(1, n):
        builder.call([f"s{i - 1}"], {f"s{i}": 16 + 7919 * i % 801}, in_place=[(0, 0)])
    return builder.call([f"s{i}" for i in range(n)], ["output"]).build()


def _ragged(n: int) -> Program:
    """A chain with skips. Rounding makes the peak of every layout larger than the bound."""
    builder = Builder().call(["input"], {"s0": 1000})
    for i in range(1, n):
        reads = [f"s{i - 1}"] + ([f"s{i - 1 - i % 7}"] if i % 3 == 0 and i > 7 else [])
        builder.call(reads, {f"s{i}": 200 + 7919 * i % 1801}, in_place=[(0, 0)] if i % 5 else [])
    return builder.call([f"s{n - 1}"], ["output"]).build()


@pytest.mark.parametrize("algorithm", ["optimal", "greedy"])
def test_planning_what_lives_at_once_is_linear(
    algorithm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweep, "MOST", 0)

    def work(n: int) -> Callable[[], object]:
        program = _crowd(n)
        return lambda: live_bytes(program, plan(program, algorithm=algorithm))

    assert more_than_linear(work, 60) == []


def test_preparing_a_search_is_linear() -> None:
    def work(n: int) -> Callable[[], object]:
        liveness = analyse(_ragged(n))

        def search() -> None:
            problem = make_problem(liveness, all_merged(liveness), 16)
            PlacementSearch(problem, find_core(problem, 0).hard, 10**6)

        return search

    assert more_than_linear(work, 100) == []


def test_a_crowded_plan_is_sound_and_says_how_far_it_got() -> None:
    program = _crowd(600)
    made = plan(program)
    assert check.problems(program, made) == []
    rounded = sum(-(-b.nbytes // 16) * 16 for b in program.buffers)
    assert made.lower_bound <= made.peak <= rounded
    assert (
        made.proof == f"too much is live at once for a search: at most {made.gap} bytes "
        "above the bound"
    )


def test_chains_are_as_deep_as_they_like(tmp_path: Path) -> None:
    model = _file(tmp_path, _relay, 1100)  # above Python's limit of recursion
    program, *_ = api.plan(model, BOARD)
    assert len(program.calls) == 1100
