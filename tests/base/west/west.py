"""Starts west as a user does."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.tools import needs

WITHOUT_WEST = importlib.util.find_spec("west") is None
# `west init` ends without git, though it does not use it here.
NEEDS_WEST = [
    pytest.mark.skipif(WITHOUT_WEST, reason="west missing: pip install 'microgen[west]'"),
    needs("git"),
]
PROGRAM = (str(Path(sys.executable).with_name("west")),)


def west(
    folder: Path,
    *arguments: str,
    program: tuple[str, ...] = PROGRAM,
    environment: Mapping[str, str] = {},
) -> subprocess.CompletedProcess[str]:
    """Run west in a folder that no Zephyr workspace is to be found from."""
    inherited = {k: v for k, v in os.environ.items() if k != "ZEPHYR_BASE"}
    return subprocess.run(
        [*program, *arguments],
        cwd=folder,
        env={**inherited, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )


def done(folder: Path, *arguments: str) -> str:
    """What a command prints on stdout, which succeeds."""
    finished = west(folder, *arguments)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return finished.stdout


def without_microgen(
    folder: Path, *arguments: str, path: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run west where microgen is neither installed nor in PATH, which is ``path`` if given."""
    spec = importlib.util.find_spec("west")
    assert spec is not None
    assert spec.origin is not None
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    lacking = [name for name in folders if not Path(name, "microgen").exists()]
    return west(
        folder,
        *arguments,
        # Without site, Python does not read the file that adds the checkout to its search path.
        program=(sys.executable, "-S", *PROGRAM),
        environment={
            "PYTHONPATH": str(Path(spec.origin).parents[1]),
            "PATH": path or os.pathsep.join(lacking),
        },
    )
