"""Marks for tests that need programs which may be absent."""

from __future__ import annotations

import shutil

import pytest


def _needs(*programs: str) -> pytest.MarkDecorator:
    missing = [program for program in programs if shutil.which(program) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")


NEEDS_NINJA = _needs("cmake", "ninja", "cc")
NEEDS_ARM = _needs("arm-none-eabi-gcc", "qemu-system-arm")
NEEDS_RISCV = _needs("riscv64-unknown-elf-gcc", "qemu-system-riscv32")
NEEDS_CLANG = _needs("clang")
NEEDS_LLVM = _needs("clang", "ld.lld")
