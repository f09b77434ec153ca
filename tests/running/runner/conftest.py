"""Projects of stand-in firmware (see ``standin.py``), each built once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.running.runner import standin


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """A function ``project(board, fault="")`` that returns the folder of a built stand-in."""
    folder = tmp_path_factory.mktemp("standin")
    made: dict[str, Path] = {}

    def get(board: str, fault: str = "") -> Path:
        name = f"{board}-{fault}"
        if name not in made:
            made[name] = standin.make(folder / name, board, fault)
        return made[name]

    return get
