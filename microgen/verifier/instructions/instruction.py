"""The effects of instructions, in one language for all instruction sets and for all proofs.

A decoder (``arm``, ``riscv``) reads the text of an instruction once, into an ``Effect``. Abstract
domains give effects a meaning: ``machine`` follows the stack pointer and pointers to functions, and
``runner_walk/execution`` follows a runner's arguments. A domain refuses, or forgets, the operations
that it does not list.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class Register:
    """The value of a register before the instruction."""

    name: str


@dataclass(frozen=True, slots=True)
class Number:
    """An immediate value."""

    value: int


@dataclass(frozen=True, slots=True)
class Relative:
    """The instruction's address plus ``offset``, rounded down to ``alignment`` bytes."""

    offset: int
    alignment: int = 1

    def at(self, address: int) -> int:
        """The number, for an instruction at an address."""
        return address + self.offset & -self.alignment


@dataclass(frozen=True, slots=True)
class UnknownSource:
    """A value that no domain knows, such as a register that is shifted first."""

    text: str


Source = Register | Number | Relative | UnknownSource


@dataclass(frozen=True, slots=True)
class EffectiveAddress:
    """``base + offset``, or ``base + (index << shift)`` if there is an index."""

    base: Source
    offset: int = 0
    index: str = ""
    shift: int = 0


@dataclass(frozen=True, slots=True)
class Access:
    """A load or store of one or more values of ``size`` bytes in a row from an address."""

    address: EffectiveAddress
    is_store: bool
    size: int = 4
    is_signed: bool = False


@dataclass(frozen=True, slots=True)
class Update:
    """A register that an access changes by ``change`` bytes: the base of its address with
    writeback. None: by an unknown number."""

    register: str
    change: int | None


# Conditions by Arm's names (DDI 0553, "Conditional execution"), each with its opposite.
_PAIRS = ("eq ne", "cs cc", "hs lo", "mi pl", "vs vc", "hi ls", "ge lt", "gt le")
OPPOSITE = dict(pair.split() for pair in _PAIRS)
OPPOSITE |= {second: first for first, second in OPPOSITE.items()}
CONDITIONS = frozenset({*OPPOSITE, "al"})


@dataclass(frozen=True, slots=True)
class Predicate:
    """A condition of two values, by Arm's name; of the flags if there are no values."""

    condition: str
    values: tuple[Source, Source] | None = None


FlowKind = Literal[
    "next", "stop", "branch", "jump", "call", "indirect jump", "indirect call", "return", "switch"
]


@dataclass(frozen=True, slots=True)
class ControlFlow:
    """The places at which execution continues. ``kind``:

    - "next": at the instruction after it. "stop": nowhere.
    - "branch", "jump", "call": at the place that the instruction names, after a branch only if its
      ``test`` holds, which is None if no domain decides it.
    - "indirect jump", "indirect call", "return": at ``target``, or if that is None, at the value
      that the effect writes into the program counter.
    - "switch": at an entry of the table after the instruction.

    A call puts the return address into ``link``.
    """

    kind: FlowKind
    target: EffectiveAddress | None = None
    link: str = ""
    test: Predicate | None = None


NEXT = ControlFlow("next")


@dataclass(frozen=True, slots=True)
class Effect:
    """The effect of an instruction on registers and memory, and the place where execution goes on.

    ``operation`` names a function of ``sources``. The only one of ``targets`` gets its value. A
    binary operation with one source has its target as the first one. Other operations:

    - "": none. "havoc": the targets get unknown values.
    - "load" of one general register, "load several", "load vector", "store": ``access`` says from
      or to where; a store's ``sources`` are the values.
    - "move words": each target gets the source at its place.
    - "select": the first source if ``test`` holds, otherwise the second, of which "select
      increment", "select inverse" and "select negative" compute something.
    - "compare", "compare sum", "compare and", "compare xor": only set the flags.
    - "install": the source becomes the trap handler; without a source it is unknown.
    - "unmodelled": no domain computes it. "undefined": no domain can tell which registers it
      changes.

    ``clobbers`` has every register that the instruction may change, except by ``update``, and may
    have more. ``reads`` has the registers that its text names as sources, and ``address`` the
    registers of its address. A register of Arm's FPU is named by its single-precision registers.
    """

    operation: str
    targets: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
    sets_flags: bool = False
    test: Predicate | None = None
    access: Access | None = None
    update: Update | None = None
    flow: ControlFlow = NEXT
    clobbers: frozenset[str] = frozenset()
    reads: frozenset[str] = frozenset()
    address: frozenset[str] = frozenset()


Decoder = Callable[[str, tuple[str, ...]], Effect]


def decoder(decode: Decoder) -> Decoder:
    """The decoder that calls ``decode`` with mnemonic and operands, and returns an unknown effect
    if ``decode`` raises LookupError or ValueError, because objdump reads data as instructions, too.
    """

    # The same instruction with the same operands is in many places.
    @functools.lru_cache(2**14)
    def decoded(name: str, operands: tuple[str, ...]) -> Effect:
        try:
            return decode(name, operands)
        except (LookupError, ValueError):
            return UNDEFINED

    return decoded


NOTHING = Effect("")
UNDEFINED = Effect("undefined")

# The operations that have the same meaning in each domain if the operands are numbers. A
# register's shift by a register takes its lowest byte on Arm (DDI 0553, "Shift operations"), its
# lowest five bits on RV32.
OF_NUMBERS: Mapping[str, Callable[[int, int], int]] = {
    "and not": lambda a, b: a & ~b,
    "xor": lambda a, b: a ^ b,
    "multiply": lambda a, b: a * b,
    "shift left": lambda a, b: a << min(b & 255, 32),
    "shift left modulo": lambda a, b: a << b % 32,
    "shift right": lambda a, b: a >> min(b & 255, 32),
    "shift right modulo": lambda a, b: a >> b % 32,
    "move top": lambda a, b: a & 0xFFFF | b << 16,
}


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction. ``mnemonic`` is without width (``.w``). Inside an IT block it is also
    without the condition, which is in ``condition``. Operands are as objdump prints them.
    ``encoding`` has the instruction's bytes in memory's order.

    If several instructions in a row have one condition, only the first has it here, because the
    others run if and only if the first does. If the condition is not met, execution continues at
    ``skip_to``, the address after the last of them.
    """

    address: int
    size: int
    mnemonic: str
    operands: tuple[str, ...]
    condition: str = ""
    skip_to: int = 0
    encoding: bytes = b""
    effect: Effect = field(default=UNDEFINED, repr=False, compare=False)

    @property
    def is_conditional(self) -> bool:
        """Whether execution may skip the instruction."""
        return bool(self.condition)

    @property
    def next(self) -> int:
        """The address after the instruction."""
        return self.address + self.size

    @property
    def target(self) -> int:
        """The address of a direct branch, from its last operand, ``<address> <name>``."""
        return int(self.operands[-1].split()[0], 16)

    def __str__(self) -> str:
        return f"{self.mnemonic} {', '.join(self.operands)}"
