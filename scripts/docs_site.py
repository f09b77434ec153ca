"""A site of the documents, in build/site: `make docs`.

The same Markdown files are read on code-hosting pages and in a terminal. So they are not changed:
they are copied to their places in build/site-source, with everything that they link, and links
remain relative. The navigation has the order of docs/index.md. A broken link ends the build.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "build" / "site-source"
INDEX = "docs/index.md"
DOORS = ("Start", "Guides", "Reference", "Explanation")
# The theme breaks names in narrow columns, such as `entry_point`, anywhere.
STYLE = ".md-typeset td:first-child code { white-space: nowrap; }\n"
Navigation = list[dict[str, str | list[str]]]


def pages() -> list[str]:
    """The documents, as paths in the checkout."""
    found = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "crt").glob("*.md")]
    found += (ROOT / "examples").glob("*/README.md")
    return sorted(page.relative_to(ROOT).as_posix() for page in found)


def linked(page: str) -> set[str]:
    """The files that a page links or shows, as paths in the checkout."""
    text = (ROOT / page).read_text(encoding="utf-8")
    # No colon, so no link to another site; without the anchor.
    targets = re.findall(r"\]\(([^()#\s:]+)(?:#[^()\s]*)?\)", text)
    files = {(ROOT / page).parent / target for target in targets}
    return {f.resolve().relative_to(ROOT).as_posix() for f in files if f.is_file()}


def navigation() -> Navigation:
    """The pages of each door, in the order in which the index lists them."""
    sections = re.split(r"^## ", (ROOT / INDEX).read_text(encoding="utf-8"), flags=re.MULTILINE)
    texts = {section.splitlines()[0]: section for section in sections}
    tabs: Navigation = [{"microgen": "README.md"}, {"Documents": INDEX}]
    for door in DOORS:
        listed = dict.fromkeys(re.findall(r"\]\(([\w/-]+\.md)\)", texts[door]))
        tabs.append({door: [f"docs/{page}" for page in listed]})
    return [*tabs, {"Contributing": "CONTRIBUTING.md"}, {"Changelog": "CHANGELOG.md"}]


def collect() -> None:
    """Copy the pages and everything that they link to build/site-source."""
    shutil.rmtree(SOURCE, ignore_errors=True)
    for file in {*pages(), *(other for page in pages() for other in linked(page))}:
        place = SOURCE / file
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / file, place)
    (SOURCE / "site.css").write_text(STYLE, encoding="utf-8")


def build() -> None:
    """Write build/site. Raises mkdocs.exceptions.Abort if a page or a link is wrong."""
    from mkdocs.commands import build as mkdocs
    from mkdocs.config import load_config

    os.environ.setdefault("SOURCE_DATE_EPOCH", "0")  # equal documents give equal sites
    collect()
    config = load_config(str(ROOT / "scripts" / "mkdocs.yml"), nav=navigation())
    mkdocs.build(config)


if __name__ == "__main__":
    logging.basicConfig(format="%(message)s")
    build()
