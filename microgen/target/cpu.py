"""CPU cores: the features of kernels, the flags of compilers, the attributes of an ELF."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Feature(enum.Enum):
    """An instruction-set feature that a kernel variant may need."""

    DSP = "dsp"  # Armv7E-M / Armv8-M DSP extension: SMLAD and similar instructions
    FPU = "fpu"  # single-precision floating point in hardware
    FPU64 = "fpu64"  # double-precision floating point in hardware
    MVE = "mve"  # Armv8.1-M vector extension, integer and float
    LONG_MULTIPLY = "long_multiply"  # 32x32 -> 64 bit multiply in one instruction


@dataclass(frozen=True, slots=True)
class Cpu:
    """A core. ``architecture`` is "arm", "riscv" or "host". ``cflags`` select the core for GCC.
    ``triple`` is LLVM's name of the target, empty for the host.
    ``attributes`` are the build attributes that an ELF for it must have (names as readelf -A
    prints them; the versions of RISC-V's extensions are not compared; empty if there are none).
    ``exception_frame`` is the number of bytes that hardware pushes on the stack at an exception.
    ``clang_flags`` make clang do what GCC does by default.
    ``objdump_flags`` are needed for objdump to know all of the core's instructions."""

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

    def flags(self, toolchain: str) -> tuple[str, ...]:
        """``cflags`` as the compilers of "gcc" or "llvm" take them; LLVM's go with ``triple``."""
        if toolchain == "gcc":
            return self.cflags
        common = (flag for flag in self.cflags if flag not in _GCC_ONLY)
        return (*common, *self.clang_flags)

    @property
    def pointer_bytes(self) -> int:
        """Bytes of a pointer; the host is assumed to have 64 bits."""
        return 8 if self.architecture == "host" else 4


# Flags that clang does not need: the FPU that -mcpu has, the older names of RISC-V's extensions.
_GCC_ONLY = {"-mfpu=auto", "-misa-spec=2.2"}

_UNALIGNED = ("-munaligned-access",)  # Armv7-M and Armv8-M mainline; Armv6-M cannot
_FPU = (Feature.FPU, Feature.LONG_MULTIPLY, Feature.DSP)

CPUS = {
    cpu.name: cpu
    for cpu in (
        Cpu(
            "cortex-m0",
            "Arm Cortex-M0",
            "arm",
            frozenset(),
            ("-mcpu=cortex-m0", "-mthumb", "-mfloat-abi=soft"),
            (("Tag_CPU_arch", "v6S-M"), ("Tag_CPU_arch_profile", "Microcontroller")),
            32,
            "thumbv6m-none-eabi",
        ),
        Cpu(
            "cortex-m3",
            "Arm Cortex-M3",
            "arm",
            frozenset({Feature.LONG_MULTIPLY}),
            ("-mcpu=cortex-m3", "-mthumb", "-mfloat-abi=soft"),
            (("Tag_CPU_arch", "v7"), ("Tag_CPU_arch_profile", "Microcontroller")),
            32,
            "thumbv7m-none-eabi",
            clang_flags=_UNALIGNED,
        ),
        Cpu(
            "cortex-m4f",
            "Arm Cortex-M4 with FPU",
            "arm",
            frozenset(_FPU),
            ("-mcpu=cortex-m4", "-mthumb", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard"),
            (("Tag_CPU_arch", "v7E-M"), ("Tag_CPU_arch_profile", "Microcontroller")),
            104,
            "thumbv7em-none-eabihf",
            clang_flags=_UNALIGNED,
        ),
        Cpu(
            "cortex-m7f",
            "Arm Cortex-M7 with double-precision FPU",
            "arm",
            frozenset({*_FPU, Feature.FPU64}),
            ("-mcpu=cortex-m7", "-mthumb", "-mfpu=fpv5-d16", "-mfloat-abi=hard"),
            (("Tag_CPU_arch", "v7E-M"), ("Tag_CPU_arch_profile", "Microcontroller")),
            104,
            "thumbv7em-none-eabihf",
            clang_flags=_UNALIGNED,
        ),
        Cpu(
            "cortex-m33",
            "Arm Cortex-M33 with DSP and FPU",
            "arm",
            frozenset(_FPU),
            ("-mcpu=cortex-m33", "-mthumb", "-mfpu=fpv5-sp-d16", "-mfloat-abi=hard"),
            (("Tag_CPU_arch", "v8-M.mainline"), ("Tag_CPU_arch_profile", "Microcontroller")),
            104,
            "thumbv8m.main-none-eabihf",
            clang_flags=_UNALIGNED,
        ),
        Cpu(
            "cortex-m55",
            "Arm Cortex-M55 with MVE",
            "arm",
            frozenset({*_FPU, Feature.FPU64, Feature.MVE}),
            ("-mcpu=cortex-m55", "-mthumb", "-mfpu=auto", "-mfloat-abi=hard"),
            (("Tag_CPU_arch", "v8.1-M.mainline"), ("Tag_CPU_arch_profile", "Microcontroller")),
            104,
            "thumbv8.1m.main-none-eabihf",
            ("-marmv8.1-m.main",),
            clang_flags=_UNALIGNED,
        ),
        Cpu(
            "rv32imac",
            "RISC-V RV32IMAC",
            "riscv",
            frozenset(),
            ("-march=rv32imac", "-mabi=ilp32", "-misa-spec=2.2"),
            (("Tag_RISCV_arch", "rv32i2p0_m2p0_a2p0_c2p0"), ("Tag_RISCV_stack_align", "16-bytes")),
            triple="riscv32-unknown-elf",
        ),
        Cpu("host", "the machine that builds", "host", frozenset({Feature.LONG_MULTIPLY}), ()),
    )
}
