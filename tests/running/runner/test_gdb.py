"""The remote protocol, tested with a scripted stub."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from microgen.running.runner.gdb import GdbError, Stop, Stub, checksum, decode, parse_stop

LIMIT = 2.0
HELLO = {b"?": b"S05", b"qSupported:swbreak+": b"PacketSize=40;qXfer:auxv:read+"}


def packet(body: bytes) -> bytes:
    return b"$" + body + b"#" + checksum(body)


def answer(connection: socket.socket, answers: dict[bytes, bytes]) -> None:
    """Acknowledges each command and sends its answer. The answer is framed unless it already is."""
    pending = b""
    while data := connection.recv(4096):
        pending += data
        while b"#" in pending and len(pending.split(b"#", 1)[1]) >= 2:
            start, end = pending.index(b"$") + 1, pending.index(b"#")
            body, pending = pending[start:end], pending[end + 3 :]
            reply = answers.get(body, b"")
            connection.sendall(b"+" + (reply if b"#" in reply else packet(reply)))


@contextmanager
def stub(answers: dict[bytes, bytes], limit: float = LIMIT) -> Iterator[Stub]:
    ours, theirs = socket.socketpair()
    server = threading.Thread(target=answer, args=(theirs, {**HELLO, **answers}))
    server.start()
    try:
        with ours:
            yield Stub(ours, limit)
    finally:
        server.join()
        theirs.close()


@pytest.mark.parametrize(
    ("body", "data"),
    [
        (b"OK", b"OK"),
        (b"0* ", b"0000"),  # ' ' is 32, which means three more
        (b'f*"12', b"ffffff12"),
        (b"a}\x03b}]", b"a#b}"),
        (b"", b""),
    ],
)
def test_escapes_and_run_lengths_are_undone(body: bytes, data: bytes) -> None:
    assert decode(body) == data


@pytest.mark.parametrize("body", [b"ab}", b"ab*", b"*!"])
def test_a_packet_cut_short_is_refused(body: bytes) -> None:
    with pytest.raises(GdbError, match="damaged packet"):
        decode(body)


@pytest.mark.parametrize(
    ("reply", "stop"),
    [
        (b"S05", Stop(None)),
        (b"T05thread:p01.01;swbreak:;", Stop(None)),
        (b"W00", Stop(0)),
        (b"W03;process:1a", Stop(3)),
        (b"X0b", Stop(-11)),
    ],
)
def test_stop_replies(reply: bytes, stop: Stop) -> None:
    assert parse_stop(reply) == stop


@pytest.mark.parametrize("reply", [b"", b"OK", b"E01", b"S5"])
def test_other_replies_are_no_stops(reply: bytes) -> None:
    with pytest.raises(GdbError, match="unexpected stop reply"):
        parse_stop(reply)


def test_registers_are_little_endian_words() -> None:
    with stub({b"g": b"78563412" + b"0*<"}) as client:
        assert client.registers(2, 4) == (0x12345678, 0)


def test_memory_comes_in_pieces_that_fit_a_packet() -> None:
    # PacketSize 0x40 leaves room for 16 bytes.
    first, second = bytes(range(16)), b"\xfe\xff"
    pieces = {b"m100,10": first.hex().encode(), b"m110,2": second.hex().encode()}
    with stub(pieces) as client:
        assert client.read(0x100, 18) == first + second


def test_what_the_program_prints_is_not_its_stop() -> None:
    with stub({b"c": packet(b"O6869") + packet(b"W02")}) as client:
        assert client.resume() == Stop(2)


def test_notifications_are_passed_over() -> None:
    with stub({b"m0,1": b"%Stop:T05#00" + packet(b"7f")}) as client:
        assert client.read(0, 1) == b"\x7f"


def test_a_packet_with_a_wrong_checksum_is_asked_for_again() -> None:
    with stub({b"m0,1": b"$7e#00" + packet(b"7f")}) as client:
        assert client.read(0, 1) == b"\x7f"


@pytest.mark.parametrize("reply", [b"", b"E14"])
def test_memory_that_cannot_be_read_is_an_error(reply: bytes) -> None:
    with stub({b"m0,1": reply}) as client, pytest.raises(GdbError):
        client.read(0, 1)


def test_a_breakpoint_that_is_refused_is_an_error() -> None:
    with (
        stub({b"Z0,10,2": b"E22"}) as client,
        pytest.raises(GdbError, match="10,2' was b'E22'"),
    ):
        client.insert_breakpoint(0x10, 2)


def test_the_auxiliary_vector_comes_in_parts() -> None:
    parts = {b"qXfer:auxv:read::0,10": b"mab", b"qXfer:auxv:read::2,10": b"lc"}
    with stub(parts) as client:
        assert client.transfer("auxv", "", "auxiliary vector") == b"abc"


def test_waiting_is_bounded() -> None:
    with stub({b"c": b"#"}, limit=0.2) as client, pytest.raises(TimeoutError):
        client.resume()


def test_a_stub_that_goes_away_is_an_error() -> None:
    ours, theirs = socket.socketpair()
    theirs.close()
    with ours, pytest.raises(GdbError, match="the connection"):
        Stub(ours, LIMIT)
