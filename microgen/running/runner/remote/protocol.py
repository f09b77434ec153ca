"""A debugger's commands beyond reading a stopped program: writing memory and registers, flash, and
the calls with which the program uses the debugger's files.

Source: "Debugging with GDB", appendix "GDB Remote Serial Protocol". OpenOCD, pyOCD, J-Link and QEMU
implement different parts of it, so every command that is not essential has a substitute.
"""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Callable

from microgen.running.runner.gdb import GdbError, NoObjectError, Stop, Stub, from_hex, parse_stop
from microgen.running.runner.remote import description
from microgen.running.runner.remote.description import DebugRegister, Description, MemoryRegion

_ANSWER_SECONDS = 10.0
_FLASH_SECONDS = 120.0  # a large flash is erased in one command
_TEXT_LIMIT = 1 << 17  # bytes of the answer to a monitor's command
# Bytes with a meaning in packets: "}", then the byte xor 0x20.
_ESCAPED = {byte: bytes((0x7D, byte ^ 0x20)) for byte in b"#$}*"}

_INTERRUPTED = b"F-1,4,C"  # EINTR, and the user's Ctrl-C

Serve = Callable[[bytes], bytes]


class Remote(Stub):
    """A core that is stopped. ``limit``: seconds that the program may run without progress.

    ``serve`` answers the program's requests for File-I/O. Call ``progress`` before ``resume``, and
    whenever the program has made progress. After ``limit`` seconds without a call, ``resume``
    raises TimeoutError, and the program still runs. Methods raise the same errors as the methods of
    ``Stub``.
    """

    def __init__(self, connection: socket.socket, limit: float) -> None:
        super().__init__(connection, _ANSWER_SECONDS)
        self.serve: Serve = _refuse
        self.limit = limit
        self._deadline = 0.0
        self._is_interrupted = False
        self._own: set[int] = set()  # the addresses of the core's own breakpoints
        self._has_binary: bool | None = None
        # The connection is reliable, and acknowledgements would double the packets.
        if b"QStartNoAckMode+" in self._features and self.command(b"QStartNoAckMode") == b"OK":
            self._acknowledges = False

    def describe(self) -> Description:
        """The server's description of the core. QEMU accepts no writes to registers before this
        request."""
        return description.read(lambda name: self._text("features", name))

    def memory_map(self) -> tuple[MemoryRegion, ...]:
        """The server's memories, or none if it has no memory map."""
        return description.regions(self._text("memory-map", ""))

    def monitor(self, text: str) -> str:
        """The server's answer to a command of its own command language; empty if it has none."""
        reply = self.command(b"qRcmd," + text.encode().hex().encode())
        answer = b""
        while reply[:1] == b"O" and reply != b"OK" and len(answer) < _TEXT_LIMIT:
            answer += from_hex(reply[1:])
            reply = self._receive()
        if not re.fullmatch(rb"OK|E..|", reply):
            answer += from_hex(reply)
        return answer.decode(errors="replace")

    def halt_reason(self) -> Stop:
        """The reason why the core is stopped."""
        return parse_stop(self.command(b"?"))

    def set_register(self, register: DebugRegister, value: int) -> None:
        """Write a register, little-endian."""
        if value >> 8 * register.nbytes:
            raise GdbError(f"register {register.number} is too small for {value:#x}")
        data = value.to_bytes(register.nbytes, "little").hex().encode()
        self._expect_ok(b"P%x=%b" % (register.number, data))

    def register(self, register: DebugRegister) -> int:
        """The value of a register."""
        data = from_hex(self.command(b"p%x" % register.number))
        if not data:
            raise GdbError(f"no register of number {register.number}")
        return int.from_bytes(data, "little")

    def write(self, address: int, data: bytes) -> None:
        """Write bytes to RAM, in binary form if the server knows it, otherwise in hexadecimal."""
        if self._has_binary is None:
            # GDB, too, tests for binary writes with a write of 0 bytes.
            self._has_binary = self.command(b"X%x,0:" % address) == b"OK"
        for at in range(0, len(data), self._chunk):
            part = data[at : at + self._chunk]
            if self._has_binary:
                body = b"X%x,%x:%b" % (address + at, len(part), escaped(part))
            else:
                body = b"M%x,%x:%b" % (address + at, len(part), part.hex().encode())
            answer = self.command(body)
            if answer != b"OK":
                raise GdbError(f"{address + at:#x} cannot be written ({answer[:40]!r})")

    def erase(self, address: int, size: int) -> None:
        """Erase whole blocks of flash."""
        self._slowly(b"vFlashErase:%x,%x" % (address, size))

    def program(self, address: int, data: bytes) -> None:
        """Write to erased flash. Flash is certain to have the bytes only after ``programmed``."""
        for at in range(0, len(data), self._chunk):
            part = data[at : at + self._chunk]
            self._slowly(b"vFlashWrite:%x:%b" % (address + at, escaped(part)))

    def programmed(self) -> None:
        """Finish the writing that ``erase`` and ``program`` began."""
        self._slowly(b"vFlashDone")

    def insert_breakpoint(self, address: int, kind: int) -> None:
        """Insert a breakpoint. Flash allows only the core's own breakpoints, so a free one of these
        is taken first."""
        if self.command(b"Z1,%x,%x" % (address, kind)) == b"OK":
            self._own.add(address)
        else:
            super().insert_breakpoint(address, kind)

    def remove_breakpoint(self, address: int, kind: int) -> None:
        """Undo ``insert_breakpoint``."""
        if address in self._own:
            self._own.remove(address)
            self._expect_ok(b"z1,%x,%x" % (address, kind))
        else:
            super().remove_breakpoint(address, kind)

    def progress(self) -> None:
        """The program gets its whole time limit again."""
        self._deadline = time.monotonic() + self.limit

    def _stop(self) -> Stop:
        while time.monotonic() < self._deadline:  # a server may send messages without end
            reply = self._receive(self._deadline)
            if reply[:1] == b"F":
                self._send(_INTERRUPTED if self._is_interrupted else self.serve(reply))
            elif reply[:1] != b"O":  # the server's answer
                return parse_stop(reply)
        raise TimeoutError

    def interrupt(self) -> Stop:
        """Stop the program now, or with the request that it has just made."""
        self._deadline = time.monotonic() + _ANSWER_SECONDS
        self._is_interrupted = True
        try:
            return super().interrupt()
        finally:
            self._is_interrupted = False

    def _text(self, kind: str, annex: str) -> str:
        """A text that the server keeps, empty if it has none."""
        if not any(one.startswith(f"qXfer:{kind}:read+".encode()) for one in self._features):
            return ""
        try:
            return self.transfer(kind, annex, kind).decode(errors="replace")
        except NoObjectError:
            return ""

    def _slowly(self, body: bytes) -> None:
        self._limit = _FLASH_SECONDS
        try:
            self._expect_ok(body)
        finally:
            self._limit = _ANSWER_SECONDS


def escaped(data: bytes) -> bytes:
    """Binary data with the escapes of a packet."""
    return b"".join(_ESCAPED.get(byte, bytes((byte,))) for byte in data)


def _refuse(request: bytes) -> bytes:
    raise GdbError(f"nobody asked for {request[:40]!r}")
