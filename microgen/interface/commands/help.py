"""``microgen help``: the help of a command, or a page of the documents."""

from __future__ import annotations

import argparse

from microgen.base import resources
from microgen.base.errors import UsageError, likely
from microgen.base.output.console import Console, Outcome
from microgen.base.output.text_layout import Listing
from microgen.interface.commands import COMMANDS


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    topic = "a command, or the name of a page, such as docs/reference/numerics.md or numerics"
    parser.add_argument("topic", metavar="COMMAND|TOPIC", help=topic)
    parser.epilog = f"pages: {', '.join(resources.pages())}"


def execute(args: argparse.Namespace, _console: Console) -> Outcome:
    """Print a page. The command line itself prints the help of commands."""
    pages = resources.pages()
    name = _name(str(args.topic), pages)
    if name not in pages:
        raise UsageError(
            f"there is no command and no page {args.topic!r}",
            where="help",
            hint=f"{likely(name, [*COMMANDS, *pages])}pages: {', '.join(pages)}",
        )
    text = resources.page(name)
    return Outcome({"page": pages[name], "text": text}, [Listing(text.rstrip())])


def _name(topic: str, pages: dict[str, str]) -> str:
    """The name of the page that a topic means: "boards", "reference/boards.md", its whole path, or
    "docs/boards.md", which messages of earlier versions name."""
    path = topic.removeprefix("docs/").removesuffix(".md")
    name = path.rpartition("/")[2]
    return name if pages.get(name) == f"docs/{path}.md" else path
