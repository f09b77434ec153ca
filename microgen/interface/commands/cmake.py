"""``microgen cmake``: where ``find_package(microgen)`` finds its functions."""

from __future__ import annotations

import argparse

from microgen.base import resources
from microgen.base.output.console import Console, Outcome


def configure(_parser: argparse.ArgumentParser) -> None:
    """There are no arguments."""


def execute(_args: argparse.Namespace, _console: Console) -> Outcome:
    """Print the folder."""
    folder = str(resources.folder("templates") / "cmake")
    return Outcome({"folder": folder}, [folder])
