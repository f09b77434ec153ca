"""The page, the networks' pages and the pictures, made from the committed results."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from scripts.bench import matrix, peers, render, results
from scripts.bench.results import Results

MATRIX, COMMITTED = matrix.load(), results.load()
MADE = render.files(COMMITTED, MATRIX)
PICTURES = [name for name in MADE if name.endswith(".svg")]


@pytest.mark.parametrize("name", MADE)
def test_the_committed_file_is_what_the_committed_results_give(name: str) -> None:
    assert (render.DOCS / name).read_text(encoding="utf-8") == MADE[name], "run `make bench`"


def test_there_is_no_file_of_a_network_that_has_no_results() -> None:
    there = {f"{render.PAGES}/{p.name}" for p in (render.DOCS / render.PAGES).iterdir()}
    assert there == set(MADE) - {f"{render.PAGES}.md"}


def test_rendering_twice_gives_the_same_bytes() -> None:
    assert render.files(results.load(), matrix.load()) == MADE


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_are_xml_and_nothing_leaves_them(name: str) -> None:
    root = ElementTree.fromstring(MADE[name])
    width, height = (float(root.attrib[key]) for key in ("width", "height"))
    bars = [e.attrib for e in root.iter() if e.tag.endswith("rect") and "x" in e.attrib]
    assert len(bars) > 10
    for bar in bars:
        assert 0 <= float(bar["x"]) <= float(bar["x"]) + float(bar["width"]) <= width
        assert 0 <= float(bar["y"]) <= float(bar["y"]) + float(bar["height"]) <= height


def test_every_link_inside_the_page_leads_somewhere() -> None:
    page = MADE["benchmarks.md"]
    linked = re.findall(r"\]\(([\w./-]+)", page)
    assert linked
    assert [name for name in linked if not (render.DOCS / name).exists()] == []


def test_the_page_has_the_figures_and_ratios_of_the_results() -> None:
    shown = next(
        r
        for r in COMMITTED.results
        if (r.network, r.board, r.optimize) == ("kws", MATRIX.shown.board, MATRIX.shown.optimize)
    )
    assert shown.figures is not None
    page = MADE["benchmarks.md"]
    assert f"| {shown.figures.instructions / 1e6:.3f} |" in page
    assert f"7.698 ({shown.figures.instructions / 7_698_063:.2f})" in page
    assert f"| {shown.figures.code:,} |" in page


def test_no_results_give_a_page_without_networks() -> None:
    assert list(render.files(Results(), MATRIX)) == ["benchmarks.md"]


def test_tables_have_as_many_cells_in_every_row() -> None:
    for name, text in MADE.items():
        if name.endswith(".md"):
            for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
                assert len({row.count("|") for row in table.splitlines()}) == 1, name


def _part(title: str) -> str:
    return MADE["benchmarks.md"].partition(f"### {title}\n")[2].partition("\n##")[0]


def test_cycles_of_other_devices_and_of_whole_pipelines_have_no_ratio() -> None:
    published = _part("Cycles, published")
    assert "5.182 X-CUBE-AI 9.0 (" in published
    assert "16.686 Plumerai (" in published
    for title in ("Cycles, published, on other devices", "Cycles, published, of whole pipelines"):
        rows = [line for line in _part(title).splitlines() if line.startswith("|")]
        assert len(rows) > 4
        assert not re.search(r"\(\d\.\d\d\)", "".join(rows))
        assert "strww" not in "".join(rows)
    elsewhere = _part("Cycles, published, on other devices")
    for device in peers.load().devices.values():
        assert f"- {device.title}: {device.why}." in elsewhere
        assert f"| {device.title} |" in elsewhere
        assert device.title not in published
