"""Projects of the demo's model, each generated once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import microgen
from tests.project.exporting import firmware
from tests.support.places import SMALL


@pytest.fixture(scope="session")
def projects(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """A function that generates the project of a board."""
    made: dict[str, Path] = {}

    def project(board: str) -> Path:
        if board not in made:
            made[board] = tmp_path_factory.mktemp("exporting") / "p"
            microgen.generate(SMALL, board, made[board])
        return made[board]

    return project


@pytest.fixture(scope="session")
def expected() -> list[int]:
    """What numpy's reference computes."""
    return firmware.expected()
