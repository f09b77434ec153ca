"""``microgen help``: the help of a command, or a page of the documents."""

from __future__ import annotations

import argparse

from microgen.base import resources
from microgen.base.errors import UsageError, likely
from microgen.base.output.console import Console, Outcome
from microgen.base.output.text_layout import Listing
from microgen.interface.commands import COMMANDS

HELP = "Show the help of a command, or a page of the documents."


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    topic = "a command, or the name of a page, such as docs/numerics.md or numerics"
    parser.add_argument("topic", metavar="COMMAND|TOPIC", help=topic)
    parser.epilog = f"pages: {', '.join(resources.pages())}"


def execute(args: argparse.Namespace, _console: Console) -> Outcome:
    """Print a page. The command line itself prints the help of commands."""
    pages = resources.pages()
    name = str(args.topic).removeprefix("docs/").removesuffix(".md")
    if name not in pages:
        raise UsageError(
            f"there is no command and no page {args.topic!r}",
            where="help",
            hint=f"{likely(name, [*COMMANDS, *pages])}pages: {', '.join(pages)}",
        )
    text = resources.page(name)
    return Outcome({"page": f"docs/{name}.md", "text": text}, [Listing(text.rstrip())])
