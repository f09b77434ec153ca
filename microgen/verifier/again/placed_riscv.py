"""Reads a linked section for RISC-V, including code that the linker has made shorter.

Linkers replace instructions with shorter ones of the same effect ("relaxation"): a call of two
instructions by one; ``lui`` by its compressed form; a pair that makes an address by one instruction
that adds to ``gp`` or to zero; padding by less. The address is read from each form. Everything else
must be equal.
Sources: RISC-V ELF psABI, "Relocations" and "Linker Relaxation"; The RISC-V Instruction Set Manual,
volume I, "RV32I Base Integer Instruction Set" and "C Standard Extension".
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from microgen.verifier.again.placement import UNKNOWN, PlacedTarget, Reading, signed
from microgen.verifier.again.regenerated import ImpossibleError
from microgen.verifier.elf.elf import Elf
from microgen.verifier.elf.relocatable import Label, ObjectPiece, Relocation

# Types of relocations, R_RISCV_*, by the psABI's numbers.
NONE, WORD, BRANCH, JAL, CALL, CALL_PLT = 0, 1, 16, 17, 18, 19
PCREL_HI20, PCREL_LO12_I, PCREL_LO12_S, HI20, LO12_I, LO12_S = 23, 24, 25, 26, 27, 28
ALIGN, RVC_BRANCH, RVC_JUMP, RELAX = 43, 44, 45, 51


@dataclass(frozen=True, slots=True)
class Immediate:
    """A signed immediate of an instruction of ``nbytes``. ``parts`` are the first bit in the
    instruction, the number of bits, the first bit in the value."""

    nbytes: int
    parts: tuple[tuple[int, int, int], ...]

    @property
    def bits(self) -> int:
        """The bits of the instruction that contain the immediate."""
        return sum(((1 << count) - 1) << start for start, count, _ in self.parts)

    def value(self, instruction: int) -> int:
        """The signed number in an instruction."""
        bits = sum((instruction >> a & ((1 << n) - 1)) << b for a, n, b in self.parts)
        return signed(bits, max(n + b for _, n, b in self.parts))


# The manual's "Immediate Encoding Variants".
I_TYPE = Immediate(4, ((20, 12, 0),))
S_TYPE = Immediate(4, ((7, 5, 0), (25, 7, 5)))
B_TYPE = Immediate(4, ((8, 4, 1), (25, 6, 5), (7, 1, 11), (31, 1, 12)))
U_TYPE = Immediate(4, ((12, 20, 12),))
J_TYPE = Immediate(4, ((21, 10, 1), (20, 1, 11), (12, 8, 12), (31, 1, 20)))
# Formats CI, CB and CJ of compressed instructions.
C_LUI = Immediate(2, ((2, 5, 12), (12, 1, 17)))
C_BRANCH = Immediate(2, ((3, 2, 1), (10, 2, 3), (2, 1, 5), (5, 2, 6), (12, 1, 8)))
C_JUMP = Immediate(
    2,
    (
        *((3, 3, 1), (11, 1, 4), (2, 1, 5), (7, 1, 6), (6, 1, 7)),
        *((9, 2, 8), (8, 1, 10), (12, 1, 11)),
    ),
)

# Relocations whose instruction keeps its form, relative to its address.
JUMPS = {BRANCH: B_TYPE, JAL: J_TYPE, RVC_BRANCH: C_BRANCH, RVC_JUMP: C_JUMP}
UPPERS = (HI20, PCREL_HI20)
LOWERS = {LO12_I: I_TYPE, LO12_S: S_TYPE, PCREL_LO12_I: I_TYPE, PCREL_LO12_S: S_TYPE}
PCREL_LOWERS = (PCREL_LO12_I, PCREL_LO12_S)


_GLOBAL_POINTER = "__global_pointer$"
_GP = 3  # x3
_WORD = 0xFFFFFFFF
# addi x0, x0, 0 and c.nop.
_NOP, _C_NOP = (0x13).to_bytes(4, "little"), (0x1).to_bytes(2, "little")


@dataclass(frozen=True, slots=True)
class _Use:
    """A relocation whose instruction is at the address ``place``. ``number`` is label + addend -
    base. ``form`` is the part of the number that the instruction contains: all of it, its "upper"
    or its "lower" part, or nothing, because the linker removed the instruction ("gone")."""

    relocation: Relocation
    place: int
    form: str
    number: int = 0
    base: int = 0

    @property
    def key(self) -> tuple[int, int]:
        """A key that is equal for the upper and the lower part of one number."""
        return self.relocation.addend, self.base

    @property
    def offset(self) -> int:
        """The number minus the label's value."""
        return self.relocation.addend - self.base


def read(piece: ObjectPiece, program: Elf, address: int) -> Reading:
    """The section at an address, as ``Reader``."""
    walk = _Walk(piece, program, address)
    walk.all()
    targets = [target for group in _by_label(walk) for target in _targets(group)]
    return Reading(tuple(targets), tuple(walk.differing), tuple(walk.moves))


