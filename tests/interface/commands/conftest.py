"""What the tests of several commands share: ways to run a command, and one built project."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

import microgen
from microgen.interface.cli import main
from tests.support.places import SMALL

ROOT = Path(__file__).resolve().parents[3]
SEED = ROOT / "examples" / "seed_demo.relay"
BUDGETS = frozenset({"ram_budget", "flash_budget"})
# The checks that do not apply to the small network's firmware; nor do budgets that nobody gives.
NOT_APPLICABLE = frozenset(
    {
        *("boot_block", "device_hooks", "external_functions", "graph", "module_blob"),
        *("module_loaders", "proofs", "registry", "reproduce", "shared_workspace"),
    }
)


class Terminal(io.StringIO):
    """A stream that looks like a terminal. $COLUMNS is its width."""

    def isatty(self) -> bool:
        return True


@dataclass(frozen=True)
class Ran:
    """A command's exit code and outputs."""

    code: int
    out: str
    err: str


Run = Callable[..., Ran]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """A function that runs a command, with both outputs in pipes or at a terminal of
    ``columns``."""

    def run(command: Sequence[str | Path], columns: int = 0) -> Ran:
        streams = (Terminal(), Terminal()) if columns else (io.StringIO(), io.StringIO())
        with monkeypatch.context() as patched:
            patched.setenv("COLUMNS", str(columns or 80))
            patched.setenv("TERM", "dumb")  # no spinner
            patched.setattr(sys, "stdout", streams[0])
            patched.setattr(sys, "stderr", streams[1])
            code = main([str(word) for word in command])
        return Ran(code, streams[0].getvalue(), streams[1].getvalue())

    return run


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small network for a Cortex-M4, built."""
    made = tmp_path_factory.mktemp("commands") / "p"
    microgen.generate(SMALL, "mps2_an386", made)
    microgen.build(made)
    return made
