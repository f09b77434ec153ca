"""20,000 damaged blobs: each is soon read, or refused in one line."""

from __future__ import annotations

import random
import struct
import time

import pytest

from microgen.base.errors import ModelError
from microgen.relay.blob import Blob, describe, dumps, loads
from tests.relay.blob.samples import ALL, KNOWN

# Reading a blob takes less than a millisecond, so a second means that it hangs.
_SECONDS = 1.0
_COUNTS = (0, 1, 2, 3, 8, 255, 2**31, 2**32 - 1, 2**32, 2**60, 2**61, 2**63 - 1, 2**64 - 1)
_PIECES = (b"_lib", b"_import_tree", b"metadata", b"c", b"{", b"[" * 50, b"\xff", b"\n", bytes(8))


def _damaged(rng: random.Random, data: bytes) -> bytes:
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(data))
        to = min(len(data), at + rng.randint(1, 24))
        match rng.randrange(7):
            case 0:
                data = data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]
            case 1:
                data = data[:at] + struct.pack("<Q", rng.choice(_COUNTS)) + data[at + 8 :]
            case 2:
                change = (data[at] + rng.choice((-1, 1))) % 256
                data = data[:at] + bytes([change]) + data[at + 1 :]
            case 3:
                data = data[:at] + data[to:]
            case 4:
                data = data[:at] + data[at:to] * rng.randint(2, 9) + data[to:]
            case 5:
                data = data[:at] + rng.choice(_PIECES) + data[rng.choice((at, to)) :]
            case _:
                other = rng.choice(list(ALL.values()))
                data = data[:at] + other[rng.randrange(len(other)) :]
        data = data or b"\0"
    return struct.pack("<Q", max(0, len(data) - 8)) + data[8:] if rng.random() < 0.8 else data


def _outcome(data: bytes) -> Blob | str:
    try:
        return loads(data, KNOWN)
    except ModelError as error:
        return str(error)


@pytest.mark.parametrize("seed", range(20))
def test_damage_is_a_model_error_and_no_other(seed: int) -> None:
    rng = random.Random(seed)
    accepted = 0
    for _ in range(1000):
        data = _damaged(rng, rng.choice(list(ALL.values())))
        start = time.perf_counter()
        found = _outcome(data)
        if isinstance(found, str):
            assert "\n" not in found
            assert len(found) < 500
        else:
            accepted += 1
            assert all(line.isprintable() for line in describe.listing(found).lines)
            describe.extract(found)
            assert len(loads(dumps(found.root), KNOWN).modules) == len(found.modules)
        assert time.perf_counter() - start < _SECONDS
    assert 0 < accepted < 500
