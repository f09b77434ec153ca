"""The calls by which a firmware uses its files, performed for a server that passes them on, or that
stops the core at them.

Sources: "Debugging with GDB", appendix "File-I/O Remote Protocol Extension", and Arm IHI 0100
"Semihosting for AArch32 and AArch64", which RISC-V has adopted.
"""

from __future__ import annotations

import re
import struct
import time
from collections.abc import Sequence
from typing import Protocol

from microgen.running.runner.gdb import GdbError
from microgen.running.runner.remote.files import EBADF, EPERM, STDERR, STDOUT, Files, RefusedError

_REQUEST = re.compile(rb"F([a-z]{1,16})((?:,-?[0-9a-fA-F]{1,16}(?:/[0-9a-fA-F]{1,8})?)*)")
_LONGEST_NAME = 256
_WRITES = 0x3  # O_WRONLY or O_RDWR
_FILE, _TERMINAL = 0o100600, 0o020600  # S_IFREG and S_IFCHR, for the owner

_OPEN, _CLOSE, _WRITE0, _WRITE, _READ = 0x01, 0x02, 0x04, 0x05, 0x06
_FAILED = 0xFFFFFFFF
_LONGEST_TEXT = 1 << 12
_STEP = 32  # bytes: texts are short, and may end near the end of memory

# The code at which the core stops, and its instruction's size: Thumb's bkpt 0xab; RISC-V's ebreak
# after slli x0, x0, 31 and before srai x0, x0, 7.
_CALLS = {
    "EM_ARM": (0, b"\xab\xbe", 2),
    "EM_RISCV": (-4, b"\x13\x10\xf0\x01\x73\x00\x10\x00\x13\x50\x70\x40", 4),
}


class RemoteMemory(Protocol):
    """The access to a core's memory that semihosting calls need. Methods raise GdbError and
    TimeoutError."""

    def read(self, address: int, size: int) -> bytes:
        """Bytes of memory."""
        ...

    def write(self, address: int, data: bytes) -> None:
        """Write bytes to RAM."""
        ...


def serve(request: bytes, files: Files, memory: RemoteMemory) -> bytes:
    """The answer to a request for File-I/O, with a run's files. Raises GdbError for a text that is
    not a request, and the errors of ``memory``."""
    match = _REQUEST.fullmatch(request)
    if match is None:
        raise GdbError(f"unexpected request {request[:40]!r}")
    # A pointer with a length is two arguments.
    words = match[2].replace(b"/", b",").split(b",")[1:]
    try:
        return b"F%x" % _served(match[1], [int(word, 16) for word in words], files, memory)
    except RefusedError as refused:
        return b"F-1,%x" % refused.number
    except (IndexError, ValueError) as error:
        raise GdbError(f"unexpected request {request[:40]!r}") from error


def _served(call: bytes, args: Sequence[int], files: Files, memory: RemoteMemory) -> int:
    match call:
        case b"open":
            name, size, flags, _ = args
            text = memory.read(name, min(size, _LONGEST_NAME)).split(b"\0")[0]
            return files.open(text.decode(errors="replace"), writes=bool(flags & _WRITES))
        case b"close":
            files.close(args[0])
            return 0
        case b"read":
            handle, to, count = args
            data = files.read(handle, count)
            memory.write(to, data)
            return len(data)
        case b"write":
            handle, at, count = args
            # Never read more memory than can be kept.
            return files.write(handle, memory.read(at, min(count, files.room(handle))))
        case b"lseek":
            handle, offset, whence = args
            return files.seek(handle, offset, whence)
        case b"fstat":
            handle, to = args
            memory.write(to, _status(handle, files.size(handle)))
            return 0
        case b"isatty":
            if args[0] > STDERR:
                raise RefusedError(EBADF)
            return 1
        case b"gettimeofday":
            seconds, micro = divmod(time.time_ns() // 1000, 1_000_000)
            memory.write(args[0], struct.pack(">IQ", seconds & 0xFFFFFFFF, micro))
            return 0
        case b"system" if not args[1]:  # asks for a shell, and there is none
            return 0
    # stat, rename, unlink and unknown requests need a file's name, so they are refused.
    raise RefusedError(EPERM)


def _status(handle: int, size: int) -> bytes:
    """The protocol's ``struct stat``."""
    mode = _TERMINAL if handle <= STDERR else _FILE
    # dev, inode, mode, links, user, group, rdev; size, block size, blocks; three times
    state = (0, 0, mode, 1, 0, 0, 0, size, 512, -(-size // 512), 0, 0, 0)
    # The protocol's structures are big-endian on every core.
    return struct.pack(">7I3Q3I", *state)


def skipped(machine: str, pc: int, memory: RemoteMemory) -> int | None:
    """The address after the semihosting call at ``pc``; None if no call is there."""
    before, code, size = _CALLS[machine]
    is_call = memory.read(pc + before, len(code)) == code
    return pc + size if is_call else None


def perform(operation: int, argument: int, files: Files, memory: RemoteMemory) -> int:
    """The result of a call, as the register gets it. Only calls for files and text succeed. Calls
    for time fail, because their time would be the debugger's."""
    try:
        return _performed(operation, argument, files, memory) & 0xFFFFFFFF
    except RefusedError:
        return _FAILED


def _performed(operation: int, argument: int, files: Files, memory: RemoteMemory) -> int:
    if operation == _OPEN:
        name, mode, size = _block(memory, argument, 3)
        text = memory.read(name, min(size, _LONGEST_NAME)).decode(errors="replace")
        return files.open(text, writes=mode >= 4)  # 0-3 are fopen's r, rb, r+ and r+b
    if operation == _CLOSE:
        files.close(*_block(memory, argument, 1))
        return 0
    if operation == _WRITE0:
        files.write(STDOUT, _text(memory, argument))
        return 0
    if operation == _WRITE:
        handle, at, count = _block(memory, argument, 3)
        # SYS_WRITE returns the number of bytes that were not written.
        return count - files.write(handle, memory.read(at, min(count, files.room(handle))))
    if operation == _READ:
        handle, to, count = _block(memory, argument, 3)
        data = files.read(handle, count)
        memory.write(to, data)
        # SYS_READ returns the number of bytes that were not read.
        return count - len(data)
    return _FAILED


def _block(memory: RemoteMemory, address: int, words: int) -> tuple[int, ...]:
    return struct.unpack(f"<{words}I", memory.read(address, 4 * words))


def _text(memory: RemoteMemory, address: int) -> bytes:
    data = b""
    while b"\0" not in data and len(data) < _LONGEST_TEXT:
        at = address + len(data)
        # Up to a multiple of the step, so that no read crosses the end of memory.
        data += memory.read(at, _STEP - at % _STEP)
    return data.split(b"\0")[0]
