"""A vendor's own program with a project's model: own flags, linker script and C library."""

from __future__ import annotations

import atexit
import functools
import shutil
import subprocess
import tempfile
from pathlib import Path

import microgen
from microgen.base import manifest
from microgen.target import projects
from microgen.verifier.again import recompiled
from tests.support.places import SMALL

BOARDS = ("mps2_an386", "qemu_riscv32")
# Other flags than a project's own build has.
FLAGS = ("-Os", "-fno-strict-aliasing", "-ffreestanding", "-fno-common", "-ffp-contract=off")
_SCRIPT = """
ENTRY(vendor_start)
MEMORY
{
  ROM (rx) : ORIGIN = 0x08000000, LENGTH = 4M
  SRAM (rwx) : ORIGIN = @RAM@, LENGTH = 4M
}
SECTIONS
{
  rom_code : { *(.vendor) *(.text*) } > ROM
  rom_data : { *(.rodata* .srodata*) } > ROM
  ram_zero (NOLOAD) : { *(.bss* .sbss*) *(COMMON) } > SRAM
  __global_pointer$ = ADDR(ram_zero) + 0x800;
  /DISCARD/ : { *(.ARM.exidx*) }
}
"""
_START = """
int tvmgen_default_run(void *inputs, void *outputs);
__attribute__((section(".vendor"))) void vendor_start(void) { tvmgen_default_run(0, 0); for (;;); }
void *memcpy(char *a, const char *b, unsigned n) { while (n--) a[n] = b[n]; return a; }
void *memset(char *a, int v, unsigned n) { while (n--) a[n] = v; return a; }
"""


def generated(board: str, folder: Path, model: Path = SMALL, **options: str) -> Path:
    """A project that is not built."""
    microgen.generate(model, board, folder, **options)
    return folder


@functools.cache
def project(board: str) -> Path:
    """A project whose model a vendor's program has, ``vendor.elf``: read it only."""
    folder = Path(tempfile.mkdtemp(prefix="microgen-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    root = generated(board, folder / "project")
    linked(root, "-g", *FLAGS)
    return root


def linked(root: Path, *flags: str, ram: int = 0x21000000) -> Path:
    """The model of a project, compiled with these flags, in the vendor's program."""
    of = recompiled.sources(root)
    folders = [f"-I{folder}" for folder in of.folders]
    own = [*flags, *folders, "-idirafter", "crt/libc"]
    return with_objects(root, *own, *map(str, of.files), ram=ram)


def with_objects(root: Path, *files: str, ram: int = 0x21000000) -> Path:
    """The vendor's program with these files, which may be object files, and flags."""
    (root / "vendor.ld").write_text(_SCRIPT.replace("@RAM@", hex(ram)))
    (root / "start.c").write_text(_START)
    board = projects.of_project(manifest.load(root).board)
    flags = [*board.cpu.cflags, "-w", "-nostdlib", "-T", "vendor.ld", "-Wl,-z,noexecstack"]
    command = [f"{board.toolchain}gcc", *flags, *files, "start.c", "-lgcc"]
    done = subprocess.run([*command, "-o", "vendor.elf"], cwd=root, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    return root / "vendor.elf"
