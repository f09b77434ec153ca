"""The progress of long work, reported to a listener that shows it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from typing import TypeVar

Listener = Callable[[str, int, int], None]
Item = TypeVar("Item")

_listener: ContextVar[Listener | None] = ContextVar("progress", default=None)


@contextlib.contextmanager
def shown(listener: Listener) -> Iterator[None]:
    """While the block runs, call ``listener(what, done, total)`` for everything that is counted."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def count(what: str, done: int, total: int) -> None:
    """Report that ``done`` of ``total`` are done; ``what`` names them, for example "samples"."""
    listener = _listener.get()
    if listener is not None:
        listener(what, done, total)


def counted(what: str, items: Iterable[Item], total: int) -> Iterator[Item]:
    """The items; each is counted when it is done."""
    count(what, 0, total)
    for number, item in enumerate(items, 1):
        yield item
        count(what, number, total)
