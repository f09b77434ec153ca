"""The files of a firmware that runs on a board: samples, results and the console, all in memory.

The firmware has no other files, so no request of the firmware reaches a file of this machine.
"""

from __future__ import annotations

from collections.abc import Callable

from microgen.running.runner.qemu import INPUT, OUTPUT

STDIN, STDOUT, STDERR = 0, 1, 2
_INPUT, _OUTPUT = 3, 4  # handles, after the console's
_CONSOLE_LIMIT = 1 << 20  # bytes; later text is dropped

# Numbers of errors in the protocol ("Debugging with GDB", "Errno Values").
EPERM, ENOENT, EBADF, EINVAL, ENOSPC, ESPIPE = 1, 2, 9, 22, 28, 29


class RefusedError(Exception):
    """A request of the firmware is refused with the error ``number``."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class Files:
    """The files of one run. ``samples`` are the bytes of the input file, None if there is none.

    At most ``room`` bytes of results are taken. ``grown`` is called with the number of these bytes
    whenever the results grow. ``opened`` says whether the firmware has asked for a file yet.
    """

    def __init__(self, samples: bytes | None, room: int, grown: Callable[[int], None]) -> None:
        self.results = bytearray()
        self.opened = False
        self._samples = samples
        self._room = room
        self._grown = grown
        self._console = bytearray()
        self._at: dict[int, int] = {}  # the position in each file that is open

    @property
    def console(self) -> str:
        """The text that the firmware printed."""
        return self._console.decode(errors="replace")

    def open(self, name: str, *, writes: bool) -> int:
        """A handle of a file. A file that is opened for writing is emptied."""
        self.opened = True
        if name == INPUT and not writes and self._samples is not None:
            return self._opened(_INPUT)
        if name == OUTPUT and writes:
            self.results.clear()
            return self._opened(_OUTPUT)
        raise RefusedError(ENOENT)

    def close(self, handle: int) -> None:
        """Close a file."""
        self._position(handle)
        del self._at[handle]

    def read(self, handle: int, count: int) -> bytes:
        """At most ``count`` bytes; none at the end of the file, or from the console."""
        if handle == STDIN:
            return b""
        at = self._position(handle)
        data = self._content(handle)[at : at + max(count, 0)]
        self._at[handle] = at + len(data)
        return bytes(data)

    def room(self, handle: int) -> int:
        """The number of bytes that may be written to a file."""
        if handle in (STDOUT, STDERR):
            return _CONSOLE_LIMIT
        if handle != _OUTPUT:
            raise RefusedError(EBADF)
        return self._room - self._position(handle)

    def write(self, handle: int, data: bytes) -> int:
        """Write all the data; its size."""
        if len(data) > self.room(handle):
            raise RefusedError(ENOSPC)
        if handle != _OUTPUT:
            self._console += data[: _CONSOLE_LIMIT - len(self._console)]
            return len(data)
        at, before = self._at[handle], len(self.results)
        self.results[at : at + len(data)] = data
        self._at[handle] = at + len(data)
        if len(self.results) > before:
            self._grown(len(self.results))
        return len(data)

    def seek(self, handle: int, offset: int, whence: int) -> int:
        """Set the position, relative to the start (0), the current position (1) or the end (2)."""
        position, size = self._position(handle), len(self._content(handle))
        if whence not in (0, 1, 2) or not 0 <= (0, position, size)[whence] + offset <= size:
            raise RefusedError(EINVAL)
        self._at[handle] = (0, position, size)[whence] + offset
        return self._at[handle]

    def size(self, handle: int) -> int:
        """The size of an open file in bytes; 0 for the console."""
        if handle in (STDIN, STDOUT, STDERR):
            return 0
        self._position(handle)
        return len(self._content(handle))

    def _opened(self, handle: int) -> int:
        self._at[handle] = 0
        return handle

    def _position(self, handle: int) -> int:
        if handle not in self._at:
            raise RefusedError(ESPIPE if handle in (STDIN, STDOUT, STDERR) else EBADF)
        return self._at[handle]

    def _content(self, handle: int) -> bytes | bytearray:
        return self.results if handle == _OUTPUT else self._samples or b""
