"""Interrupts that end a command early: Ctrl-C, and the signals of a terminal or a shell that
closes.

There are two answers. While modules are imported, and when the work is done, nothing has to be
undone: the process ends at once. While a command works, an exception lets every block undo its
work.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
from types import FrameType
from typing import Any, NoReturn

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")  # Windows lacks the last
ENDING = tuple(getattr(signal, name) for name in _NAMES if hasattr(signal, name))
received: list[int] = []  # the signal that interrupts the command, if there was one
_SOON = 0.01  # seconds


def is_command() -> bool:
    """Whether this process is the command ``microgen`` or ``python -m microgen``, which owns its
    signals, and not a program that imports the package."""
    program = sys.argv[0] if sys.argv else ""
    if program == "-m":  # until Python has found the module
        return sys.orig_argv[-len(sys.argv)] in ("microgen", "-mmicrogen")
    folder, name = os.path.split(program)
    if name == "__main__.py":
        return os.path.basename(folder) == "microgen"
    return name in ("microgen", "microgen.exe")


def answer(handler: Any) -> None:
    """Let ``handler`` handle all these signals, except signals that nohup ignores."""
    for number in ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)


def leave(number: int, _frame: FrameType | None) -> NoReturn:
    """Exit while nothing has to be undone: during imports an exception may become another one."""
    # Not print: the signal may have interrupted a write into the same buffer, which Python then
    # refuses.
    os.write(2, b"microgen: interrupted\n")
    # A shell reports the same status for a command that the signal killed.
    os._exit(128 + number)


def interrupt(number: int, _frame: FrameType | None) -> NoReturn:
    """Let every block undo its work; further signals wait for that."""
    answer(signal.SIG_IGN)
    # The signals are ignored first, because a second one would interrupt the undoing.
    if not received:
        received.append(number)
    raise KeyboardInterrupt(received[0])


def raise_again(swallowed: Any) -> None:
    """The interpreter's hook for exceptions that it swallows, such as exceptions in finalizers.
    Ctrl-C would be lost there, so this function raises it again a moment later, outside the
    finalizer."""
    if received and issubclass(swallowed.exc_type, KeyboardInterrupt):
        if hasattr(signal, "setitimer"):
            signal.signal(signal.SIGALRM, interrupt)
            signal.setitimer(signal.ITIMER_REAL, _SOON)
        return
    sys.__unraisablehook__(swallowed)


def end_with(code: int) -> None:
    """Let the process end with ``code`` as soon as all has been done at its exit. It skips the
    interpreter's own end, in which no signal is answered any more, and which frees memory only."""
    _exit_codes[:] = [code]


_exit_codes: list[int] = []


def _end() -> None:
    if not _exit_codes:
        return
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):  # the interpreter's own end says so
        return
    os._exit(_exit_codes[0])


if is_command():
    answer(leave)
    atexit.register(_end)  # the function that is registered first is called last
