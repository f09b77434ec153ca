"""Servers of debuggers for tests: a scripted one, and one that passes QEMU off as a board."""

from __future__ import annotations

import contextlib
import re
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator

from microgen.running.runner.gdb import GdbError, Stub, checksum

SECONDS = 20.0


def packet(body: bytes) -> bytes:
    """A body as it is sent."""
    return b"$" + body + b"#" + checksum(body)


class Commands:
    """The other end of a debugger's connection, which reads its commands."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._pending = b""
        self.acknowledges = True

    def next(self) -> bytes | None:
        """The next command; None at the end of the connection."""
        while (match := re.search(rb"\$((?:[^#])*)#..|\x03", self._pending, re.S)) is None:
            data = self._connection.recv(65536)
            if not data:
                return None
            self._pending += data
        self._pending = self._pending[match.end() :]
        if self.acknowledges and match[0] != b"\x03":
            self.raw(b"+")
        return match[1] if match[0] != b"\x03" else match[0]

    def answer(self, body: bytes) -> None:
        """Send an answer."""
        self.raw(packet(body))

    def raw(self, data: bytes) -> None:
        """Send bytes as they are."""
        self._connection.sendall(data)


Play = Callable[[Commands], None]


@contextlib.contextmanager
def listening(play: Play) -> Iterator[int]:
    """The port of a server that calls ``play`` for each connection. It ends with the block."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=_serve, args=(server, play))
        thread.start()
        try:
            yield int(server.getsockname()[1])
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join(SECONDS)
    assert not thread.is_alive()


def _serve(server: socket.socket, play: Play) -> None:
    with contextlib.suppress(OSError):  # shut down
        while True:
            connection, _ = server.accept()
            with connection, contextlib.suppress(OSError, GdbError):
                play(Commands(connection))


@contextlib.contextmanager
def qemu(
    machine: str, *arguments: str, port: int = 0
) -> Iterator[tuple[subprocess.Popen[bytes], socket.socket]]:
    """QEMU without firmware, stopped, and a connection to its debugger's server. With ``port``
    the server listens there instead."""
    system = "riscv32" if machine in ("virt", "sifive_e") else "arm"
    ours, theirs = socket.socketpair()
    serves = f"tcp:127.0.0.1:{port}" if port else "stdio"
    command = [
        *(f"qemu-system-{system}", "-M", machine, "-S", "-gdb", serves),
        *("-nodefaults", "-display", "none"),
        *(arguments or (("-bios", "none") if machine == "virt" else ())),
        *("-semihosting-config", "enable=on,target=gdb"),
    ]
    with ours, theirs:
        pipes = {"stdin": theirs, "stdout": theirs, "stderr": subprocess.DEVNULL}
        with subprocess.Popen(command, **pipes) as process:
            theirs.close()
            try:
                if port:
                    _wait(port)
                yield process, ours
            finally:
                process.kill()


def _wait(port: int) -> None:
    for _ in range(200):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return
        threading.Event().wait(0.05)
    raise AssertionError("QEMU does not listen")


