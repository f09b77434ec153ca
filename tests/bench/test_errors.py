"""The error of modelled cycles: its file, its table, and what documents say about it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from scripts import sections
from scripts.bench import errors, matrix, peers, render, results

MATRIX, PEERS = matrix.load(), peers.load()
COMMITTED = errors.load(PEERS, MATRIX)
TIMING = render.DOCS / "explanation" / "timing.md"


def test_the_document_has_the_table_of_the_committed_rows() -> None:
    assert sections.text(TIMING, "error") == f"{COMMITTED.table()}\n"


def test_the_table_has_the_error_of_each_published_record() -> None:
    published = {
        (network, board): cycles
        for name in errors.REBUILT
        for network, boards in PEERS.peers[name].figures["cycles"].items()
        for board, cycles in boards.items()
        if board in MATRIX.boards
    }
    assert len(COMMITTED.rows) == len(published)
    for row, error in zip(COMMITTED.rows, COMMITTED.each, strict=True):
        assert error == pytest.approx(row.cycles / published[row.network, row.board] - 1)


def test_the_page_states_the_range_of_the_errors() -> None:
    page = render.files(results.load(), MATRIX)["benchmarks.md"]
    low, high = (f"{abs(100 * e):.1f} %" for e in (min(COMMITTED.each), max(COMMITTED.each)))
    assert page.count(f"between {low} below and {high} above") == 2
    assert COMMITTED.cores == "Cortex-M4, M33 and M7"


def test_rows_of_other_records_are_refused(tmp_path: Path) -> None:
    data = json.loads(errors.FILE.read_text(encoding="utf-8"))
    (tmp_path / "e.json").write_text(json.dumps(data[1:]))
    with pytest.raises(ValueError, match=r"run scripts\.cycle_error"):
        errors.load(PEERS, MATRIX, tmp_path / "e.json")


def test_what_the_document_says_about_cortex_m55_follows_from_its_table() -> None:
    text = TIMING.read_text(encoding="utf-8")
    rows = [
        [cell.strip() for cell in line.strip("| ").split(" | ")]
        for line in sections.text(TIMING, "m55").splitlines()[2:]
    ]
    said = {"ADD": r"which is (\d+) % more", "kws": r"kws's\s+size gives (\d+) % more"}
    for operator, sentence in said.items():
        ((_, _, modelled, _, measured),) = [row for row in rows if row[0] == operator]
        ours, theirs = (int(number.replace(",", "")) for number in (modelled, measured))
        assert re.findall(sentence, text) == [f"{100 * (ours / theirs - 1):.0f}"]
    assert "is not part of the error above" in text


@pytest.mark.parametrize("document", ["a", "<!-- x: made by y -->\n<!-- end of x -->\n" * 2])
def test_a_document_has_a_part_once(document: str, tmp_path: Path) -> None:
    (tmp_path / "d.md").write_text(document)
    with pytest.raises(ValueError, match="must have one"):
        sections.write(tmp_path / "d.md", "x", "new\n")


def test_a_part_is_replaced_and_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "d.md"
    file.write_text("before\n<!-- x: made by y -->\nold\n<!-- end of x -->\nafter\n")
    sections.write(file, "x", "new\n")
    assert file.read_text() == "before\n<!-- x: made by y -->\nnew\n<!-- end of x -->\nafter\n"
    assert sections.text(file, "x") == "new\n"
