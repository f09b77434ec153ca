"""The measured tables: their form, their text, and their size."""

from __future__ import annotations

import pytest

from microgen.kernels import measured
from microgen.kernels.measured import MeasuredTable

NAMES = (measured.COSTS, measured.CODE_BYTES, measured.STACK_BYTES)


def _text(name: str) -> str:
    return (measured.FOLDER / f"{name}.json").read_text(encoding="ascii")


@pytest.mark.parametrize("name", NAMES)
def test_a_table_is_written_as_it_is_read(name: str) -> None:
    table = measured.load(name)
    assert measured.dumps(table) == _text(name)
    joined = MeasuredTable((), {}, table.absent)
    for column in reversed(table.columns):
        joined = joined.replaced(column, table.column(column))
    assert joined == table


def test_tables_are_small() -> None:
    assert {path.stem for path in measured.FOLDER.glob("*.json")} == set(NAMES)
    lines = [line for name in NAMES for line in _text(name).splitlines()]
    assert len(lines) <= 6020
    assert sum(map(len, lines)) <= 763_000
    assert max(map(len, lines)) <= 200


def test_a_column_has_what_was_measured() -> None:
    table = MeasuredTable(("m0 a", "m0 b"), {"k": {"x": {"y": [1, None]}, "n": [0, 2]}})
    assert table.column("m0 a") == {"k": {"x": {"y": 1}, "n": 0}}
    assert table.column("m0 b", "k") == {"n": 2}
    assert table.column("m0 b", "k", "x") == table.column("m0 b", "other") == {}
    assert table.column("m3 a") == {}
    assert table.cores == ("m0",)


def test_coefficients_of_zero_are_as_good_as_none() -> None:
    table = MeasuredTable(("m0",), {"k": {"x": [0], "y": [0.5]}}, 0)
    assert table.column("m0") == {"k": {"y": 0.5}}
    assert table.replaced("m0", table.column("m0")).rows == {"k": {"y": [0.5]}}


def test_a_new_column_takes_its_place_among_the_others() -> None:
    table = MeasuredTable(("m0", "m4"), {"k": {"x": [1, 2]}})
    found = table.replaced("m3", {"j": {"x": 5}, "k": {"z": 3}})
    assert found.columns == ("m0", "m3", "m4")
    assert found.rows == {
        "j": {"x": [None, 5, None]},
        "k": {"x": [1, None, 2], "z": [None, 3, None]},
    }
    assert found.replaced("m3", {}).rows == {"k": {"x": [1, None, 2]}}


def test_numbers_are_written_as_short_as_they_are() -> None:
    numbers = [45030.0, 0.05116, 6.834e-05, -3.0, None, 7]
    table = MeasuredTable(tuple("abcdef"), {"k": {"x": numbers}})
    text = measured.dumps(table)
    assert '"k":{"x":[45030,0.05116,6.834e-05,-3,null,7]}' in text
    assert measured.loads(text) == table


def test_lines_are_filled_and_no_longer_than_allowed() -> None:
    rows = {"k": {"x": {f"a{n:03}": [n] for n in range(100)}, "y": {"z": [1]}}, "l": {"m": [2]}}
    table = MeasuredTable(("c",), rows)
    text = measured.dumps(table)
    assert measured.loads(text) == table
    lines = text.splitlines()
    assert [line.partition(":")[0] for line in lines[1:4]] == ['"columns"', '"absent"', '"k"']
    assert lines[-3:] == [' "y":{"z":[1]}},', '"l":{"m":[2]}', "}"]
    assert all(185 < len(line) <= 200 for line in lines[3:-4])
