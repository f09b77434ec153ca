"""Text in a number of columns: no word is cut, and nothing wraps if there is no width."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from microgen.base.output.text_layout import Column, Listing, Table, lines, shortened

WORDS = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=12)
CELLS = st.lists(WORDS, max_size=6).map(" ".join)


def _table(rows: list[tuple[str, ...]], **of_last: bool) -> Table:
    names = [Column("name"), Column("what it is", **of_last)]
    table = Table(names)
    for row in rows:
        table.add(*row)
    return table


def test_a_table_without_a_width_is_one_line_a_row() -> None:
    table = _table([("a", "word " * 50), ("b", "two")])
    assert len(list(table.lines(None))) == 3


def test_numbers_stand_to_the_right() -> None:
    table = _table([("a", "1,000"), ("b", "7")], right=True)
    assert list(table.lines(80)) == ["name  what it is", "a          1,000", "b              7"]


def test_cells_wrap_between_words() -> None:
    table = _table([("a", "one two three four five")])
    assert list(table.lines(20)) == [
        "name  what it is",
        "a     one two three",
        "      four five",
    ]


def test_names_are_shortened_in_the_middle_where_room_is_scarce() -> None:
    table = _table([("a", "model/block_1/depthwise/Relu6")], shorten=True)
    assert list(table.lines(40))[1] == "a     model/block_1/depthwise/Relu6"
    assert list(table.lines(30))[1] == "a     model/bloc...wise/Relu6"


def test_names_in_wide_characters_are_measured_in_columns() -> None:
    table = _table([("a", "\u5c42" * 40)], shorten=True)
    assert all(cell_len(line) <= 30 for line in table.lines(30))


@pytest.mark.parametrize("width", range(1, 30))
def test_no_terminal_is_too_narrow(width: int) -> None:
    table = _table([("first", "x" * 18), ("second", "y z")])
    assert list(lines([table, "some text", Listing("  code(" + "a" * 40)], width))


def test_optional_columns_go_first() -> None:
    table = _table([("a", "x" * 30)], optional=True)
    assert list(table.lines(20)) == ["name", "a"]
    assert next(iter(table.lines(40))) == "name  what it is"


def test_where_no_column_fits_rows_become_blocks() -> None:
    table = _table([("first", "x" * 18), ("second", "y z")])
    assert list(table.lines(20)) == [
        "name first",
        "  what it is:",
        "      " + shortened("x" * 18, 14),
        "name second",
        "  what it is: y z",
    ]


@given(st.lists(st.tuples(CELLS, CELLS), max_size=5), st.integers(30, 90))
def test_no_line_is_too_wide_and_no_word_is_cut(rows: list[tuple[str, str]], width: int) -> None:
    table = _table([(" ".join(a.split()), " ".join(b.split())) for a, b in rows])
    shown = list(table.lines(width))
    assert all(len(line) <= width for line in shown)
    words = {word for row in rows for cell in row for word in cell.split()}
    assert words <= set(" ".join(shown).split())


def test_a_text_wraps_with_its_indent() -> None:
    assert list(lines(["  one two three four"], 14)) == ["  one two", "      three", "      four"]
    assert list(lines(["  one two three four"], None)) == ["  one two three four"]


def test_a_word_wider_than_the_terminal_stays_whole_for_copying() -> None:
    path = "/" + "a" * 100
    assert list(lines([f"wrote {path}"], 80)) == ["wrote", f"    {path}"]


def test_words_of_a_listing_are_shortened() -> None:
    assert all(len(line) <= 80 for line in lines([Listing("call(" + "a" * 100 + ")")], 80))


@pytest.mark.parametrize(
    "hostile", ["\x1b[31m", "\x9b2J", "\u202e", "\u2066", "\u200f", "\r", "\x07"]
)
def test_nothing_that_a_terminal_obeys_comes_out(hostile: str) -> None:
    table = _table([(hostile, f"a{hostile}\nb")])
    table.title = hostile
    shown = "".join(lines([f"x{hostile}\ny", Listing(f"p{hostile}"), table], 80))
    assert shown.isprintable()


@pytest.mark.parametrize("width", [None, 80])
@pytest.mark.parametrize("text", ["x" * 100_000, "x " * 50_000], ids=["a word", "words"])
def test_what_is_too_long_to_be_read_is_cut(text: str, width: int | None) -> None:
    printed = "\n".join(lines([text, _table([("a", text)])], width))
    assert "..." in printed
    assert len(printed) < 20_000