class _Walk:
    """Goes through a section and the program at the same time. ``before`` is the offset in the
    section, ``after`` the offset in the program."""

    def __init__(self, piece: ObjectPiece, program: Elf, address: int) -> None:
        self.piece, self.program, self.address = piece, program, address
        self.data = piece.data or b""
        self.before = self.after = 0
        self.uses: list[_Use] = []
        self.differing: list[int] = []
        self.moves: list[tuple[int, int]] = [(0, 0)]

    @property
    def place(self) -> int:
        """The address that is read next."""
        return self.address + self.after

    def all(self) -> None:
        """Read the whole section."""
        by_offset = sorted(self.piece.relocations, key=lambda own: own.offset)
        for offset, group in itertools.groupby(by_offset, lambda own: own.offset):
            owns = {own.kind: own for own in group if own.kind != NONE}
            is_relaxed = owns.pop(RELAX, None) is not None
            self._equal(offset - self.before)
            self._one(owns, is_relaxed)
        self._equal(len(self.data) - self.before)

    def _one(self, owns: Mapping[int, Relocation], is_relaxed: bool) -> None:
        if not owns:
            return
        kind, own = next(iter(owns.items()))
        if len(owns) > 1 or kind not in _READ:
            kinds = " and ".join(map(str, sorted(owns)))
            raise ImpossibleError(f"relocation {kinds} of {self.piece.name} is not understood")
        _READ[kind](self, own, is_relaxed)

    def _equal(self, nbytes: int) -> None:
        """The next ``count`` bytes must be equal in both."""
        expected = self.data[self.before : self.before + max(nbytes, 0)]
        self._bytes(expected)
        self._passed(len(expected), len(expected))

    def _bytes(self, expected: bytes, at: int = 0) -> None:
        """The program must have these bytes next, or ``at`` bytes later."""
        place = self.place + at
        linked = self.program.read(place, len(expected))
        if linked is None:
            self.differing.append(place)
        elif linked != expected:
            places = (i for i, (a, b) in enumerate(zip(linked, expected, strict=True)) if a != b)
            self.differing.extend(place + i for i in places)

    def _passed(self, before: int, after: int) -> None:
        self.before += before
        self.after += after
        self.moves.append((self.before, self.after))

    def _expected(self, nbytes: int = 4, at: int = 0) -> int:
        """The instruction of the object file."""
        start = self.before + at
        return int.from_bytes(self.data[start : start + nbytes], "little")

    def _linked(self, nbytes: int = 4, at: int = 0) -> int:
        """The instruction of the program; 0, which is not an instruction, if there is none."""
        return int.from_bytes(self.program.read(self.place + at, nbytes) or b"", "little")

    def _use(self, own: Relocation, form: str, number: int = 0, base: int = 0) -> None:
        self.uses.append(_Use(own, self.place, form, number & _WORD, base))

    def word(self, own: Relocation, _is_relaxed: bool) -> None:
        """An address in data."""
        self._use(own, "whole", self._linked())
        self._passed(4, 4)

    def jump(self, own: Relocation, _is_relaxed: bool) -> None:
        """A branch or a jump of one instruction."""
        field = JUMPS[own.kind]
        number = self._filled(field, self._expected(field.nbytes))
        self._use(own, "whole", self.place + number)
        self._passed(field.nbytes, field.nbytes)

    def _filled(self, field: Immediate, expected: int, at: int = 0) -> int:
        """The immediate of an instruction, which must be the expected one otherwise."""
        linked = self._linked(field.nbytes, at)
        kept = (linked & field.bits) | (expected & ~field.bits)
        self._bytes(kept.to_bytes(field.nbytes, "little"), at)
        return field.value(linked)

    def call(self, own: Relocation, is_relaxed: bool) -> None:
        """``auipc`` and ``jalr``, or one jump."""
        link = self._expected(at=4) >> 7 & 31  # rd
        short = self._short_call(link) if is_relaxed else None
        if short is None:
            number = self.place + self._filled(U_TYPE, self._expected())
            short = number + self._filled(I_TYPE, self._expected(at=4), at=4), 8
        number, nbytes = short
        self._use(own, "whole", number)
        self._passed(8, nbytes)

    def _short_call(self, link: int) -> tuple[int, int] | None:
        """The target and the size of a jump of one instruction; None for any other instruction."""
        half, whole = self._linked(2), self._linked()
        if half & 0xE003 == {0: 0xA001, 1: 0x2001}.get(link):  # c.j, c.jal
            return self.place + C_JUMP.value(half), 2
        if whole & 0xFFF == 0x6F | link << 7:  # jal
            return self.place + J_TYPE.value(whole), 4
        if whole & 0xFFFFF == 0x67 | link << 7:  # jalr relative to zero
            return I_TYPE.value(whole), 4
        return None

    def upper(self, own: Relocation, is_relaxed: bool) -> None:
        """``lui`` or ``auipc``, which the linker may have compressed or removed."""
        base = self.place if own.kind == PCREL_HI20 else 0
        same = 0xFFF  # opcode and register
        expected, linked, half = self._expected(), self._linked(), self._linked(2)
        register = expected >> 7 & 31
        if linked & same == expected & same or not is_relaxed:
            self._use(own, "upper", self._filled(U_TYPE, expected), base)
            self._passed(4, 4)
        # c.lui: funct3 is 011, op is 01, and its immediate must not be 0.
        elif not base and half & 0xEF83 == 0x6001 | register << 7 and half & C_LUI.bits:
            self._use(own, "upper", C_LUI.value(half), base)
            self._passed(4, 2)
        else:
            self._use(own, "gone", 0, base)
            self._passed(4, 0)

    def lower(self, own: Relocation, is_relaxed: bool) -> None:
        """An instruction that adds the lower part to a register, or the whole offset to gp or
        zero."""
        field, expected = LOWERS[own.kind], self._expected()
        register = self._linked() >> 15 & 31  # rs1
        fixed = self._fixed(register) if is_relaxed else None
        if register == expected >> 15 & 31 or fixed is None:
            self._use(own, "lower", self._filled(field, expected))
        else:
            expected = (expected & ~(31 << 15)) | register << 15
            self._use(own, "whole", fixed + self._filled(field, expected))
        self._passed(4, 4)

    def _fixed(self, register: int) -> int | None:
        """The value of zero or gp, which never changes; None for other registers."""
        if register == 0:
            return 0
        pointers = self.program.named(_GLOBAL_POINTER) if register == _GP else []
        return pointers[0].address if len(pointers) == 1 else None

    def align(self, own: Relocation, _is_relaxed: bool) -> None:
        """The part of the object file's padding that the address needs."""
        # psABI: the addend is the padding in bytes, and the alignment is the next power of 2 above
        # it.
        alignment = 1 << own.addend.bit_length()
        nbytes = min(-self.place % alignment, own.addend)
        self._bytes(_NOP * (nbytes // 4) + _C_NOP * (nbytes % 4 // 2))
        self._passed(own.addend, nbytes)


_READ: Mapping[int, Callable[[_Walk, Relocation, bool], None]] = {
    WORD: _Walk.word,
    **dict.fromkeys(JUMPS, _Walk.jump),
    **dict.fromkeys((CALL, CALL_PLT), _Walk.call),
    **dict.fromkeys(UPPERS, _Walk.upper),
    **dict.fromkeys(LOWERS, _Walk.lower),
    ALIGN: _Walk.align,
}


def _by_label(walk: _Walk) -> Iterator[list[_Use]]:
    uppers = {use.relocation.offset: use for use in walk.uses if use.relocation.kind == PCREL_HI20}
    groups: dict[Label, list[_Use]] = {}
    for use in walk.uses:
        own = use.relocation
        # Its relocation names the ``auipc`` to which the address is relative, not the label.
        if own.kind in PCREL_LOWERS:
            upper = uppers.get(own.label.value)
            if upper is None:
                raise ImpossibleError(f"the lower part of an address alone in {walk.piece.name}")
            own = replace(own, label=upper.relocation.label, addend=upper.relocation.addend)
            use = replace(use, relocation=own, base=0 if use.form == "whole" else upper.base)
        groups.setdefault(own.label, []).append(use)
    yield from groups.values()


def _targets(uses: list[_Use]) -> Iterator[PlacedTarget]:
    """The targets of one label's uses, with the value on which all of them agree."""
    values = {use.number - use.offset & _WORD for use in uses if use.form == "whole"}
    uppers, lowers, gone = (
        [use for use in uses if use.form == form] for form in ("upper", "lower", "gone")
    )
    values |= {_sum(upper, lower) for upper in uppers for lower in lowers}
    if not values and not lowers:
        raise ImpossibleError("the compiler loads half of an address alone")
    is_known = len(values) == 1 and not _is_stale(uppers, lowers, gone)
    value = values.pop() if is_known else UNKNOWN
    for use in uses:
        yield PlacedTarget(use.relocation.label, value, use.relocation.addend, use.place)


def _sum(upper: _Use, lower: _Use) -> int:
    """The label's value. Only its lowest bits are known from ``lower``, which may be of another
    element of the same object."""
    # The lower part is a signed number of 12 bits.
    low = signed(lower.number - lower.offset + upper.offset, 12)
    return upper.number + low - upper.offset & _WORD


def _is_stale(uppers: list[_Use], lowers: list[_Use], gone: list[_Use]) -> bool:
    """Whether an instruction adds to an upper part that nothing loads any more."""
    loaded, removed = {use.key for use in uppers}, {use.key for use in gone}
    for lower in lowers:
        if lower.key in removed or not uppers:
            return True
        if gone and lower.key not in loaded:
            raise ImpossibleError(
                "an instruction needs an upper part that the linker may have removed"
            )
    return False
