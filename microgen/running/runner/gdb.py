"""A client of gdb's remote serial protocol, as QEMU and gdbserver speak it.

Source: "Debugging with GDB", appendix "GDB Remote Serial Protocol".
"""

from __future__ import annotations

import re
import socket
import time
from dataclasses import dataclass

_ESCAPE, _ESCAPED = 0x7D, 0x20  # "}", then the byte xor 0x20
_RUN_LENGTH, _RUN_BIAS = 0x2A, 29  # "*", then the count plus 29, which is printable
_CODED = re.compile(rb"[}*].?", re.DOTALL)  # an escape or a run length, with the byte after it
# A packet is sent again so often if its checksum was wrong.
_RETRIES = 5
_MOST = 1 << 20  # bytes of a packet; no server needs a thousandth of it
_LARGEST_CHUNK = 1 << 15  # bytes of memory in one command
_LARGEST_TRANSFER = 1 << 17  # bytes of a description of the core


class GdbError(Exception):
    """The stub refused a command, sent something invalid, or closed the connection."""


class NoObjectError(GdbError):
    """The stub keeps no such object."""


@dataclass(frozen=True, slots=True)
class Stop:
    """The reason why the program no longer runs. It ended with ``exit_code``, which is negative if
    a signal killed it. If ``exit_code`` is None, the program is stopped and can continue."""

    exit_code: int | None


def checksum(body: bytes) -> bytes:
    """The two hexadecimal digits at the end of a packet."""
    # The protocol's checksum is the sum of the bytes before decoding, modulo 256.
    return b"%02x" % (sum(body) % 256)


def decode(body: bytes) -> bytes:
    """A packet's data with escapes and run lengths undone. Raises GdbError if it is damaged."""
    data, plain = bytearray(), 0
    for coded in _CODED.finditer(body):
        data += body[plain : coded.start()]
        plain = coded.end()
        mark, *follows = coded[0]
        # An escape needs a byte after it, and a run length a byte before it, which it repeats.
        if not follows or (mark == _RUN_LENGTH and not data):
            raise GdbError(f"damaged packet {body[:40]!r}")
        if mark == _ESCAPE:
            data.append(follows[0] ^ _ESCAPED)
        else:
            data += data[-1:] * (follows[0] - _RUN_BIAS)
    return bytes(data + body[plain:])


def parse_stop(reply: bytes) -> Stop:
    """A stop reply: ``S05``, ``T05thread:01;``, ``W00``, ``X0b;process:1``. Raises GdbError."""
    match = re.match(rb"([STWX])([0-9a-fA-F]{2})", reply)
    if not match:
        raise GdbError(f"unexpected stop reply {reply[:40]!r}")
    code = int(match[2], 16)
    # W: it exited. X: a signal ended it. S and T: it is stopped, so there is no exit code.
    return Stop({b"W": code, b"X": -code}.get(match[1]))


