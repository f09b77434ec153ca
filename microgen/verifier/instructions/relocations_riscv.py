"""RISC-V's relocations, and the immediates of the instructions that a linker fills in.

Sources: RISC-V ELF psABI, "Relocations"; The RISC-V Instruction Set Manual, volume I, "RV32I Base
Integer Instruction Set" and "C Standard Extension".
"""

from __future__ import annotations

from dataclasses import dataclass

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
        """The bits of the instruction that it takes."""
        return sum(((1 << count) - 1) << start for start, count, _ in self.parts)

    def value(self, instruction: int) -> int:
        """The number, with its sign."""
        bits = sum((instruction >> a & ((1 << n) - 1)) << b for a, n, b in self.parts)
        return signed(bits, max(n + b for _, n, b in self.parts))


def signed(value: int, bits: int) -> int:
    """A number of so many bits whose highest one is the sign."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


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
