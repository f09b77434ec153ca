"""What a debugger's server may answer, tested with a scripted one."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pytest

from microgen.running.runner.gdb import GdbError, Stop
from microgen.running.runner.remote.description import DebugRegister, MemoryRegion
from microgen.running.runner.remote.protocol import Remote, escaped
from tests.running.runner.remote.fake import Commands, packet

LIMIT = 2.0
SUPPORTED = b"PacketSize=80;qXfer:features:read+;qXfer:memory-map:read+"
HELLO = {b"?": b"S05", b"qSupported:swbreak+": SUPPORTED}


class Script:
    """Sends the answer to each command; a list is one answer after the other. Bytes that begin
    with $ are sent as they are."""

    def __init__(self, answers: Mapping[bytes, bytes | list[bytes]]) -> None:
        self._answers = {**HELLO, **answers}
        self.log: list[bytes] = []

    def play(self, commands: Commands) -> None:
        while (body := commands.next()) is not None:
            self.log.append(body)
            answer = self._answers.get(body, b"")
            if isinstance(answer, list):
                answer = answer.pop(0)
            commands.raw(answer if b"#" in answer else packet(answer))
            commands.acknowledges &= body != b"QStartNoAckMode"


@contextmanager
def scripted(answers: Mapping[bytes, bytes | list[bytes]]) -> Iterator[tuple[Remote, Script]]:
    ours, theirs = socket.socketpair()
    script = Script(answers)
    server = threading.Thread(target=lambda: script.play(Commands(theirs)))
    server.start()
    try:
        with ours:
            yield Remote(ours, LIMIT), script
    finally:
        server.join()
        theirs.close()


def test_acknowledgements_end_when_the_server_can_do_without() -> None:
    answers = {
        b"qSupported:swbreak+": b"QStartNoAckMode+",
        b"QStartNoAckMode": b"OK",
        b"m0,1": b"7f",
    }
    with scripted(answers) as (remote, script):
        assert remote.read(0, 1) == b"\x7f"
    assert script.log[-2:] == [b"QStartNoAckMode", b"m0,1"]


def test_packets_may_come_in_pieces() -> None:
    ours, theirs = socket.socketpair()
    sent = [*packet(b"S05"), b"+", *packet(b"PacketSize=40"), b"+", *packet(b"0* 7f")]

    def serve() -> None:
        for byte in [b"+", *sent]:
            theirs.sendall(byte if isinstance(byte, bytes) else bytes((byte,)))
        while theirs.recv(100):
            pass

    server = threading.Thread(target=serve)
    server.start()
    with ours:
        assert Remote(ours, LIMIT).read(0, 3) == b"\0\0\x7f"
    server.join()
    theirs.close()


def test_a_damaged_packet_is_asked_for_again() -> None:
    with scripted({b"m0,1": b"$7e#00" + packet(b"7f")}) as (remote, _):
        assert remote.read(0, 1) == b"\x7f"


@pytest.mark.parametrize(
    "answer",
    [b"zz", b"0", b"E01", b"E.no", b"", b"0102", b"OK", b"$}#7d", b"$*!#4b"],
)
def test_nonsense_instead_of_memory(answer: bytes) -> None:
    with scripted({b"m0,1": answer}) as (remote, _), pytest.raises(GdbError):
        remote.read(0, 1)


@pytest.mark.parametrize("answer", [b"", b"OK", b"hello", b"E01", b"T", b"Szz"])
def test_nonsense_instead_of_a_stop(answer: bytes) -> None:
    with scripted({b"c": answer * 1}) as (remote, _):
        remote.progress()
        with pytest.raises((GdbError, TimeoutError)):
            remote.resume()


def test_a_server_of_something_else() -> None:
    ours, theirs = socket.socketpair()
    theirs.sendall(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n" * 3)
    theirs.shutdown(socket.SHUT_WR)
    with ours, theirs, pytest.raises(GdbError):
        Remote(ours, LIMIT)


def test_a_packet_that_never_ends() -> None:
    ours, theirs = socket.socketpair()

    def serve() -> None:
        theirs.sendall(b"+$")
        try:
            while True:
                theirs.sendall(b"x" * 65536)
        except OSError:
            theirs.close()

    server = threading.Thread(target=serve)
    server.start()
    with ours, pytest.raises(GdbError, match="does not end"):
        Remote(ours, LIMIT)
    server.join()


@pytest.mark.parametrize("size", [b"0", b"ffffffff", b"fffffffffffffffffffff", b"nonsense"])
def test_an_impossible_size_of_packets(size: bytes) -> None:
    answers = {b"qSupported:swbreak+": b"PacketSize=" + size, b"m0,1": b"7f"}
    with scripted(answers) as (remote, _):
        assert remote.read(0, 1) == b"\x7f"


def test_memory_is_written_binary_if_the_server_knows_that() -> None:
    data = b"a#$}*\0z"
    written = b"X10,7:a}\x03}\x04}]}\x0a\0z"
    with scripted({b"X10,0:": b"OK", written: b"OK"}) as (remote, script):
        remote.write(0x10, data)
    assert script.log[-2:] == [b"X10,0:", written]
    assert escaped(b"plain") == b"plain"


def test_memory_is_written_in_hexadecimal_otherwise() -> None:
    pieces = {b"M0,30:" + b"2a" * 48: b"OK", b"M30,2:2a2a": b"OK"}
    with scripted(pieces) as (remote, script):
        remote.write(0, b"*" * 50)
    assert script.log[-2:] == list(pieces)


def test_registers_are_found_by_their_names() -> None:
    first = b'l<target><architecture>arm</architecture><xi:include href="core.xml"/></target>'
    core = (
        b'<feature name="org.gnu.gdb.arm.m-profile"><!-- <reg name="no" bitsize="8"/> -->'
        b'<reg name="r0" bitsize="32" regnum="4"/><reg name="sp" bitsize="32"/>'
        b'<reg bitsize="8" name="xPSR" regnum="0x10"/></feature>'
    )
    pieces = [b"m" + core[:40], b"l" + core[40:]]
    answers: dict[bytes, bytes | list[bytes]] = {
        b"qXfer:features:read:target.xml:0,30": first,
        b"qXfer:features:read:core.xml:0,30": pieces[0],
        b"qXfer:features:read:core.xml:28,30": pieces[1],
        b"P10=7f": b"OK",
        b"p10": b"7f",
    }
    with scripted(answers) as (remote, _):
        found = remote.describe()
        remote.set_register(found.registers["xpsr"], 0x7F)
        assert remote.register(found.registers["xpsr"]) == 0x7F
    assert (found.architecture, found.features) == ("arm", ("org.gnu.gdb.arm.m-profile",))
    assert found.registers == {
        "r0": DebugRegister(4, 4),
        "sp": DebugRegister(5, 4),
        "xpsr": DebugRegister(16, 1),
    }


def test_a_description_that_includes_itself_ends() -> None:
    again = b'l<xi:include href="target.xml"/>' * 3
    with scripted({b"qXfer:features:read:target.xml:0,30": again}) as (remote, _):
        assert remote.describe().registers == {}


def test_a_memory_map() -> None:
    text = (
        b'l<memory-map><memory type="ram" start="0x20000000" length="0x100"/>'
        b'<memory type="flash" start="0x8000000" length="0x400"><property name="blocksize">0x80'
        b'</property></memory><memory type="flash" start="x" length="1"/></memory-map>'
    )
    with scripted({b"qXfer:memory-map:read::0,30": text}) as (remote, _):
        assert remote.memory_map() == (
            MemoryRegion("ram", 0x20000000, 0x20000100, 1),
            MemoryRegion("flash", 0x8000000, 0x8000400, 0x80),
        )


def test_what_a_monitor_says() -> None:
    said = packet(b"O" + b"unknown ".hex().encode()) + packet(b"O" + b"command".hex().encode())
    with scripted({b"qRcmd,6869": said + packet(b"OK")}) as (remote, _):
        assert remote.monitor("hi") == "unknown command"
        assert remote.monitor("not there") == ""


def test_a_breakpoint_of_the_core_or_else_in_memory() -> None:
    answers = {b"Z1,10,2": b"E01", b"Z0,10,2": b"OK", b"z0,10,2": b"OK"}
    with scripted({**answers, b"Z1,30,2": b"OK", b"z1,30,2": b"OK"}) as (remote, script):
        remote.insert_breakpoint(0x10, 2)
        remote.insert_breakpoint(0x30, 2)
        remote.remove_breakpoint(0x10, 2)
        remote.remove_breakpoint(0x30, 2)
        with pytest.raises(GdbError):
            remote.insert_breakpoint(0x20, 2)
    assert script.log[2:7] == [*list(answers)[:2], b"Z1,30,2", b"z0,10,2", b"z1,30,2"]


def test_requests_are_answered_until_the_program_stops() -> None:
    answers = {b"c": b"Fclose,3", b"F0": b"Fisatty,0", b"F1": b"T05thread:1;"}
    seen: list[bytes] = []

    def serve(request: bytes) -> bytes:
        seen.append(request)
        return b"F%x" % (len(seen) - 1)

    with scripted(answers) as (remote, _):
        remote.serve = serve
        remote.progress()
        assert remote.resume() == Stop(None)
    assert seen == [b"Fclose,3", b"Fisatty,0"]


def test_a_program_that_asks_all_the_time_can_be_stopped() -> None:
    """A server whose core waits for an answer does not hear the interrupt."""
    answers = {b"\x03": b"Fwrite,1,0,1", b"F-1,4,C": b"T02"}
    with scripted(answers) as (remote, _):
        assert remote.interrupt() == Stop(None)


def test_flash_is_given_more_time_than_answers() -> None:
    answers = {b"vFlashErase:0,80": b"OK", b"vFlashWrite:0:}\x03": b"OK", b"vFlashDone": b"E01"}
    with scripted(answers) as (remote, _):
        remote.erase(0, 0x80)
        remote.program(0, b"#")
        with pytest.raises(GdbError, match="vFlashDone"):
            remote.programmed()
