"""Compilers without GCC's attributes keep the functions of which kernels consist."""

from __future__ import annotations

from pathlib import Path

import microgen
from microgen.building import builder
from tests.support.each_compiled import NOT_INLINED
from tests.support.places import DIGITS
from tests.support.tools import NEEDS_CC, NEEDS_NINJA

pytestmark = [NEEDS_NINJA, NEEDS_CC]


def test_local_ones_are_accepted_and_others_are_not(tmp_path: Path) -> None:
    microgen.generate(DIGITS, "native", tmp_path / "p")
    main = tmp_path / "p" / "src" / "main.c"
    # The header includes <stdint.h> before platform.c asks for POSIX, so the command line asks.
    flags = f"-O0 -D_POSIX_C_SOURCE=200809L -include {NOT_INLINED}"
    settings = {"MICROGEN_EXTRA_CFLAGS": flags}
    elf = builder.build(tmp_path / "p", settings=settings).elf
    check = microgen.verify(tmp_path / "p", elf=elf).check("kernels")
    assert (check.status, check.values["operators"]) == ("ok", 7)
    declared = "__attribute__((constructor)) void mg_clamp_s8(void)"
    main.write_text(f"{main.read_text()}{declared};\nvoid mg_clamp_s8(void) {{}}\n")
    elf = builder.build(tmp_path / "p").elf
    check = microgen.verify(tmp_path / "p", elf=elf).check("kernels")
    assert check.status == "failed"
    assert check.found == "the kernel mg_clamp_s8 is linked, but nothing in the plan uses it"
