"""Whatever a server answers, ``run --on`` ends soon, in one line."""

from __future__ import annotations

import random
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

import microgen
from microgen.base.errors import MicrogenError
from microgen.running import runner
from microgen.running.runner.gdb import checksum
from microgen.running.runner.remote import address, protocol, target
from tests.running.runner.remote.fake import Commands, listening, packet
from tests.support.places import SMALL
from tests.support.tools import NEEDS_ARM_GCC, NEEDS_NINJA

_ANSWERS = [
    *(b"", b"OK", b"E01", b"S05", b"T05thread:1;", b"W00", b"X09", b"l", b"m", b"00" * 68),
    *(b"Fopen,0/5,0,0", b"Fwrite,1,0,ffffffff", b"Fread,3,0,5", b"Fx", b"O4141", b"C0", b"zz"),
    *(b"PacketSize=20;qXfer:features:read+;qXfer:memory-map:read+", b"PacketSize=fff"),
    b'l<architecture>arm</architecture><reg name="pc" bitsize="8"/><feature name="arm.m-"/>',
    b'l<memory type="flash" start="0" length="99999999"><property name="blocksize">7</property>',
    b'l<memory type="flash" start="0" length="0x90000000"></memory>',
]


def _nonsense(seed: int) -> Callable[[Commands], None]:
    """A server that is right the more often, the higher its seed."""
    choice = random.Random(seed)
    right = 0.6 + seed % 8 * 0.05

    def play(commands: Commands) -> None:
        memory: dict[bytes, bytes] = {}
        for _ in range(3000):
            body = commands.next()
            if body is None:
                return
            name = body[:1] if body[:1] in b"mMXZzPpgc?" else body[:6]
            if name not in memory or choice.random() < 0.02:
                memory[name] = choice.choice(_ANSWERS)
            answer = packet(memory[name])
            if choice.random() < 0.02:
                answer = choice.randbytes(choice.randrange(12)) + b"#" + checksum(b"")
            # Often enough the right thing, so that what follows is reached.
            if choice.random() < right:
                answer = packet(_right(body)) or answer
            commands.raw(answer)

    return play


def _right(body: bytes) -> bytes:
    if body[:1] == b"m":
        return b"00" * int(body.split(b",")[1], 16)
    return {b"?": b"S05", b"g": b"00" * 68, b"q": b"", b"c": b"S05"}.get(body[:1], b"OK")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small network for a Cortex-M4, built."""
    project = tmp_path_factory.mktemp("nonsense") / "d"
    microgen.generate(SMALL, "mps2_an386", project)
    microgen.build(project)
    return project


@NEEDS_NINJA
@NEEDS_ARM_GCC
@pytest.mark.parametrize("seed", range(12))
def test_a_server_that_answers_nonsense(
    built: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(protocol, "_ANSWER_SECONDS", 0.2)
    monkeypatch.setattr(protocol, "_FLASH_SECONDS", 0.2)
    with listening(_nonsense(seed)) as port, pytest.raises(MicrogenError) as failed:
        _run(built, f"gdb:127.0.0.1:{port}")
    assert "\n" not in str(failed.value)


def _run(project: Path, on: str) -> None:
    elf = project / "build" / "firmware.elf"
    with target.opened(address.parse(on), elf, 0.2) as core:
        runner.run(project, target=core)


def test_a_server_that_talks_all_the_time() -> None:
    """Text does not give a program more time."""

    def play(commands: Commands) -> None:
        answers = {b"?": b"S05", b"qSupported:swbreak+": b""}
        while (body := commands.next()) is not None:
            if body == b"c":
                while True:
                    commands.answer(b"O4141")
            commands.answer(answers.get(body, b""))

    with listening(play) as port, socket.create_connection(("127.0.0.1", port)) as connection:
        remote = protocol.Remote(connection, 0.3)
        remote.progress()
        with pytest.raises(TimeoutError):
            remote.resume()