class Stub:
    """The other end of a connection to a program. The program is stopped; a ``running`` program is
    stopped first. ``limit``: seconds to wait for each answer. ``acknowledges``: whether packets are
    acknowledged, as at the start of a connection; it changes if the server knows how to do without.

    Every method raises GdbError if the stub refuses or closes the connection, and TimeoutError
    after ``limit``.
    """

    def __init__(
        self,
        connection: socket.socket,
        limit: float,
        *,
        running: bool = False,
        acknowledges: bool = True,
    ) -> None:
        self._socket = connection
        self._limit = limit
        self._buffer = bytearray()
        self.acknowledges = acknowledges
        if running:
            self.interrupt()
        else:
            parse_stop(self.command(b"?"))  # gdbserver has no current thread before it is asked
        self._features = self.command(b"qSupported:swbreak+").split(b";")
        size = re.search(rb"PacketSize=([0-9a-fA-F]{1,8})\b", b";".join(self._features))
        # A byte is two hexadecimal digits, and 16 bytes are more than the packet's frame needs.
        # A server that states no size gets small packets.
        chunk = (int(size[1], 16) if size else 400) // 2 - 16
        self._chunk = min(max(1, chunk), _LARGEST_CHUNK)
        # Nothing is lost on the way, and acknowledgements take as long as the packets themselves.
        if acknowledges and b"QStartNoAckMode+" in self._features:
            self.acknowledges = self.command(b"QStartNoAckMode") != b"OK"

    def command(self, body: bytes) -> bytes:
        """Send a command, and return the answer."""
        self._send(body)
        return self._receive()

    def registers(self, count: int, width: int) -> tuple[int, ...]:
        """The first ``count`` registers of the machine's list, ``width`` bytes each,
        little-endian."""
        data = from_hex(self.command(b"g"))
        if len(data) < count * width:
            raise GdbError(f"{len(data)} bytes of registers, expected {count * width}")
        words = [data[k * width : (k + 1) * width] for k in range(count)]
        return tuple(int.from_bytes(word, "little") for word in words)

    def read(self, address: int, size: int) -> bytes:
        """Bytes of memory."""
        data = b""
        while len(data) < size:
            # The answer has two digits for each byte, and has to fit one packet.
            part = min(self._chunk, size - len(data))
            answer = self.command(b"m%x,%x" % (address + len(data), part))
            # An error is E and two digits. Data may begin with E, but has an even number of digits.
            received = b"" if answer[:1] == b"E" and len(answer) % 2 else from_hex(answer)
            if not received or len(received) > part:
                raise GdbError(f"no memory at {address + len(data):#x}")
            data += received
        return data

    def transfer(self, kind: str, annex: str, what: str) -> bytes:
        """An object that the stub keeps. Raises NoObjectError, which names ``what``, if the stub
        lacks the object."""
        data = b""
        while len(data) < _LARGEST_TRANSFER:
            where = b"%x,%x" % (len(data), self._chunk)
            part = self.command(f"qXfer:{kind}:read:{annex}:".encode() + where)
            if part[:1] not in (b"l", b"m"):
                raise NoObjectError(f"no {what}: {part[:40]!r}")
            data += part[1:]
            # A server that answers "m" without data would be queried forever.
            if part[:1] == b"l" or len(part) == 1:
                break
        return data

    def insert_breakpoint(self, address: int, kind: int) -> None:
        """Insert a breakpoint at the instruction at ``address``; ``kind`` is the protocol's."""
        self._expect_ok(b"Z0,%x,%x" % (address, kind))

    def remove_breakpoint(self, address: int, kind: int) -> None:
        """Undo ``insert_breakpoint``."""
        self._expect_ok(b"z0,%x,%x" % (address, kind))

    def resume(self) -> Stop:
        """Let the program run until it stops or ends."""
        self._send(b"c")
        return self._stop()

    def interrupt(self) -> Stop:
        """Stop the program now."""
        self._write(b"\x03")
        return self._stop()

    def _stop(self) -> Stop:
        reply = self._receive()
        # Servers send the text of semihosting's console in packets "O" while the program runs.
        while reply[:1] == b"O":  # the program's output
            reply = self._receive()
        return parse_stop(reply)

    def _expect_ok(self, body: bytes) -> None:
        answer = self.command(body)
        if answer != b"OK":
            raise GdbError(f"the answer to {body[:40]!r} was {answer[:40]!r}")

    def _send(self, body: bytes) -> None:
        packet = b"$" + body + b"#" + checksum(body)
        for _ in range(_RETRIES):
            self._write(packet)
            if not self.acknowledges or self._acknowledged():
                return
        raise GdbError(f"{body[:40]!r} was never acknowledged")

    def _write(self, data: bytes) -> None:
        try:
            self._socket.sendall(data)
        except TimeoutError as error:
            raise GdbError("nobody reads what is sent") from error
        except OSError as error:
            raise GdbError("the connection is closed") from error

    def _acknowledged(self) -> bool:
        deadline = time.monotonic() + self._limit
        while (byte := self._byte(deadline)) not in b"+-":
            pass  # the rest of a late answer
        return byte == b"+"

    def _receive(self, deadline: float | None = None) -> bytes:
        deadline = deadline or time.monotonic() + self._limit
        for _ in range(_RETRIES):
            # Bytes before "$" are acknowledgements or the rest of a damaged packet.
            self._until(b"$", deadline)
            body = self._until(b"#", deadline)
            # The checksum is over the packet's bytes, so it is compared before escapes are undone.
            sound = (self._byte(deadline) + self._byte(deadline)).lower() == checksum(body)
            if self.acknowledges:
                self._acknowledge(sound)
            if sound:
                return decode(body)
        raise GdbError("packets keep coming damaged")

    def _acknowledge(self, sound: bool) -> None:
        try:
            self._socket.sendall(b"+" if sound else b"-")
        except OSError:
            return  # after its last packet, a stub may close the connection

    def _until(self, end: bytes, deadline: float) -> bytes:
        while (at := self._buffer.find(end)) < 0:
            if len(self._buffer) > _MOST:
                raise GdbError("a packet does not end")
            self._fill(deadline)
        # The mark is taken from the buffer, too, but is not part of the result.
        return self._take(at + 1)[:-1]

    def _byte(self, deadline: float) -> bytes:
        if not self._buffer:
            self._fill(deadline)
        return self._take(1)

    def _take(self, count: int) -> bytes:
        data = bytes(self._buffer[:count])
        del self._buffer[:count]
        return data

    def _fill(self, deadline: float) -> None:
        # 0 would mean a socket that does not wait, and infinity is refused.
        self._socket.settimeout(max(0.001, min(deadline - time.monotonic(), 1e6)))
        try:
            data = self._socket.recv(65536)
        except TimeoutError:
            raise
        except OSError as error:
            raise GdbError("the connection broke") from error
        if not data:
            raise GdbError("the connection is closed")
        self._buffer += data


def from_hex(answer: bytes) -> bytes:
    """The bytes of an answer in hexadecimal. Raises GdbError for any other answer."""
    try:
        return bytes.fromhex(answer.decode("ascii"))
    except ValueError as error:
        raise GdbError(f"expected bytes, found {answer[:40]!r}") from error
