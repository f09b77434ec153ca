"""Loads and stores of a runner: constants of the image, its stack, its caller's structures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from microgen.verifier.runner_walk.values import (
    STACK,
    CannotFollowError,
    PathState,
    Value,
    const,
    member,
)

_WORD_BYTES = 4
_MOST_BYTES = 2**16  # that one call may fill or copy


@dataclass(frozen=True, slots=True)
class RunnerMemory:
    """``constant`` reads a word of read-only memory by its address and returns None elsewhere.
    ``own`` are the bytes above the entry's stack pointer that belong to the runner: its parameters
    that are passed on the stack."""

    constant: Callable[[int], int | None]
    own: int

    def load(self, state: PathState, at: Value, size: int = _WORD_BYTES) -> Value:
        """The value of ``size`` bytes; None if it is not known."""
        if at is None:
            return None
        if at.is_constant:
            return self._constant(at.offset, size)
        if size != _WORD_BYTES or at.offset % _WORD_BYTES:
            return None
        if at.base == STACK:
            return state.stack.get(at.offset)
        if at.base[0] == "parameter":
            index = at.base[1]
            assert isinstance(index, int)
            return member(index, at.offset)
        return None

    def _constant(self, address: int, size: int) -> Value:
        word = self.constant(address & ~3)
        shift = 8 * (address & 3)  # little-endian
        if word is None or (address & 3) + size > _WORD_BYTES:
            return None
        return const(word >> shift & 2 ** (8 * size) - 1)

    def store(self, state: PathState, at: Value, value: Value, size: int = _WORD_BYTES) -> None:
        """Write ``size`` bytes. Raises CannotFollowError."""
        # A runner writes its own stack and nothing else.
        if at is None or at.base != STACK or at.offset + size > self.own:
            raise CannotFollowError("writes memory that is not its stack")
        # Words that it overlaps are no longer known.
        for word in range(at.offset & ~3, at.offset + size, _WORD_BYTES):
            state.stack.pop(word, None)
        if value is not None and size == _WORD_BYTES and at.offset % _WORD_BYTES == 0:
            state.stack[at.offset] = value

    def fill(self, state: PathState, at: Value, byte: Value, size: Value) -> None:
        """``memset``."""
        for i in self._words(at, size):
            known = byte is not None and byte.is_constant
            word = byte.offset % 256 * 0x01010101 if known and byte is not None else None
            self.store(state, _moved(at, i), None if word is None else const(word))

    def copy(self, state: PathState, to: Value, source: Value, size: Value) -> None:
        """``memcpy``."""
        words = [self.load(state, _moved(source, i)) for i in self._words(to, size)]
        for i, word in enumerate(words):
            self.store(state, _moved(to, i * _WORD_BYTES), word)

    def _words(self, at: Value, size: Value) -> range:
        is_known = at is not None and size is not None and size.is_constant
        if not is_known or at is None or size is None or (at.offset | size.offset) % _WORD_BYTES:
            raise CannotFollowError("fills memory of unknown size")
        if size.offset > _MOST_BYTES:
            raise CannotFollowError(f"fills {size.offset} bytes")
        return range(0, size.offset, _WORD_BYTES)


def _moved(at: Value, nbytes: int) -> Value:
    return None if at is None else at.plus(nbytes)
