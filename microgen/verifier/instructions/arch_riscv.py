"""RISC-V, RV32 with M and C, for ``verify``: control flow, trap vector, build attributes.

A core starts at the start of flash without a stack. Code sets ``sp``, and sets ``mtvec`` to the
trap handler. A trap pushes nothing. The handler runs on the program's stack, or on another one that
it sets itself. Sources: The RISC-V Instruction Set Manual, volumes I and II; RISC-V ELF psABI.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Literal

from microgen.target.board import Board
from microgen.target.cpu import Cpu
from microgen.verifier.elf.elf import Elf
from microgen.verifier.instructions import riscv
from microgen.verifier.instructions.architecture import Code, Control, Instruction
from microgen.verifier.instructions.values import ENTRY, Registers, Value

_STACK_TOP = "__stack_top"  # from the linker script
_GLOBAL_POINTER = "__global_pointer$"  # from the linker script, if gp is used
_PRESERVED = frozenset({"sp", "gp", "tp", *(f"s{i}" for i in range(12))})

_BRANCHES = re.compile(r"b(eq|ne|lt|ge|gt|le)z?|b(lt|ge|gt|le)u")
_NEXT = Control("next")
_RETURNS = ("ret", "mret", "sret", "uret")
_VECTOR_ALIGNMENT = 4  # the lowest two bits are the mode: 0 is one handler for all traps

# Parts of I, M and A that later versions of the manual, or the compiler, name separately.
_IMPLIED = frozenset({"zicsr", "zifencei", "zmmul", "zaamo", "zalrsc", "zca"})
# e_flags: compressed code, and two bits of how floats are passed. psABI, "File Header".
_RVC, _FLOAT_ABI, _SINGLE = 1, 6, 2
_ABI_LETTERS = {"soft": "", "single": "f", "double": "d"}
_VERSION = re.compile(r"\d+p\d+")
_CANONICAL_ORDER = "iemafdqlcbkjtpvh"


class RiscV:
    """RV32 with M and C, optionally A and F; machine mode."""

    elf_machine = "EM_RISCV"
    stack_alignment = 16
    falls_through_unless_last = frozenset({"jal", "jalr", "ebreak", "ecall"})

    def parse(self, text: str) -> dict[int, Instruction]:
        """As in ``Architecture``."""
        return riscv.parse(text)

    def machine(self, constant: Callable[[int], int | None], stack_top: int) -> riscv.Machine:
        """As in ``Architecture``."""
        return riscv.Machine(constant, stack_top)

    def entry(self, code: Code, start: int) -> Registers:
        """The return address; the global pointer if the program has one; a stack pointer, except
        at the reset."""
        known = {**ENTRY, "ra": Value("link", 0)}
        if start == code.reset:
            return {"sp": Value("const", 0)}
        gp = code.elf.named(_GLOBAL_POINTER)
        return {**known, "gp": Value("const", gp[0].address)} if gp else known

    def after_call(self, registers: Registers) -> Registers:
        """The registers that the procedure call standard preserves."""
        return {name: value for name, value in registers.items() if name in _PRESERVED}

    def control(self, instruction: Instruction, registers: Registers, _code: Code) -> Control:
        """As in ``Architecture``."""
        kind = _kind(instruction.mnemonic)
        if kind in ("branch", "jump"):
            return Control(kind, Value("const", instruction.target))
        if kind == "call":
            return Control("call", _callee(instruction, registers))
        if kind == "register jump":
            return _register_jump(instruction, registers)
        if kind in ("return", "stop"):
            return Control(kind)
        if riscv.sets_trap_vector(instruction):
            return Control("handler", _installed(instruction, registers))
        return _NEXT

    def vector_table(self, _board: Board) -> None:
        """None: there is no table, because ``mtvec`` has the handler's address."""
        return

    def reset(self, _elf: Elf, board: Board) -> int:
        """The start of flash."""
        return board.vectors

    def stack_top(self, elf: Elf, _board: Board) -> int:
        """The linker script's symbol. Following the program shows that it sets ``sp`` to this."""
        symbols = elf.named(_STACK_TOP)
        return symbols[0].address if symbols else 0

    def vectors(
        self, elf: Elf, board: Board, installed: Callable[[], Iterable[int]]
    ) -> Mapping[str, int]:
        """Reset, and every value that ``mtvec`` is set to; 0 if it is never set."""
        traps = sorted(installed()) or [0]
        return (
            {"reset": self.reset(elf, board)}
            | {riscv.TRAP_VECTOR: traps[0]}
            | {f"{riscv.TRAP_VECTOR} ({n})": trap for n, trap in enumerate(traps[1:], 2)}
        )

    def handlers(self, _elf: Elf, _board: Board, installed: Iterable[int]) -> Iterable[int]:
        """The handlers that the program installs."""
        return installed

    def vector_problem(self, address: int) -> str:
        """As in ``Architecture``. The hardware ignores the lowest bits, or uses them as a mode."""
        return "is not aligned to 4" if address % _VECTOR_ALIGNMENT else ""

    def attributes(self, cpu: Cpu, elf: Elf) -> tuple[Mapping[str, str], Mapping[str, str]]:
        """The instruction set without versions and implied names, because the linker merges these
        with libgcc's; the stack's alignment; the float calling convention."""
        wanted = {
            **dict(cpu.attributes),
            "float ABI": "single" if cpu.is_hard_float else "soft",
            "e_flags": hex(_RVC | (_SINGLE if cpu.is_hard_float else 0)),
        }
        return _canonical(wanted), {**_canonical(elf.attributes), "e_flags": hex(elf.flags)}

    def flags_problem(self, elf: Elf) -> str:
        """As in ``Architecture``: RV32E, which has fewer registers, and bits that are not known."""
        known = elf.flags & ~(_RVC | _FLOAT_ABI) == 0
        return "" if known else f"e_flags are {elf.flags:#x}, expected RV32I's"

    def abi_problem(self, flags: Iterable[str], elf: Elf) -> str:
        """As in ``Architecture``. Compilers differ in what it is without a flag."""
        said = [flag for flag in flags if flag.startswith("-mabi=")]
        asked, wanted = said[-1] if said else "no -mabi", elf.attributes["float ABI"]
        is_same = asked == f"-mabi=ilp32{_ABI_LETTERS.get(wanted)}"
        return "" if is_same else f"{asked}, and the ELF's float ABI is {wanted}"

    def missing(self, cpu: Cpu, elf: Elf) -> str:
        """Every extension of the CPU must be among those that the linker has merged."""
        wanted = _letters(dict(cpu.attributes)["Tag_RISCV_arch"])
        found = _letters(elf.attributes.get("Tag_RISCV_arch", ""))
        return ", ".join(sorted(wanted - found))


