"""The interface between the walk through a runner and instruction sets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Protocol

from microgen.verifier.aot.memory import Memory
from microgen.verifier.aot.values import State, Value
from microgen.verifier.instructions.architecture import Instruction


@dataclass(frozen=True, slots=True)
class Convention:
    """A procedure call standard: the registers of the first arguments, the result's, the return
    address's, and those that a function preserves."""

    arguments: tuple[str, ...]
    result: str
    link: str
    preserved: frozenset[str]


@dataclass(frozen=True, slots=True)
class Onward:
    """Where a path continues: at the next instruction, at ``target``, or, for a call, at ``target``
    with the next instruction as the return address in the register ``link``."""

    kind: Literal["next", "jump", "call"]
    target: Value | None = None
    link: str = ""


NEXT = Onward("next")


class Cpu(Protocol):
    """Executes instructions on values."""

    @property
    def convention(self) -> Convention:
        """The procedure call standard."""

    @property
    def code_bit(self) -> int:
        """What is added to the address of code in a pointer: 1 for Thumb."""

    def step(self, instruction: Instruction, state: State, memory: Memory, /) -> Onward:
        """Change the registers, stack and flags as the instruction does.

        Raises UndecidedError, before anything is changed, if the path has to divide, and
        CannotFollowError if the effect is not known. Any LookupError or ValueError means that the
        instruction's text cannot be read.
        """


def require_all(values: Iterable[Value | None]) -> list[Value]:
    """The values if all are known; otherwise an empty list."""
    found = list(values)
    known = [value for value in found if value is not None]
    return known if len(known) == len(found) else []
