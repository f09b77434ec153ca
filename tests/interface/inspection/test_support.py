"""docs/reference/supported-ops.md says what the code does."""

from __future__ import annotations

from pathlib import Path

from microgen.interface.inspection import support

DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "reference" / "supported-ops.md"


def test_the_document_is_up_to_date() -> None:
    advice = "run: microgen ops --markdown > docs/reference/supported-ops.md"
    assert DOCUMENT.read_text(encoding="utf-8") == support.markdown() + "\n", advice


def test_every_op_has_a_row_with_a_sentence() -> None:
    for row in support.rows():
        assert row.about
        assert row.how
        assert row.limits
