"""The layers whose modelled cycles docs/explanation/timing.md shows next to measured ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from microgen import frontends
from scripts import m55_layers, sections
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA

ROWS = {
    (cells[0], cells[1]): cells[2:]
    for line in sections.text(m55_layers.DOCUMENT, "m55").splitlines()[2:]
    if (cells := [cell.strip() for cell in line.strip("|").split("|")])
}
SHAPES = list(m55_layers.shapes())


def test_the_document_has_a_row_for_each_layer_with_the_published_cycles() -> None:
    layers = {(shape.code, shape.title) for shape in SHAPES}
    assert set(ROWS) - {("kws", "keyword spotting, DS-CNN")} == layers
    for (code, _), (theirs, ours, measured) in ROWS.items():
        assert measured == f"{m55_layers.PUBLISHED[code]:,}"
        assert bool(theirs) == (code not in m55_layers.PORTABLE)
        assert int(ours.replace(",", "")) > 0


def test_each_layer_has_the_published_input_and_its_output(tmp_path: Path) -> None:
    for number, shape in enumerate(SHAPES):
        path = tmp_path / f"{number}.tflite"
        path.write_bytes(m55_layers.model(shape))
        graph = frontends.load(path)
        assert {graph.types[name].shape for name in graph.inputs} == {m55_layers.INPUT}
        assert [graph.types[name].shape for name in graph.outputs] == [shape.output]


@pytest.mark.slow
@NEEDS_NINJA
@NEEDS_ARM
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: f"{shape.code}-{shape.title}")
def test_the_document_has_the_cycles_of_our_kernels(
    shape: m55_layers.Shape, tmp_path: Path
) -> None:
    (tmp_path / "layer.tflite").write_bytes(m55_layers.model(shape))
    shown = int(ROWS[shape.code, shape.title][1].replace(",", ""))
    assert m55_layers.cycles(tmp_path / "layer.tflite") == pytest.approx(shown, rel=0.05)
