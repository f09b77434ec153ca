"""Answers the program's calls that a server passes to its debugger.

Source: "Debugging with GDB", appendix "File-I/O Remote Protocol Extension".
"""

from __future__ import annotations

import re
import struct
import time
from collections.abc import Callable, Sequence

from microgen.running.runner.gdb import GdbError
from microgen.running.runner.remote.files import EBADF, EPERM, STDERR, Files, RefusedError
from microgen.running.runner.remote.memory import RemoteMemory

_REQUEST = re.compile(rb"F([a-z]{1,16})((?:,-?[0-9a-fA-F]{1,16}(?:/[0-9a-fA-F]{1,8})?)*)")
_LONGEST_NAME = 256
_WRITES = 0x3  # O_WRONLY or O_RDWR
_FILE, _TERMINAL = 0o100600, 0o020600  # S_IFREG and S_IFCHR, for the owner


class FileIo:
    """Answers requests with a run's files. Raises GdbError for a text that is not a request, and
    the errors of ``memory``."""

    def __init__(self, files: Files, memory: RemoteMemory) -> None:
        self._files = files
        self._memory = memory
        self._calls: dict[bytes, Callable[[Sequence[int]], int]] = {
            b"open": self._open,
            b"close": self._close,
            b"read": self._read,
            b"write": self._write,
            b"lseek": self._seek,
            b"fstat": self._fstat,
            b"isatty": self._isatty,
            b"gettimeofday": self._time,
            b"system": self._system,
        }

    def serve(self, request: bytes) -> bytes:
        """The answer to a request."""
        match = _REQUEST.fullmatch(request)
        if match is None:
            raise GdbError(f"unexpected request {request[:40]!r}")
        # stat, rename, unlink and unknown requests need a file's name, so they are refused
        call = self._calls.get(match[1], _refuse)
        try:
            return b"F%x" % call(_numbers(match[2]))
        except RefusedError as refused:
            return b"F-1,%x" % refused.number
        except (IndexError, ValueError) as error:
            raise GdbError(f"unexpected request {request[:40]!r}") from error

    def _open(self, args: Sequence[int]) -> int:
        name, size, flags, _ = args
        text = self._memory.read(name, min(size, _LONGEST_NAME)).split(b"\0")[0]
        return self._files.open(text.decode(errors="replace"), writes=bool(flags & _WRITES))

    def _close(self, args: Sequence[int]) -> int:
        self._files.close(args[0])
        return 0

    def _read(self, args: Sequence[int]) -> int:
        handle, to, count = args
        data = self._files.read(handle, count)
        self._memory.write(to, data)
        return len(data)

    def _write(self, args: Sequence[int]) -> int:
        handle, at, count = args
        size = min(count, self._files.room(handle))  # never read more memory than can be kept
        return self._files.write(handle, self._memory.read(at, size))

    def _seek(self, args: Sequence[int]) -> int:
        handle, offset, whence = args
        return self._files.seek(handle, offset, whence)

    def _fstat(self, args: Sequence[int]) -> int:
        handle, to = args
        size = self._files.size(handle)
        mode = _TERMINAL if handle <= STDERR else _FILE
        # dev, inode, mode, links, user, group, rdev; size, block size, blocks; three times
        state = (0, 0, mode, 1, 0, 0, 0, size, 512, -(-size // 512), 0, 0, 0)
        # The protocol's structures are big-endian on every core.
        self._memory.write(to, struct.pack(">7I3Q3I", *state))
        return 0

    def _isatty(self, args: Sequence[int]) -> int:
        if args[0] > STDERR:
            raise RefusedError(EBADF)
        return 1

    def _time(self, args: Sequence[int]) -> int:
        seconds, micro = divmod(time.time_ns() // 1000, 1_000_000)
        self._memory.write(args[0], struct.pack(">IQ", seconds & 0xFFFFFFFF, micro))
        return 0

    def _system(self, args: Sequence[int]) -> int:
        """A request without a command asks for a shell, and there is none."""
        if args[1]:
            raise RefusedError(EPERM)
        return 0


def _refuse(_: Sequence[int]) -> int:
    raise RefusedError(EPERM)


def _numbers(text: bytes) -> list[int]:
    """The arguments; a pointer with a length is two of them."""
    return [int(word, 16) for word in text.replace(b"/", b",").split(b",")[1:]]
