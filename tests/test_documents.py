"""The files and the pages that documents name."""

from __future__ import annotations

import argparse
import functools
import importlib
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from microgen.interface.commands import COMMANDS
from tests.test_architecture import MAY_IMPORT, ROOMS

ROOT = Path(__file__).resolve().parent.parent
INDEX = ROOT / "docs" / "index.md"
# Generated projects and components have READMEs of their own form: templates are not pages.
PAGES = [
    *ROOT.glob("*.md"),
    *(page for top in ("docs", "crt", "examples") for page in sorted((ROOT / top).rglob("*.md"))),
]


@pytest.mark.parametrize("document", ["CONTRIBUTING.md", "docs/explanation/architecture.md"])
def test_every_file_that_a_document_names_is_there(document: str) -> None:
    """CONTRIBUTING shows how to add an op on a real one, so its files must exist."""
    text = (ROOT / document).read_text(encoding="utf-8")
    named = re.findall(r"`((?:boards|crt|examples|scripts)/[\w./-]+)`", text)
    modules = re.findall(r"`(\w+/[\w/]+\.py)`", text)  # inside microgen/, as they are imported
    missing = [path for path in named if not (ROOT / path).exists()]
    tops = (ROOT, ROOT / "microgen")
    missing += [module for module in modules if not any((top / module).exists() for top in tops)]
    assert not missing


def test_every_file_of_the_tree_that_a_page_names_is_there() -> None:
    """In folders that only this tree has: a user's project has a folder boards, too."""
    folders = "microgen|tests|docs|templates|crt/include|crt/src"
    named = {
        (str(page.relative_to(ROOT)), path)
        for page in PAGES
        if page.name != "CHANGELOG.md"  # it names files of its time
        for path in re.findall(rf"`((?:{folders})/[\w./-]+)`", page.read_text(encoding="utf-8"))
    }
    assert len(named) > 100
    assert not [(page, path) for page, path in named if not (ROOT / path).exists()]


def test_the_table_of_rooms_is_the_tree() -> None:
    """It has the rooms in their order, names every folder of a room that has rules of its own, and
    nothing that is not there."""
    page = (ROOT / "docs" / "explanation" / "architecture.md").read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| `(\w+)` \| (.*) \|$",
        page.split("\n## The rooms\n")[1].split("\n## ")[0],
        re.MULTILINE,
    )
    assert [room for room, _ in rows] == [*ROOMS]
    parts = [part.split(".") for part in MAY_IMPORT if "." in part]
    for room, text in rows:
        named = {name.removesuffix("/") for name in re.findall(r"`([\w/]+/|[\w/]+\.py)`", text)}
        folder = ROOT / "microgen" / room
        assert all([*folder.rglob(name)] or (ROOT / name).exists() for name in named)
        own = {part for top, *rest in parts for part in rest if top == room}
        assert own - {name.removesuffix(".py") for name in named} == set(), room


@functools.cache
def _prose(page: Path) -> str:
    """A page without its blocks of code, in which brackets are code and ``#`` begins comments."""
    text = page.read_text(encoding="utf-8")
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


@functools.cache
def _anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as code-hosting sites and ``make docs`` derive them.

    Both number headings that are repeated, but differently, so only the first can be linked."""
    headings = re.findall(r"^#+ (.*)$", _prose(page), re.MULTILINE)
    plain = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower() for heading in headings]
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in plain}


def _links(page: Path) -> Iterator[tuple[str, Path, str]]:
    """A page's links inside the tree: as written, the file, and the anchor or ""."""
    for link in re.findall(r"\]\(([^()\s]+)\)", _prose(page)):
        if not re.match(r"[a-z]+:", link):
            path, _, anchor = link.partition("#")
            yield link, (page.parent / path).resolve() if path else page, anchor


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    broken = [
        link
        for link, file, anchor in _links(page)
        if not (file.exists() and file.is_relative_to(ROOT))
        or (anchor and anchor not in _anchors(file))
    ]
    assert not broken


def test_the_index_leads_to_every_page() -> None:
    linked = {file for _, file, _ in _links(INDEX)}
    pages = {page for page in (ROOT / "docs").rglob("*.md") if page.parent.name != "benchmarks"}
    assert pages - linked == {INDEX}


def test_links_and_anchors_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# What `--ram` asks for\n```\n# a comment\n```\n## [Cores, all](x.md)\n")
    assert _anchors(page) == {"what---ram-asks-for", "cores-all"}
    links = tmp_path / "links.md"
    links.write_text("[a](page.md#cores) [b](https://example.org/x) [c](#links)\n")
    assert [*_links(links)] == [("page.md#cores", page, "cores"), ("#links", links, "links")]


_COMMAND = re.compile(
    r"""(?:^|^\$\ |&&\ |;\ ) microgen\ (\w.*?) (?=$|\ &&|;|\ +\#|\ \||[ 0-9]>)""",
    re.MULTILINE | re.VERBOSE,
)


def _typed(page: Path) -> Iterator[list[str]]:
    """The words of each ``microgen`` command in the page's blocks of code."""
    text = page.read_text(encoding="utf-8")
    for block in re.findall(r"^```\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        lines = block.replace("\\\n", " ")
        for command in _COMMAND.findall(lines):
            words = shlex.split(command)
            if words[0] in COMMANDS:  # else it is a sentence
                yield words


def test_commands_in_documents_have_options_that_there_are() -> None:
    commands = [(page, words) for page in PAGES for words in _typed(page)]
    assert len(commands) > 60
    for _page, (command, *words) in commands:
        parser = argparse.ArgumentParser(prog=command, allow_abbrev=False)
        importlib.import_module(f"microgen.interface.commands.{command}").configure(parser)
        for common in ("--json", "-v", "-q"):
            parser.add_argument(common, action="store_true")
        parser.parse_args(words)
