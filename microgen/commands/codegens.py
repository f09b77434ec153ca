"""``microgen codegens``: the code generators there are."""

from __future__ import annotations

import argparse

from microgen import codegens
from microgen.console import Console, Outcome

HELP = "List the code generators."


def configure(_parser: argparse.ArgumentParser) -> None:
    """No arguments."""


def execute(_args: argparse.Namespace, _console: Console) -> Outcome:
    """A line per codegen: its name, and the first sentence of its documentation."""
    found = {
        name: (type(codegen).__doc__ or "").splitlines()[0]
        for name, codegen in codegens.registry().items()
    }
    lines = [f"{name}: {title}" for name, title in found.items()]
    return Outcome([{"name": n, "title": t} for n, t in found.items()], "\n".join(lines))
