"""`make docs` has all documents. Links are checked in tests/test_documents.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts import docs_site


def test_the_navigation_has_every_page_of_every_door() -> None:
    tabs = {name: pages for tab in docs_site.navigation() for name, pages in tab.items()}
    for door in docs_site.DOORS:
        pages = docs_site.ROOT.glob(f"docs/{door.lower()}/*.md")
        assert {str(page.relative_to(docs_site.ROOT)) for page in pages} <= {*tabs[door]}
    listed = [
        page for pages in tabs.values() for page in ([pages] if isinstance(pages, str) else pages)
    ]
    assert {*listed} <= {*docs_site.pages()}
    assert len(listed) == len({*listed})


def test_a_page_brings_the_files_that_it_links() -> None:
    assert {"docs/schemas/run.json", "docs/guides/zoo.md"} <= docs_site.linked(
        "docs/reference/json.md"
    ) | docs_site.linked("docs/index.md")
    assert "docs/benchmarks/kws.svg" in docs_site.linked("docs/benchmarks/kws.md")


def test_pages_keep_their_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docs_site, "SOURCE", tmp_path / "source")
    docs_site.collect()
    for page in docs_site.pages():
        assert (tmp_path / "source" / page).read_bytes() == (docs_site.ROOT / page).read_bytes()
