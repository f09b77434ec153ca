"""The progress of long work, reported to a listener that shows it."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from typing import TypeVar

Listener = Callable[[str, int, int], None]
Item = TypeVar("Item")

_listener: ContextVar[Listener | None] = ContextVar("progress", default=None)
_seconds: ContextVar[dict[str, float] | None] = ContextVar("seconds", default=None)


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


@contextlib.contextmanager
def timed() -> Iterator[dict[str, float]]:
    """The CPU seconds of each stage that ends while the block runs, by its name."""
    seconds: dict[str, float] = {}
    token = _seconds.set(seconds)
    try:
        yield seconds
    finally:
        _seconds.reset(token)


@contextlib.contextmanager
def stage(name: str) -> Iterator[None]:
    """Measure the block as a stage, or, as a decorator, each call of a function. A stage is in no
    other one."""
    seconds, start = _seconds.get(), time.process_time()
    try:
        yield
    finally:
        if seconds is not None:
            seconds[name] = seconds.get(name, 0.0) + time.process_time() - start
