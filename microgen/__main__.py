"""``microgen`` and ``python -m microgen``: signals are handled before the long imports."""

from __future__ import annotations

import gc
import importlib
import os
import signal
import sys
from types import FrameType
from typing import NoReturn

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main() -> int:
    """Run one command; return its exit code, or 128 plus the number of the signal that ended it."""
    _answer(_leave)
    # Each of numpy's threads takes time to start, and no array is large enough for a second one.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.disable()  # nothing that modules define is garbage
    cli = importlib.import_module("microgen.cli")
    for name in cli.asked(sys.argv[1:]):
        importlib.import_module(f"microgen.commands.{name}")
    gc.freeze()
    gc.enable()
    _answer(_interrupt)
    try:
        return int(cli.main())
    finally:
        _answer(_leave)


def _answer(handler: signal._HANDLER) -> None:
    for number in _ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup ignores signals like this
            signal.signal(number, handler)


def _leave(number: int, _frame: FrameType | None) -> NoReturn:
    """Exit while nothing has to be undone: during imports an exception may become another one."""
    os.write(2, b"microgen: interrupted\n")
    os._exit(128 + number)


def _interrupt(number: int, _frame: FrameType | None) -> NoReturn:
    """Let every block undo its work; further signals wait for that."""
    _answer(signal.SIG_IGN)
    raise KeyboardInterrupt(number)


if __name__ == "__main__":
    sys.exit(main())
