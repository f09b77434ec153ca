"""Writes the table of checks into the document about ``verify``: ``python -m scripts.check_table``.

The table is ``microgen/verifier/table.py`` with the docstrings of its functions.
"""

from __future__ import annotations

from pathlib import Path

from microgen.verifier.table import CHECKS, CheckRow, not_in_model
from scripts import sections

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "reference" / "verify.md"
_HEAD = "| check | of | in the scope `model` | reads | what holds |\n|---|---|---|---|---|\n"


def markdown() -> str:
    """The table, with a line for each check in the order of reports."""
    return _HEAD + "".join(map(_line, CHECKS.values()))


def _line(row: CheckRow) -> str:
    in_model = "`n/a`" if row.in_model is not_in_model else "applies"
    return f"| `{row.name}` | {row.extent} | {in_model} | {row.reads} | {row.holds} |\n"


if __name__ == "__main__":
    sections.write(DOCUMENT, "checks", markdown())
