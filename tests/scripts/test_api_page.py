"""docs/reference/api.md says what the docstrings say."""

from __future__ import annotations

import microgen
from scripts import api_page


def test_the_page_is_up_to_date() -> None:
    advice = "run: python -m scripts.api_page"
    assert api_page.PAGE.read_text(encoding="utf-8") == api_page.text(), advice


def test_every_public_name_has_a_section() -> None:
    sections = api_page.text().split("\n### ")
    named = {section.splitlines()[0] for section in sections}
    assert {f"microgen.{name}" for name in microgen.__all__ if name[0] != "_"} <= named
    bare = [
        section.splitlines()[0] for section in sections[1:] if len(section.split("```")[2]) < 20
    ]
    assert not bare, "they need docstrings"
