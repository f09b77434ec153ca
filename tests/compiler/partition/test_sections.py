"""Slices that are one run of the bytes of their data need no call."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from microgen import frontends
from microgen.compiler.partition import sections
from microgen.compiler.passes.views import roots
from microgen.graph.ir.graph import Graph
from microgen.graph.ops.moves.layouts import ConcatenateAttrs
from microgen.graph.ops.moves.slices import StridedSliceAttrs
from microgen.interface import api
from microgen.options import Options
from microgen.pipeline import planning
from microgen.target import board as boards
from tests.support.graphs import Builder
from tests.support.tflite_builder import OperatorSpec, TensorSpec, build_model
from tests.support.tools import NEEDS_NINJA


def _slice(b: Builder, data: str, begin: tuple[int, ...], shape: tuple[int, ...]) -> str:
    attrs = StridedSliceAttrs(begin, (1,) * len(begin), shape)
    return b.node("strided_slice", attrs, data)


def _sections(graph: Graph) -> dict[str, int]:
    return dict(sections.with_sections(graph, graph.inputs).sections)


@pytest.mark.parametrize(
    ("shape", "begin", "part", "offset"),
    [
        ((1, 4, 6), (0, 2, 0), (1, 1, 6), 12),
        ((1, 4, 6), (0, 1, 0), (1, 2, 6), 6),
        ((1, 4, 6), (0, 3, 2), (1, 1, 3), 20),
        ((1, 4, 6), (0, 0, 0), (1, 4, 6), 0),
        ((2, 4, 6), (1, 2, 0), (1, 2, 6), 36),
        ((2, 4, 6), (0, 2, 0), (2, 2, 6), None),
        ((1, 4, 6), (0, 0, 2), (1, 4, 3), None),
        ((1, 4, 6), (0, 1, 2), (1, 2, 3), None),
    ],
)
def test_a_run_of_bytes_is_a_section(
    shape: tuple[int, ...], begin: tuple[int, ...], part: tuple[int, ...], offset: int | None
) -> None:
    b = Builder()
    data = b.sigmoid(b.input(*shape))
    cut = _slice(b, data, begin, part)
    found = _sections(b.graph(b.sigmoid(cut), b.sigmoid(data)))
    assert found == ({} if offset is None else {cut: offset})
    if offset is not None:
        flat = np.arange(math.prod(shape)).reshape(shape)
        own = flat[tuple(slice(a, a + n) for a, n in zip(begin, part, strict=True))]
        assert own.reshape(-1).tolist() == list(range(offset, offset + own.size))


def test_slices_of_sections_and_their_views_add_up() -> None:
    b = Builder()
    data = b.sigmoid(b.input(1, 4, 6))
    row = b.reshape(_slice(b, data, (0, 2, 0), (1, 2, 6)), 1, 12)
    last = _slice(b, row, (0, 9), (1, 3))
    graph = b.graph(b.sigmoid(b.reshape(last, 3)), b.sigmoid(row))
    whole = sections.with_sections(graph, ())
    assert len(whole.sections) == 2
    assert {sections.offsets(whole)[name] for name in (row, last)} == {12, 21}
    assert roots(whole)[last] == data


def test_results_parts_and_state_are_copied() -> None:
    b = Builder()
    data = b.sigmoid(b.input(1, 4, 6))
    first, second = (_slice(b, data, (0, k, 0), (1, 1, 6)) for k in (0, 1))
    joined = b.node("concatenate", ConcatenateAttrs(1), first, b.sigmoid(first))
    graph = b.graph(b.reshape(second, 6), b.sigmoid(joined), b.sigmoid(data))
    assert not _sections(graph)


def test_slices_of_inputs_that_come_in_rows_are_copied() -> None:
    b = Builder()
    graph = b.graph(b.sigmoid(_slice(b, b.input(1, 4, 6), (0, 1, 0), (1, 1, 6))))
    assert len(_sections(graph)) == 1
    assert not sections.with_sections(graph, ()).sections


def test_large_data_do_not_live_longer_for_a_small_slice() -> None:
    b = Builder()
    data = b.sigmoid(b.input(1, 100, 8))
    cut = _slice(b, data, (0, 1, 0), (1, 1, 8))
    wide = b.pad(cut, ((0, 0), (0, 124), (0, 0)), 0)
    total = b.add(wide, b.reshape(b.sigmoid(cut), 1, 1, 8))
    assert not _sections(b.graph(total))


def _recurrent() -> bytes:
    """Three steps of gates that are slices of one row, on slices of the input."""
    scale = {"scale": (1 / 128,), "zero_point": (0,)}
    rng = np.random.default_rng(2)
    tensors = [
        TensorSpec("x", (1, 3, 8), **scale),  # type: ignore[arg-type]
        TensorSpec("w", (12, 8), data=rng.integers(-90, 90, (12, 8), np.int8), **scale),  # type: ignore[arg-type]
    ]
    operators: list[OperatorSpec] = []

    def made(code: str, inputs: tuple[str, ...], shape: tuple[int, ...], table: str = "") -> str:
        name = f"t{len(tensors)}"
        tensors.append(TensorSpec(name, shape, **scale))  # type: ignore[arg-type]
        operators.append(OperatorSpec(code, inputs, [name], table))
        return name

    def part(data: str, begin: tuple[int, ...], shape: tuple[int, ...]) -> str:
        names = []
        for values in (begin, shape):
            names.append(f"c{len(tensors)}")
            array = np.array(values, np.int32)
            tensors.append(TensorSpec(names[-1], array.shape, "int32", array))
        return made("SLICE", (data, *names), shape)

    state = ""
    for step in range(3):
        row = part("x", (0, step, 0), (1, 1, 8))
        gates = made("FULLY_CONNECTED", (row, "w"), (1, 12), "FullyConnectedOptions")
        a, b, c = (part(gates, (0, 4 * k), (1, 4)) for k in range(3))
        new = made("ADD", (made("MUL", (a, b), (1, 4), "MulOptions"), c), (1, 4), "AddOptions")
        state = made("ADD", (state, new), (1, 4), "AddOptions") if state else new
    return build_model(tensors, operators, ["x"], [state])


def test_slices_of_gates_and_of_the_input_are_no_calls(tmp_path: Path) -> None:
    path = tmp_path / "gates.tflite"
    path.write_bytes(_recurrent())
    assert len(frontends.load(path).nodes) == 26
    made = planning.planned(path, boards.load("native"), Options())
    assert len(made.program.calls) == 11
    assert not any("slice" in f.name for f in made.program.functions)


@NEEDS_NINJA
def test_firmware_with_sections_computes_what_the_file_says(tmp_path: Path) -> None:
    (tmp_path / "gates.tflite").write_bytes(_recurrent())
    api.generate(tmp_path / "gates.tflite", "native", tmp_path / "p")
    ran = api.run(tmp_path / "p", compare=True, sanitize=True)
    assert [v.equal_samples == v.samples for v in ran.verdicts] == [True, True]


@pytest.mark.parametrize("options", [Options(executor="graph"), Options(planner="on-demand")])
def test_a_buffer_for_each_tensor_has_no_sections(options: Options, tmp_path: Path) -> None:
    path = tmp_path / "gates.tflite"
    path.write_bytes(_recurrent())
    made = planning.planned(path, boards.load("native"), options)
    assert len(made.program.calls) == 23
