"""The files that documents name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize("document", ["CONTRIBUTING.md", "docs/explanation/architecture.md"])
def test_every_file_that_a_document_names_is_there(document: str) -> None:
    """CONTRIBUTING shows how to add an op on a real one, so its files must exist."""
    text = (ROOT / document).read_text(encoding="utf-8")
    folders = "microgen|crt|tests|boards|templates|examples|docs|scripts"
    named = re.findall(rf"`((?:{folders})/[\w./-]+)`", text)
    modules = re.findall(r"`(\w+/[\w/]+\.py)`", text)  # inside microgen/, as they are imported
    assert named
    missing = [path for path in named if not (ROOT / path).exists()]
    tops = (ROOT, ROOT / "microgen")
    missing += [module for module in modules if not any((top / module).exists() for top in tops)]
    assert not missing
