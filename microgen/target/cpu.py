"""CPU cores: the features of kernels, the flags of compilers, the attributes of an ELF."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any


class Feature(enum.Enum):
    """An instruction-set feature that a kernel variant may need."""

    DSP = "dsp"  # Armv7E-M / Armv8-M DSP extension: SMLAD and similar instructions
    FPU = "fpu"  # single-precision floating point in hardware
    FPU64 = "fpu64"  # double-precision floating point in hardware
    MVE = "mve"  # Armv8.1-M vector extension, of integers
    MVE_FLOAT = "mve_float"  # the same, of floats
    LONG_MULTIPLY = "long_multiply"  # 32x32 -> 64 bit multiply in one instruction


@dataclass(frozen=True, slots=True)
class Cpu:
    """A core. ``architecture`` is "arm", "riscv" or "host". ``cflags`` select the core for GCC.
    ``triple`` is LLVM's name of the target, empty for the host.
    ``attributes`` are the build attributes that an ELF for it must have (names as readelf -A
    prints them; the versions of RISC-V's extensions are not compared; empty if there are none).
    ``exception_frame`` is the number of bytes that hardware pushes on the stack at an exception.
    ``clang_flags`` make clang do what GCC does by default.
    ``objdump_flags`` are needed for objdump to know all of the core's instructions.
    ``since`` has the first versions of "gcc" and "llvm" that know the core, if they are recent."""

    name: str
    title: str
    architecture: str
    features: frozenset[Feature]
    cflags: tuple[str, ...]
    attributes: tuple[tuple[str, str], ...] = ()
    exception_frame: int = 0
    triple: str = ""
    objdump_flags: tuple[str, ...] = ()
    clang_flags: tuple[str, ...] = ()
    since: tuple[tuple[str, str], ...] = ()

    def flags(self, toolchain: str) -> tuple[str, ...]:
        """``cflags`` as the compilers of "gcc" or "llvm" take them; LLVM's go with ``triple``."""
        if toolchain == "gcc":
            return self.cflags
        common = (flag for flag in self.cflags if flag not in _GCC_ONLY)
        return (*common, *self.clang_flags)

    @property
    def toolchain(self) -> str:
        """The prefix of the name of Debian's GCC for the core; empty for the host."""
        return _IMPLIED[self.architecture][0]

    @property
    def platform(self) -> str:
        """The runtime's platform for a board with the core."""
        return _IMPLIED[self.architecture][1]

    @property
    def startup(self) -> str:
        """The start-up file for the core; empty for the host."""
        return _IMPLIED[self.architecture][2]

    @property
    def is_hard_float(self) -> bool:
        """Whether functions pass floats in registers of the FPU."""
        return not {"-mfloat-abi=hard", "-mabi=ilp32f"}.isdisjoint(self.cflags)

    @property
    def pointer_bytes(self) -> int:
        """Bytes of a pointer; the host is assumed to have 64 bits."""
        return 8 if self.architecture == "host" else 4


# By architecture: the compiler's prefix, the platform, the start-up file.
_IMPLIED = {
    "arm": ("arm-none-eabi-", "semihosting", "cortex_m"),
    "riscv": ("riscv64-unknown-elf-", "semihosting", "riscv"),
    "host": ("", "posix", ""),
}

# Flags that clang does not need: the FPU that -mcpu has, the older names of RISC-V's extensions.
_GCC_ONLY = {"-mfpu=auto", "-misa-spec=2.2"}

_UNALIGNED = ("-munaligned-access",)  # Armv7-M and Armv8-M mainline; others cannot
# By Tag_CPU_arch: LLVM's name, and the features of every such core.
_ARM = {
    "v6S-M": ("thumbv6m", ()),
    "v7": ("thumbv7m", (Feature.LONG_MULTIPLY,)),
    "v7E-M": ("thumbv7em", (Feature.LONG_MULTIPLY, Feature.DSP)),
    "v8-M.baseline": ("thumbv8m.base", ()),
    "v8-M.mainline": ("thumbv8m.main", (Feature.LONG_MULTIPLY,)),
    "v8.1-M.mainline": ("thumbv8.1m.main", (Feature.LONG_MULTIPLY, Feature.DSP)),
}
_SMALL = ("v6S-M", "v8-M.baseline")  # cores that fault at unaligned accesses
# Bytes of 8 words; an FPU adds S0 to S15, FPSCR and a reserved word.
_FRAME, _FRAME_WITH_FPU = 32, 104  # DDI 0403, B1.5.6


# GCC's name of an FPU, and its features.
_Fpu = tuple[str, tuple[Feature, ...]]
_NONE: _Fpu = ("", ())


def _arm(
    name: str,
    title: str,
    arch: str,
    mcpu: str,
    registers: _Fpu = _NONE,
    *features: Feature,
    **further: Any,
) -> Cpu:
    """A Cortex-M. ``arch`` is its Tag_CPU_arch. Without an FPU no register of one is used."""
    llvm, always = _ARM[arch]
    fpu, own = registers
    flags = [f"-mcpu={mcpu}", "-mthumb", *([f"-mfpu={fpu}"] if fpu else [])]
    return Cpu(
        name,
        f"Arm {title}",
        "arm",
        frozenset({*always, *own, *features}),
        (*flags, f"-mfloat-abi={'hard' if fpu else 'soft'}"),
        (("Tag_CPU_arch", arch), ("Tag_CPU_arch_profile", "Microcontroller")),
        _FRAME_WITH_FPU if fpu else _FRAME,
        f"{llvm}-none-eabi{'hf' if fpu else ''}",
        clang_flags=() if arch in _SMALL else _UNALIGNED,
        objdump_flags=("-marmv8.1-m.main",) if arch.startswith("v8.1") else (),
        **further,
    )


def _riscv(letters: str, abi: str = "ilp32", *features: Feature) -> Cpu:
    """An RV32 core."""
    # GCC reads the letters as of version 2.2 of the manual, as clang does.
    # All of these extensions have version 2.0 there, and I includes the CSRs, which are Zicsr in
    # later versions of the manual.
    versions = "_".join(f"{letter}2p0" for letter in letters)
    return Cpu(
        f"rv32{letters}",
        f"RISC-V RV32{letters.upper()}",
        "riscv",
        frozenset(features),
        (f"-march=rv32{letters}", f"-mabi={abi}", "-misa-spec=2.2"),
        (("Tag_RISCV_arch", f"rv32{versions}"), ("Tag_RISCV_stack_align", "16-bytes")),
        triple="riscv32-unknown-elf",
    )


_DOUBLE = (Feature.FPU, Feature.FPU64)
_SP4: _Fpu = ("fpv4-sp-d16", (Feature.FPU,))
_SP5: _Fpu = ("fpv5-sp-d16", (Feature.FPU,))
_DP5: _Fpu = ("fpv5-d16", _DOUBLE)
# MVE uses the registers of the FPU, so the compiler needs one even for integers. -mcpu says which.
_MVE: _Fpu = ("auto", (Feature.MVE,))
_MVE_FPU: _Fpu = ("auto", (*_DOUBLE, Feature.MVE))
_MVE_FLOAT: _Fpu = ("auto", (*_DOUBLE, Feature.MVE, Feature.MVE_FLOAT))
_MAIN, _VECTOR = "v8-M.mainline", "v8.1-M.mainline"
_M55, _M85 = "Cortex-M55 with", "Cortex-M85 with"
_SINCE = (("gcc", "13"), ("llvm", "15"))  # of the Cortex-M85

# docs/reference/boards.md has this table for people.
CPUS = {
    cpu.name: cpu
    for cpu in (
        _arm("cortex-m0", "Cortex-M0", "v6S-M", "cortex-m0"),
        _arm("cortex-m0plus", "Cortex-M0+", "v6S-M", "cortex-m0plus"),
        _arm("cortex-m3", "Cortex-M3", "v7", "cortex-m3"),
        _arm("cortex-m4", "Cortex-M4", "v7E-M", "cortex-m4"),
        _arm("cortex-m4f", "Cortex-M4 with FPU", "v7E-M", "cortex-m4", _SP4),
        _arm("cortex-m7", "Cortex-M7", "v7E-M", "cortex-m7"),
        _arm("cortex-m7f-sp", "Cortex-M7 with single-precision FPU", "v7E-M", "cortex-m7", _SP5),
        _arm("cortex-m7f", "Cortex-M7 with double-precision FPU", "v7E-M", "cortex-m7", _DP5),
        _arm("cortex-m23", "Cortex-M23", "v8-M.baseline", "cortex-m23"),
        _arm("cortex-m33-nodsp-nofp", "Cortex-M33", _MAIN, "cortex-m33+nodsp"),
        _arm("cortex-m33-nofp", "Cortex-M33 with DSP", _MAIN, "cortex-m33", _NONE, Feature.DSP),
        _arm("cortex-m33-nodsp", "Cortex-M33 with FPU", _MAIN, "cortex-m33+nodsp", _SP5),
        _arm("cortex-m33", "Cortex-M33 with DSP and FPU", _MAIN, "cortex-m33", _SP5, Feature.DSP),
        _arm("cortex-m55-nofp", f"{_M55} integer MVE", _VECTOR, "cortex-m55+nofp", _MVE),
        _arm(
            *("cortex-m55-nomve.fp", f"{_M55} integer MVE and FPU", _VECTOR, "cortex-m55+nomve.fp"),
            _MVE_FPU,
        ),
        _arm("cortex-m55", f"{_M55} MVE", _VECTOR, "cortex-m55", _MVE_FLOAT),
        _arm("cortex-m85", f"{_M85} MVE", _VECTOR, "cortex-m85", _MVE_FLOAT, since=_SINCE),
        _riscv("imc"),
        _riscv("imac"),
        _riscv("imafc", "ilp32f", Feature.FPU),
        Cpu("host", "the machine that builds", "host", frozenset({Feature.LONG_MULTIPLY}), ()),
    )
}