@functools.lru_cache(2**10)
def _kind(
    name: str,
) -> Literal["next", "branch", "jump", "call", "register jump", "return", "stop"]:
    """How execution goes on after an instruction, as far as its mnemonic says it: the kind of its
    ``Control``, except for jumps through a register."""
    if _BRANCHES.fullmatch(name):
        return "branch"
    if name == "j":
        return "jump"
    if name in ("jal", "jalr"):
        return "call"
    if name == "jr":
        return "register jump"
    if name in _RETURNS:
        return "return"
    return "stop" if name == "unimp" else "next"


def _letters(architecture: str) -> set[str]:
    """The base and the extensions. Those that others imply are left out, with ``g`` spelled out."""
    base, *longer = extensions(architecture).split("_")
    letters = base[4:].replace("g", "imafd")
    return {base[:4], *letters, *longer}


def _callee(instruction: Instruction, registers: Registers) -> Value | None:
    """The target, unless the return address goes to a register other than ``ra``. libgcc's
    -msave-restore does that, and its functions change the caller's stack."""
    operands = instruction.operands
    if len(operands) > 1 and operands[0] != "ra":
        return None
    if instruction.mnemonic == "jal":
        return Value("const", instruction.target)
    return riscv.pointed(operands[-1], registers)


def _register_jump(instruction: Instruction, registers: Registers) -> Control:
    target = riscv.pointed(instruction.operands[-1], registers)
    if target == Value("link", 0) or (target is None and instruction.operands == ("ra",)):
        return Control("return")
    return Control("jump", target)


def _installed(instruction: Instruction, registers: Registers) -> Value | None:
    if instruction.mnemonic != "csrw":
        return None
    value = registers.get(instruction.operands[-1])
    is_direct = value is not None and value.base == "const" and value.offset % 2 == 0
    return value if is_direct else None


def _canonical(attributes: Mapping[str, str]) -> dict[str, str]:
    architecture = attributes.get("Tag_RISCV_arch", "")
    return {**attributes, "Tag_RISCV_arch": extensions(architecture)}


def extensions(architecture: str) -> str:
    """``rv32i2p1_m2p0_c2p0_zmmul1p0`` as ``rv32imc``: without versions and implied extensions."""
    first, *others = (_VERSION.sub("", name) for name in architecture.split("_"))
    width, letters = first[:4], [*first[4:], *(name for name in others if len(name) == 1)]
    letters.sort(key=_CANONICAL_ORDER.find)
    longer = sorted({name for name in others if len(name) > 1} - _IMPLIED)
    return "_".join([width + "".join(letters), *longer])
