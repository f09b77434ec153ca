"""float_math.h on targets: it needs nothing except the compiler's own soft-float helpers."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from microgen.base import resources
from tests.kernels.conformance.conformance import WARNINGS
from tests.support.tools import skip_without

CRT = resources.folder("crt")
ARM = "arm-none-eabi"
RISCV = "riscv64-unknown-elf"
TARGETS = {
    "cortex-m0": (ARM, "-mthumb", "-mcpu=cortex-m0"),
    "cortex-m3": (ARM, "-mthumb", "-mcpu=cortex-m3"),
    "cortex-m4": (ARM, "-mthumb", "-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard"),
    "cortex-m4-softfp": (
        *(ARM, "-mthumb", "-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16", "-mfloat-abi=softfp"),
    ),
    "cortex-m55": (ARM, "-mthumb", "-mcpu=cortex-m55", "-mfpu=auto", "-mfloat-abi=hard"),
    "rv32imac": (RISCV, "-march=rv32imac", "-mabi=ilp32"),
    "rv32imafc": (RISCV, "-march=rv32imafc", "-mabi=ilp32f"),
}
WITH_FPU = {"cortex-m4", "cortex-m4-softfp", "cortex-m55", "rv32imafc"}
# float's arithmetic and conversions in libgcc; neither double nor int64 nor comparisons
SOFT_FLOAT = {
    ARM: {"__aeabi_fadd", "__aeabi_fsub", "__aeabi_fmul", "__aeabi_fdiv", "__aeabi_i2f"},
    RISCV: {"__addsf3", "__subsf3", "__mulsf3", "__divsf3", "__floatsisf"},
}

FLOATS = (
    "abs",
    "sqrt",
    "sqrt_portable",
    "rsqrt",
    "exp",
    "expm1",
    "tanh",
    "sigmoid",
    "log",
)
INTEGERS = ("round_half_away",)


def _source() -> str:
    signatures = [("float", name) for name in FLOATS] + [("int32_t", name) for name in INTEGERS]
    lines = ['#include "microgen/arithmetic/float_math.h"']
    for type_, name in signatures:
        head = f"{type_} shared_{name}(float x)"
        lines.append(f"{head};\n{head}\n{{\n    return mg_f32_{name}(x);\n}}")
    return "\n".join(lines) + "\n"


def _object(target: str, option: str, folder: Path) -> str:
    """Compiles functions.o in ``folder`` and returns the tools' prefix."""
    prefix, *cpu = TARGETS[target]
    skip_without(f"{prefix}-gcc")
    (folder / "functions.c").write_text(_source())
    libc = ("-idirafter", str(CRT / "libc"), f"-I{CRT / 'src'}", f"-I{CRT / 'include'}")
    strict = (*WARNINGS, "-Wdouble-promotion", "-Wfloat-equal", "-ffp-contract=off")
    command = [f"{prefix}-gcc", *cpu, *strict, *libc, option, "-c", "functions.c"]
    subprocess.run(command, cwd=folder, check=True)
    return prefix


def _listing(program: str, *arguments: str, folder: Path) -> str:
    done = subprocess.run(
        [program, *arguments], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout


@pytest.mark.sampled(7)
@pytest.mark.parametrize("option", ["-O0", "-Os", "-O2"])
@pytest.mark.parametrize("target", TARGETS)
def test_nothing_is_called_but_soft_float_helpers(target: str, option: str, tmp_path: Path) -> None:
    prefix = _object(target, option, tmp_path)
    listing = _listing(f"{prefix}-nm", "-u", "functions.o", folder=tmp_path)
    undefined = set(re.findall(r" U (\w+)", listing))
    assert undefined == (set() if target in WITH_FPU else SOFT_FLOAT[prefix])


@pytest.mark.parametrize("target", sorted(WITH_FPU))
def test_an_fpu_takes_the_square_root(target: str, tmp_path: Path) -> None:
    prefix = _object(target, "-O2", tmp_path)
    code = _listing(f"{prefix}-objdump", "-d", "functions.o", folder=tmp_path)
    body = code.partition("<shared_sqrt>:")[2].partition("\n\n")[0]
    assert re.search(r"\t(vsqrt\.f32|fsqrt\.s)\t", body)
    assert len(body.splitlines()) <= 8  # there is no second path