class Board:
    """QEMU's core as a debug probe shows it: with flash that has to be erased, a DWT whose counter
    runs while the core does, no acknowledgements, and semihosting that stops at its breakpoint.

    ``flash`` is (start, length, block), and ``call`` the address of the breakpoint. Each time that
    the core runs counts as ``CYCLES``.
    """

    CYCLES = 1234

    def __init__(
        self, core: socket.socket, flash: tuple[int, int, int], call: int, *, sums: bool
    ) -> None:
        self._stub = Stub(core, SECONDS)
        self._flash, self._call, self._sums = flash, call, sums
        self._words = {0xE000EDFC: 0, 0xE0001000: 0x40000000, 0xE0001004: 0xFFFFFF00}
        self._erased: set[int] = set()
        self.forgets = False  # writes to flash
        self.catches = call  # the address of a fault handler, if the server stops at faults
        self.log: list[bytes] = []

    def play(self, commands: Commands) -> None:
        """Answer a debugger."""
        while (body := commands.next()) is not None:
            self.log.append(body)
            commands.answer(self._answer(body))
            commands.acknowledges &= body != b"QStartNoAckMode"

    def _answer(self, body: bytes) -> bytes:
        own = {
            b"qSupported": self._supported,
            b"QStartNoAckMode": self._ok,
            b"qRcmd": self._reset,
            b"qXfer": self._transfer,
            b"qCRC": self._sum,
            b"vFlashErase": self._erase,
            b"vFlashWrite": self._write,
            b"vFlashDone": self._ok,
            b"m": self._read,
            b"M": self._poke,
            b"X": self._binary,
            b"c": self._run,
        }
        return next((own[name] for name in own if body.startswith(name)), self._stub.command)(body)

    def _ok(self, _: bytes) -> bytes:
        return b"OK"

    def _supported(self, body: bytes) -> bytes:
        more = b";QStartNoAckMode+;qXfer:memory-map:read+"
        return self._stub.command(body) + more

    def _reset(self, body: bytes) -> bytes:
        assert bytes.fromhex(body[6:].decode()) == b"reset halt"
        return self._stub.command(b"qRcmd," + b"system_reset".hex().encode())

    def _transfer(self, body: bytes) -> bytes:
        if not body.startswith(b"qXfer:memory-map"):
            return self._stub.command(body)
        start, length, block = self._flash
        text = (
            f'<memory-map><memory type="ram" start="0x20000000" length="0x20000"/>'
            f'<memory type="flash" start="{start:#x}" length="{length:#x}">'
            f'<property name="blocksize">{block:#x}</property></memory></memory-map>'
        )
        return b"l" + text.encode()

    def _sum(self, body: bytes) -> bytes:
        if not self._sums:
            return b""
        address, size = (int(word, 16) for word in body[5:].split(b","))
        return b"C%x" % slow_crc(self._stub.read(address, size))

    def _erase(self, body: bytes) -> bytes:
        start, length, block = self._flash
        address, size = (int(word, 16) for word in body.split(b":")[1].split(b","))
        if (address - start) % block or size % block or not start <= address < start + length:
            return b"E01"
        self._erased |= set(range(address, address + size))
        return b"OK"

    def _write(self, body: bytes) -> bytes:
        place, data = body[len(b"vFlashWrite:") :].split(b":", 1)
        address, data = int(place, 16), _plain(data)
        wanted = set(range(address, address + len(data)))
        if not wanted <= self._erased:
            return b"E01"
        self._erased -= wanted
        if self.forgets:
            return b"OK"
        return self._stub.command(b"M%x,%x:%b" % (address, len(data), data.hex().encode()))

    def _read(self, body: bytes) -> bytes:
        address = int(body[1:].split(b",")[0], 16)
        if address not in self._words:
            return self._stub.command(body)
        return self._words[address].to_bytes(4, "little").hex().encode()

    def _poke(self, body: bytes) -> bytes:
        place, data = body[1:].split(b":", 1)
        return self._store(int(place.split(b",")[0], 16), bytes.fromhex(data.decode()))

    def _binary(self, body: bytes) -> bytes:
        place, data = body[1:].split(b":", 1)
        return self._store(int(place.split(b",")[0], 16), _plain(data))

    def _store(self, address: int, data: bytes) -> bytes:
        start, length, _ = self._flash
        if start <= address < start + length and data:
            return b"E01"  # flash is no RAM
        if address in self._words and address != 0xE0001004:
            self._words[address] = int.from_bytes(data, "little")
            return b"OK"
        if not data:
            return b"OK"
        return self._stub.command(b"M%x,%x:%b" % (address, len(data), data.hex().encode()))

    def _run(self, body: bytes) -> bytes:
        counts = self._words[0xE000EDFC] >> 24 & self._words[0xE0001000] & 1
        pc = self._stub.registers(16, 4)[15]
        stops = {self._call, self.catches} - {pc}
        for address in stops:
            self._stub.insert_breakpoint(address, 2)
        stop = self._stub.command(body)
        for address in stops:
            self._stub.remove_breakpoint(address, 2)
        now = self._words[0xE0001004] + counts * self.CYCLES
        self._words[0xE0001004] = now & 0xFFFFFFFF
        return stop


def _plain(data: bytes) -> bytes:
    return re.sub(rb"}(.)", lambda match: bytes((match[1][0] ^ 0x20,)), data, flags=re.S)


def slow_crc(data: bytes) -> int:
    """The protocol's sum, bit by bit."""
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte << 24
        for _ in range(8):
            value = (value << 1) ^ (0x104C11DB7 if value >> 31 else 0)
    return value


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])
