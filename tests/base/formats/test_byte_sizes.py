"""Sizes in bytes, in every place where a user can give one."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from microgen.base import resources
from microgen.base.errors import BoardError
from microgen.base.formats import byte_sizes
from microgen.interface.cli import main
from microgen.planner import pools
from microgen.target import board as boards
from tests.support.places import DIGITS


@pytest.mark.parametrize(
    ("text", "nbytes"),
    [
        ("0", 0),
        ("12288", 12288),
        ("12K", 12288),
        ("12k", 12288),
        ("64KiB", 65536),
        ("64KB", 65536),
        ("1M", 1 << 20),
        ("2MiB", 2 << 20),
        ("1G", 1 << 30),
        ("7B", 7),
    ],
)
def test_sizes(text: str, nbytes: int) -> None:
    assert byte_sizes.parse(text) == nbytes


@pytest.mark.parametrize(
    "text", ["", "K", "1.5K", "-1", "1 K", "1T", "1Ki", "0x10", "\u0661", "9" * 30]
)
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(ValueError, match="not a size: expected bytes, as 12288, 12K, 64KiB or 1M"):
        byte_sizes.parse(text)


def test_a_pool_takes_them() -> None:
    (pool,) = pools.parse(["fast:64KiB:align=32B"], 16)
    assert (pool.capacity, pool.alignment) == (65536, 32)


def test_a_board_takes_them() -> None:
    path = resources.folder("boards") / "microbit" / "board.yml"
    data = yaml.safe_load(path.read_text())
    data["memories"][0]["length"], data["stack_bytes"] = "256K", "2KiB"
    board = boards.from_dict("mine", data, path)
    assert (board.memories[0].length, board.stack_bytes) == (262144, 2048)
    data["stack_bytes"] = "lots"
    with pytest.raises(BoardError, match="'lots' is not a size"):
        boards.from_dict("mine", data, path)


def test_options_take_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = ["-o", str(tmp_path / "p")]
    command = ["generate", str(DIGITS), "-b", "native", *out, "--alignment", "16B"]
    assert main([*command, "--ram", "1K"]) == 2
    assert "the --ram budget is 1,024" in capsys.readouterr().err
    assert main([*command, "--ram", "12q"]) == 2
    assert "'12q' is not a size" in capsys.readouterr().err
