"""``microgen`` and ``python -m microgen``: signals are handled before the long imports."""

from __future__ import annotations

import gc
import importlib
import os
import sys
from collections.abc import Callable

from microgen.building import interrupts


def main() -> int:
    """Run one command; return its exit code, or 128 plus the number of the signal that ended it."""
    interrupts.answer(interrupts.leave)
    # Each of numpy's threads takes time to start, and no array is large enough for a second one.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.disable()  # nothing that modules define is garbage
    cli = importlib.import_module("microgen.interface.cli")
    for name in cli.asked(sys.argv[1:]):
        importlib.import_module(f"microgen.interface.commands.{name}")
    gc.freeze()
    gc.enable()
    sys.unraisablehook = interrupts.raise_again
    try:
        code = _answered(cli.main)
    except KeyboardInterrupt as error:  # just before the command began, or just after its end
        code = cli.interrupted(error)
    interrupts.end_with(code)
    return code


def _answered(command: Callable[[], int]) -> int:
    """The exit code of a command that an exception interrupts."""
    try:
        interrupts.answer(interrupts.interrupt)
        return command()
    finally:
        interrupts.answer(interrupts.leave)


if __name__ == "__main__":
    sys.exit(main())
