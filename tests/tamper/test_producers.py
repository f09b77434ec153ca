"""Whatever is wrong with an ELF's debug information, flags are read soon, or there is no answer."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from microgen.verifier.again import recompiled
from microgen.verifier.again.recorded_flags import UnknownFlagError
from microgen.verifier.again.regenerated import ImpossibleError
from tests.support.minimal_project import board_params
from tests.support.tools import needs
from tests.tamper import vendor
from tests.tamper.elf32 import Elf32

pytestmark = needs("cmake", "ninja")
_LONGEST = 5.0  # seconds
_MANY = [pytest.param(120, id="120"), pytest.param(10_000, id="10000", marks=pytest.mark.slow)]
_NAMES = (".debug_info", ".debug_abbrev", ".debug_str")


def _mutated(sound: bytes, seed: int) -> bytes:
    """Some other bytes in the sections that are read, or in their headers."""
    chance, elf = random.Random(seed), Elf32(sound)
    records = [elf.section(name) for name in _NAMES]
    for _ in range(chance.choice((1, 2, 8))):
        record = chance.choice(records)
        if chance.randrange(4):
            start = record["sh_offset"] + chance.choice((0, chance.randrange(record["sh_size"])))
            at = start + chance.randrange(min(16, record["sh_size"]))
        else:
            at = record.at + chance.randrange(40)
        elf.data[at % len(elf.data)] = chance.choice(
            (0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256))
        )
    return bytes(elf.data)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("count", _MANY)
@pytest.mark.parametrize("board", board_params(*vendor.BOARDS))
def test_mutated_debug_information(board: str, count: int, tmp_path: Path) -> None:
    project = vendor.project(board)
    of, path = recompiled.sources(project), tmp_path / "changed.elf"
    sound = (project / "vendor.elf").read_bytes()
    known = recompiled.recorded(project / "vendor.elf", of)
    refused = 0
    for seed in range(count):
        path.write_bytes(_mutated(sound, seed))
        start = time.process_time()
        try:
            refused += recompiled.recorded(path, of) != known
        except (ImpossibleError, UnknownFlagError):
            refused += 1
        taken = time.process_time() - start
        assert taken < _LONGEST, f"seed {seed}: {taken:.1f} s"
    assert refused > count // 10
