"""A real measurement of the shipped example, and the multiply-accumulates of layers."""

from __future__ import annotations

import functools
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

import microgen
from microgen import pipeline
from microgen.graph.ir.graph import ArrayType, DType, Graph, Node, Origin
from microgen.running import timing
from microgen.target.cpu import CPUS
from scripts.bench import __main__ as bench
from scripts.bench import macs, matrix, measure, pool, results
from scripts.bench.results import Figures, Result
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA

MATRIX = matrix.load()
DIGITS = MATRIX.networks["digits"]
BOARD = "mps2_an386"
MACS = [9_216, 9_216, 16_384, 0, 0, 2_560, 0]  # conv 3x3, depthwise 3x3, 1x1, add, pool, dense


def job_of(board: str, *optimize: str) -> measure.Job:
    return measure.Job("digits", board, optimize, DIGITS, MATRIX.boards[board])


@NEEDS_NINJA
@NEEDS_ARM
def test_digits_are_measured_written_rendered_and_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    goals = ("balanced", "ram")
    block = matrix.Block(("digits",), (BOARD,), goals)
    monkeypatch.setattr(matrix, "load", lambda: replace(MATRIX, measured=(block,)))
    # What is measured is the same each time. `make bench-check` measures again.
    monkeypatch.setattr(pool, "_outcome", functools.cache(pool._outcome))
    asked = ["--network", "digits", "--board", BOARD, "--processes", "1", "--docs", str(tmp_path)]
    assert bench.main(["measure", *asked]) == 0
    found = results.load(tmp_path / results.NAME)
    assert tuple(r.optimize for r in found.results) == goals
    for result in found.results:
        _check_result(found, result)
    assert (tmp_path / "benchmarks.md").is_file()
    assert (tmp_path / "benchmarks" / "digits.svg").is_file()
    once = [*asked, "--optimize", "balanced"]
    assert bench.main(["check", *once]) == 0, capsys.readouterr().out
    text = (tmp_path / results.NAME).read_text()
    figures = found.results[0].figures
    assert figures is not None
    worse = text.replace(f'"code": {figures.code}', f'"code": {figures.code - 100}')
    (tmp_path / results.NAME).write_text(worse)
    assert bench.main(["check", *once]) == 1


@pytest.mark.parametrize("board", ["nucleo_f446re", "stm32l4r5"])
def test_a_device_is_measured_with_its_own_flash(board: str) -> None:
    cpu, usual = CPUS["cortex-m4f"], timing.of_cpu(CPUS["cortex-m4f"])
    assert usual is not None
    with measure.surroundings(job_of(board, "speed")) as folder:
        found = pipeline.load_board(board)
        hardware = MATRIX.boards[board]
        assert (found.clock_hz, found.flash_wait_states) == (
            hardware.clock_hz,
            hardware.flash_wait_states,
        )
        core = timing.of_cpu(cpu)
        assert core is not None
        assert core.flash == (hardware.flash or usual.flash)
        assert core.rows == usual.rows
    assert (core.flash == usual.flash) == (board == "stm32l4r5")
    assert timing.of_cpu(cpu) == usual
    assert not folder.exists()


def _check_result(found: results.Results, result: Result) -> None:
    figures, layers = result.figures, found.layers(result)
    assert figures is not None
    assert sum(layer.macs for layer in layers) == found.networks["digits"].macs == sum(MACS)
    assert 0 < figures.instructions - sum(layer.instructions for layer in layers) < 1000
    assert figures.cycles > sum(layer.cycles for layer in layers) > 0
    assert figures.ram > figures.arena_io >= result.arena_bound > 0
    assert figures.stack >= result.stack_used > 0
    assert figures.weights > 3000
    assert result.generate_s > 0
    assert result.build_s > 0


@NEEDS_NINJA
@NEEDS_ARM
def test_options_of_equal_files_are_measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    measured = []

    def stand_in(blank: Result, compiled: object, project: Path) -> Result:
        measured.append(blank.optimize)
        return replace(blank, figures=Figures(*range(7)), build_s=1.0)

    monkeypatch.setattr(measure, "_measured", stand_in)
    monkeypatch.setattr(measure, "_files", lambda _compiled: "same")
    done = measure.job(job_of(BOARD, "speed", "ram"))
    assert measured == ["speed"]
    assert [r.same_as for r in done.results] == ["", "speed"]
    assert {r.figures for r in done.results} == {Figures(*range(7))}


def test_the_note_of_the_options_does_not_make_files_different() -> None:
    made = [
        microgen.compile_model(DIGITS.path, BOARD, optimize=optimize)
        for optimize in ("speed", "speed", "flash")
    ]
    noted = replace(
        made[1].manifest,
        files={**made[1].manifest.files, "model/codegen/host/src/default_note.h": "0"},
    )
    changed = replace(made[1].manifest, files={**made[1].manifest.files, "src/main.c": "0"})
    digest = measure._files(made[0])
    assert digest == measure._files(replace(made[1], manifest=noted))
    assert digest != measure._files(replace(made[1], manifest=changed))


def test_what_does_not_fit_is_a_result(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_arguments: object, **_options: object) -> None:
        raise microgen.base.errors.CapacityError("needs at least 2 bytes of RAM")

    monkeypatch.setattr(measure.api, "generate", refuse)
    (result,) = measure.job(job_of("microbit", "speed")).results
    assert (result.refused, result.figures) == ("needs at least 2 bytes of RAM", None)


def test_macs_of_calls_are_the_products_of_each_layer() -> None:
    compiled = microgen.compile_model(DIGITS.path, "native")
    assert macs.of_calls(compiled) == MACS


def _node(op: str, *inputs: tuple[int, ...], output: tuple[int, ...], **attrs: bool) -> int:
    names = tuple(f"i{k}" for k in range(len(inputs)))
    shapes = dict(zip((*names, "o"), (*inputs, output), strict=True))
    node = Node(op, names, ("o",), SimpleNamespace(**attrs), Origin("f", "l"))  # type: ignore[arg-type]
    types = {name: ArrayType(shape, DType.INT8) for name, shape in shapes.items()}
    return macs.of_node(node, Graph("g", names, ("o",), (node,), types, {}))


def test_macs_of_each_kind_of_operator() -> None:
    conv = {"output": (1, 4, 4, 8)}
    assert _node("nn.conv2d", (1, 8, 8, 6), (8, 3, 3, 6), **conv) == 4 * 4 * 8 * 3 * 3 * 6
    assert _node("nn.conv2d", (1, 8, 8, 6), (8, 3, 3, 2), **conv) == 4 * 4 * 8 * 3 * 3 * 2  # groups
    assert _node("nn.conv2d_hybrid", (1, 8, 8, 6), (8, 1, 1, 6), **conv) == 4 * 4 * 8 * 6
    assert _node("nn.depthwise_conv2d", (1, 8, 8, 4), (1, 3, 3, 8), **conv) == 4 * 4 * 8 * 3 * 3
    assert _node("nn.conv2d_transpose", (1, 2, 2, 6), (8, 3, 3, 6), **conv) == 2 * 2 * 6 * 3 * 3 * 8
    assert _node("nn.dense", (5, 16), (10, 16), (10,), output=(5, 10)) == 5 * 10 * 16
    product = {"output": (2, 3, 5)}
    plain = _node("nn.batch_matmul", (2, 3, 4), (2, 4, 5), transpose_a=False, **product)
    turned = _node("nn.batch_matmul", (2, 4, 3), (2, 4, 5), transpose_a=True, **product)
    assert plain == turned == 2 * 3 * 4 * 5
    assert _node("add", (1, 8), (1, 8), output=(1, 8)) == 0
