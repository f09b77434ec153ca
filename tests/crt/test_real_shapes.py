"""Every kernel compiles without a warning with the extents of real layers as constants."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path

import pytest

from microgen import kernels
from microgen.kernels.base import Implementation
from microgen.kernels.patterns import JOINT
from tests.crt import real_shapes
from tests.kernels.conformance import conformance as c
from tests.support.each_compiled import each_compiled
from tests.support.tools import skip_without

# every kernel compiles for it
ARM = ("-mthumb", "-mcpu=cortex-m55", "-mfpu=auto", "-mfloat-abi=hard")
COMPILERS = {
    "gcc": ("gcc",),
    "clang": ("clang",),
    "arm-none-eabi-gcc": ("arm-none-eabi-gcc", *ARM),
    "clang for arm": ("clang", "--target=arm-none-eabi", "-ffreestanding", *ARM[:2]),
    "riscv64-unknown-elf-gcc": ("riscv64-unknown-elf-gcc", "-march=rv32imac", "-mabi=ilp32"),
}
LEVELS = ("-O1", "-O2", "-O3", "-Os")
SHIPPED = ("arm-none-eabi-gcc", "-O2")  # generated projects are built with it


@functools.cache
def _every() -> list[tuple[c.Case, Implementation]]:
    """All cases with all kernels that take them."""
    return [
        (case, kernel)
        for case in real_shapes.cases()
        for kernel in kernels.registry()[case.op]
        if _takes(kernel, case)
    ]


def _takes(kernel: Implementation, case: c.Case) -> bool:
    return kernel.refusal(case.node, case.graph) is None


def _first() -> list[c.Call]:
    """The first call of each kernel of sums of products and of windows."""
    first = {
        (case.op, kernel): case for case, kernel in reversed(_every()) if case.op.startswith("nn.")
    }
    return [c.call_of(case, kernel) for (_, kernel), case in first.items()]


def test_every_kernel_has_a_shape() -> None:
    """Kernels of several ops have firmware of their own in tests/compiler/schedule."""
    cases: dict[str, list[c.Case]] = {}
    for case in real_shapes.cases():
        cases.setdefault(case.op, []).append(case)
    assert not [op for op in cases if JOINT in op]
    assert not [
        kernel.symbol
        for op, entries in kernels.registry().items()
        for kernel in entries
        if JOINT not in op and not any(_takes(kernel, case) for case in cases.get(op, ()))
    ]


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.slow
def test_bodies_compile(compiler: str, level: str, tmp_path: Path) -> None:
    _compile([c.call_of(*taken) for taken in _every()], compiler, level, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_bodies_of_sums_compile_as_they_are_shipped(part: int, tmp_path: Path) -> None:
    _compile(_first()[part::4], *SHIPPED, tmp_path)


def _compile(calls: Sequence[c.Call], compiler: str, level: str, folder: Path) -> None:
    program, *options = COMPILERS[compiler]
    skip_without(program)
    has_every = "-mfpu=auto" in options
    taken = [call for call in calls if has_every or not call.kernel.needs - c.EMULATED]
    (folder / "bodies.c").write_text(_source(taken))
    include = (f"-I{c.CRT / 'include'}", f"-I{c.CRT / 'src'}", "-idirafter", str(c.CRT / "libc"))
    each_compiled((program, *options, *c.WARNINGS, *include, level), [Path("bodies.c")], folder)


def _source(calls: Sequence[c.Call]) -> str:
    """C with a function for each different body."""
    bodies = dict.fromkeys(c.specialised_form(call).statements for call in calls)
    lines = [
        f'#include "{header}"' for header in sorted({call.kernel.code.header for call in calls})
    ]
    for number, statements in enumerate(bodies):
        head = f"int32_t body_{number}(const void *params, void **a)"
        lines += [f"{head};", head, f"{{ int32_t status = 0; {statements} return status; }}"]
    return "\n".join(lines) + "\n"
