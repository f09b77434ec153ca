"""board.yml: what is accepted, and the line and column of every mistake."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from microgen.base import resources
from microgen.base.errors import BoardError
from microgen.target import board as boards
from microgen.target import board_file, new_board
from microgen.target.cpu import CPUS

GOOD = """\
title: Mine (M4)
cpu: cortex-m4
memories:
  - {name: flash, origin: 0x08000000, length: 512K, access: rx}
  - {name: ram, origin: 0x20000000, length: 128K, access: rw}
"""


def written(folder: Path, text: str | bytes, name: str = "desk") -> Path:
    path = folder / name / "board.yml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def refusal(path: Path) -> str:
    with pytest.raises(BoardError) as error:
        board_file.read(path)
    assert "\n" not in str(error.value)
    return str(error.value).replace(str(path), "board.yml")


@pytest.mark.parametrize("name", boards.available())
def test_installed_boards_are_as_the_schema_says_and_equal_either_way(name: str) -> None:
    path = resources.folder("boards") / name / "board.yml"
    data = yaml.safe_load(path.read_text())
    jsonschema.validate(data, json.loads(resources.schema("board")))
    assert board_file.read(path) == boards.load(name)
    assert (path.read_text().startswith("# "), data["title"].isascii()) == (True, True)


def test_the_schema_lists_the_cores() -> None:
    schema = json.loads(resources.schema("board"))
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["properties"]["cpu"]["enum"] == list(CPUS), "run scripts/measure.py --missing"


def test_a_short_file_is_enough(tmp_path: Path) -> None:
    board = board_file.read(written(tmp_path, GOOD))
    assert (board.name, board.toolchain, board.startup) == ("desk", "arm-none-eabi-", "cortex_m")
    assert (board.flash, board.constants, board.arena) == ("flash", "flash", "ram")
    assert (board.stack_bytes, board.qemu, board.clock_hz) == (boards.DEFAULT_STACK, None, 0)
    assert board.memory("flash").length == 512 << 10
    more = "clock_hz: 80000000\nflash_wait_states: 4\ndebug_probe: stlink\n"
    said = board_file.read(written(tmp_path, GOOD + more)).to_json()
    assert (said["clock_hz"], said["flash_wait_states"], said["debug_probe"]) == (
        *(80_000_000, 4),
        "stlink",
    )


@pytest.mark.parametrize(
    ("old", "new", "place", "said"),
    [
        ("cpu: cortex-m4", "cpu: cortex-m4x", "2:6", "cpu is 'cortex-m4x', expected the name of"),
        ("cpu: cortex-m4", "cpu: cortex-m4x", "2:6", "did you mean cortex-m4?"),
        ("cpu:", "cqu:", "2:1", "cqu is not a key: expected arena"),
        ("cpu:", "cqu:", "2:1", "did you mean cpu?"),
        ("cpu: cortex-m4\n", "", "1:1", "has no cpu: expected the name of a CPU"),
        ("length: 512K", "length: 12Q", "4:47", "length is '12Q', expected a number of bytes"),
        ("length: 512K", "length: 0", "4:47", "length is 0, expected a number of bytes"),
        ("length: 512K", "length: 0K", "4:47", "expected 1 byte to the end of 32-bit addresses"),
        ("length: 512K", "length: 4G", "4:47", "expected 1 byte to the end of 32-bit addresses"),
        ("0x08000000", "true", "4:27", "origin is True, expected an address"),
        ("0x08000000", "0x100000000", "4:27", "expected an address of 32 bits"),
        ("0x08000000", "0x08000004", "4:27", "expected a multiple of 128"),
        ("0x08000000", "0x2001FF80", "5:25", "origin makes it overlap the memory flash"),
        ("name: ram", "name: flash", "5:12", "name is flash, which another memory is called"),
        ("name: ram", "name: RAM", "5:12", "name is 'RAM', expected a lower-case identifier"),
        ("name: ram", "name: len", "5:12", "other than l, len, o and org"),
        ("name: ram", "name: sram", "3:1", "memories has no 'ram' for ram: expected one of flash"),
        ("access: rw", "access: rx", "5:59", "access is rx, expected rw, because ram is in ram"),
        ("access: rx", "access: rw", "4:61", "access is rw, expected rx, because flash"),
        ("title: Mine (M4)", "title: Mine\nram: flash", "2:6", "ram is flash, the memory for code"),
        ("title: Mine (M4)", "title: Mine\narena: flash", "2:8", "one for code (rwx) and one for"),
        (
            "title: Mine (M4)",
            "title: Mine\nboot: rp2050",
            "2:7",
            "expected rp2040 or rp2350, whose",
        ),
        (
            "title: Mine (M4)",
            "title: Mine\nboot: rp2040",
            "2:7",
            "whose core is cortex-m0plus, but",
        ),
        ("title: Mine (M4)", "title: Mine\ncomponent: esp-idf", "2:12", "cores are rv32im..., but"),
        ("cpu: cortex-m4", "cpu: cortex-m33\nboot: rp2350", "5:27", "flash is at 0x10000000"),
        (
            "title: Mine (M4)",
            "title: Mine\ncomponent: sdk",
            "2:12",
            "expected esp-idf, the framework",
        ),
        ("title: Mine (M4)", "title: [1]", "1:8", "title is [1], expected at most 100 letters"),
        ("title: Mine (M4)", 'title: "a */ b"', "1:8", "title is 'a */ b', expected"),
        ("title: Mine (M4)", 'title: "a\\n"', "1:8", "title is 'a\\n', expected"),
        ("title: Mine (M4)", "title: Mine\nflash: rom", "2:8", "no 'rom' for flash"),
        ("title: Mine (M4)", "title: Mine\nstack_bytes: 1M", "2:14", "stack_bytes is 1048576"),
        ("title: Mine (M4)", "title: Mine\nstack_bytes: 8", "2:14", "stack_bytes is 8, expected"),
        ("title: Mine (M4)", "title: Mine\ntitle: You", "2:1", "'title' is given twice"),
        ("title: Mine (M4)", "title: &a Mine\nzephyr: *a", "2:9", "found an alias"),
        ("title: Mine (M4)", "title: !!python/name:os.system x", "1:8", "could not determine a"),
        ("title: Mine (M4)", "title: Mine\nclock_hz: 80MHz", "2:11", "expected a clock in Hz"),
        ("cpu: cortex-m4", "cpu: host", "3:1", "memories are given for the host"),
    ],
)
def test_a_mistake_has_its_place(old: str, new: str, place: str, said: str, tmp_path: Path) -> None:
    assert old in GOOD
    text = GOOD.replace(old, new, 1)
    if ": flash" in new:  # the memory for code is RAM, too
        text = text.replace("access: rx", "access: rwx")
    found = refusal(written(tmp_path, text))
    assert (found.startswith(f"board.yml:{place}: "), said in found) == (True, True), found


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is None, expected keys and values"),
        ("- 1\n", "is [1], expected keys and values"),
        ("1: 2\n", "has the key 1, expected a word"),
        ("title: a\n---\ntitle: b\n", "expected a single document"),
        (b"\xff\xfe\x00", "is not YAML"),
        ("[" * 1500, ""),
        ("a: " + "9" * 5000, "is not YAML"),
        ("title: 0x" + "f" * 5000, "has a number that is too long"),
        ("#" * 70000, "is larger than 65,536 bytes"),
        ("title: a\ncpu: cortex-m4\n", "the board has no memories"),
    ],
    ids=range(10),
)
def test_what_is_no_board(text: str | bytes, said: str, tmp_path: Path) -> None:
    assert said in refusal(written(tmp_path, text))


@pytest.mark.parametrize("name", ["zephyr", "a-b", "a b", "1a", "a" * 41, "é"])
def test_a_name_that_no_board_can_have(name: str, tmp_path: Path) -> None:
    assert "cannot name a board" in refusal(written(tmp_path, GOOD, name))


def test_a_region() -> None:
    assert new_board.region("512K@0x08000000") == new_board.NewRegion("512K", 0x08000000)
    for text in ("512K", "@1", "12Q@0", "512K@0x100000000", "1@-1", "1@1\n"):
        with pytest.raises(ValueError, match="is not a"):
            new_board.region(text)
