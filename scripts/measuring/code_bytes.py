"""The code size of each kernel, and of GCC's library.

Every kernel's out-of-line form is compiled for every core by both toolchains, with the same options
as in projects. The table has the bytes of code and read-only data that a linker keeps for each.
Under "helpers" it has the bytes that GCC's library adds to all kernels together, and to all kernels
without floats. No firmware needs more of the library."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from elftools.elf.elffile import ELFFile

from microgen.base.resources import folder
from microgen.kernels.measured import CODE_BYTES
from microgen.options import TOOLCHAINS
from microgen.planner.program.kernel_call import KernelCode
from microgen.project.firmware.crt_files import kernel_sources
from microgen.target.cpu import CPUS, Cpu
from scripts.measuring import tables

GCC = {"arm": "arm-none-eabi-gcc", "riscv": "riscv64-unknown-elf-gcc"}
SOFT_FLOAT = ("sf2", "sf3", "df2", "df3", "sfsi", "sisf", "fadd", "fmul", "fcmp", "i2f", "f2iz")
FLAGS = ("-std=c99", "-O2", "-ffunction-sections", "-fdata-sections", "-ffp-contract=off")
# Cores that only newer compilers than Debian 12's know are left out.
CORES = tuple(cpu.name for cpu in CPUS.values() if cpu.architecture in GCC and not cpu.since)
_HELPERS = "helpers"


def every() -> set[str]:
    """The names of all kernels."""
    return {kernel.code.stem for kernel in tables.kernels()}


def missing(core: str) -> set[str]:
    """The kernels that were not measured for a core."""
    found = tables.read(CODE_BYTES).column(core)
    return {stem for kind in TOOLCHAINS for stem in every() - found.get(kind, {}).keys()}


def write(wanted: Mapping[str, Collection[str]], jobs: int) -> None:
    """Measure kernels for cores, ``jobs`` cores at a time, and put them into the table. For a core
    without names, all kernels are measured. Kernels that are gone are left out. The library is
    measured with all kernels."""
    known = every()
    with ThreadPoolExecutor(jobs) as pool:
        columns = pool.map(measure, wanted, wanted.values())
        for (core, stems), column in zip(wanted.items(), columns, strict=True):
            old = tables.read(CODE_BYTES).column(core)
            for kind in TOOLCHAINS:
                rows = old.get(kind, {}) | column[kind]
                column[kind] = {stem: rows[stem] for stem in rows if stem in known}
            tables.put(CODE_BYTES, core, old | column)
            print(f"{core}: code of {len(stems or known)} kernels", flush=True)


def measure(core: str, stems: Collection[str] = ()) -> dict[str, dict[str, int]]:
    """By toolchain, the bytes of code of kernels, or of all, for a core. With all of them also the
    bytes that GCC's library adds, under "helpers"."""
    column = {}
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        kernels = written(scratch, stems or every())
        for kind in TOOLCHAINS:
            objects = compiled(kernels, CPUS[core], kind, scratch)
            column[kind] = _rows(objects, stems or every(), CPUS[core], scratch)
            if kind == "gcc" and not stems:
                column[_HELPERS] = _library(objects, CPUS[core], scratch)
    return column


def _rows(
    objects: Sequence[Path], stems: Collection[str], cpu: Cpu, scratch: Path
) -> dict[str, int]:
    """The bytes of each of these kernels."""
    of = {each.stem: each for each in objects}
    codes = {kernel.code for kernel in tables.kernels() if kernel.code.stem in stems}
    return {code.stem: _kept(of[code.source], code, cpu, scratch) for code in codes}


def _kept(compiled_source: Path, code: KernelCode, cpu: Cpu, scratch: Path) -> int:
    """The bytes of a source that a linker keeps if only this kernel is used; of a family's source,
    all bytes."""
    if code.stem == code.family:
        return _bytes(compiled_source)
    if code.symbol not in _symbols(compiled_source, defined=True):
        return 0  # the core lacks the instructions
    kept = scratch / "kept.o"
    used = ("-r", "-Wl,--gc-sections", f"-Wl,-u,{code.symbol}", f"-Wl,-e,{code.symbol}")
    command = [GCC[cpu.architecture], *cpu.cflags, "-nostdlib", "-Wl,--no-warn-mismatch", *used]
    subprocess.run([*command, compiled_source, "-o", kept], check=True)
    return _bytes(kept)


def written(scratch: Path, stems: Collection[str]) -> list[Path]:
    """The sources of these kernels' out-of-line forms, each with all kernels of its header."""
    folder_of_all = scratch / "kernels"
    folder_of_all.mkdir()
    codes: dict[str, set[KernelCode]] = {}
    for kernel in tables.kernels():
        codes.setdefault(kernel.code.source, set()).add(kernel.code)
    for name, found in codes.items():
        if any(code.stem in stems for code in found):
            (text,) = kernel_sources(sorted(found)).values()
            (folder_of_all / f"{name}.c").write_text(text, encoding="ascii")
    return sorted(folder_of_all.iterdir())


def compiled(kernels: Sequence[Path], cpu: Cpu, toolchain: str, scratch: Path) -> list[Path]:
    """The kernels' objects for a core."""
    target = scratch / cpu.name / toolchain
    target.mkdir(parents=True)
    command = compiler(cpu, toolchain)
    crt = folder("crt")
    include = ("-I", crt / "include", "-I", crt / "src", "-idirafter", crt / "libc")
    subprocess.run([*command, *FLAGS, *include, "-c", *kernels], cwd=target, check=True)
    return sorted(target.glob("*.o"))


def compiler(cpu: Cpu, toolchain: str) -> list[str]:
    """A compiler with the flags for a core."""
    flags = cpu.flags(toolchain)
    if toolchain == "gcc":
        return [GCC[cpu.architecture], *flags]
    abi = ("-meabi", "gnu") if cpu.architecture == "arm" else ()
    return ["clang", f"--target={cpu.triple}", *flags, "-ffreestanding", *abi, "-w"]


def _library(objects: Sequence[Path], cpu: Cpu, scratch: Path) -> dict[str, int]:
    """Bytes of GCC's library for all objects, and for the objects without floats."""
    plain = [each for each in objects if not any(map(_is_float, _symbols(each, defined=False)))]
    found = {"all": objects, "integer": plain}
    return {name: _helpers(each, cpu, scratch) for name, each in found.items()}


def _helpers(objects: Sequence[Path], cpu: Cpu, scratch: Path) -> int:
    """Bytes that GCC's library adds to the objects."""
    # A whole link has the code that joins parts, but on RISC-V it shortens calls and merges equal
    # constants, which can be more bytes than the library adds. A link with -r does neither.
    quiet = ("-Wl,--unresolved-symbols=ignore-all", "-Wl,-e0", "-Wl,--no-warn-mismatch")
    command = [GCC[cpu.architecture], *cpu.cflags, "-nostdlib", *quiet]
    linked = scratch / "linked"
    totals = []
    for form in ((), ("-r",)):
        subprocess.run([*command, *form, *objects, "-lgcc", "-o", linked], check=True)
        totals.append(_bytes(linked))
    return max(totals) - sum(map(_bytes, objects))


def _bytes(path: Path) -> int:
    """Bytes of code and data that a linker keeps, without tables that unwind the stack."""
    with path.open("rb") as file:
        return sum(
            section["sh_size"]
            for section in ELFFile(file).iter_sections()
            # 2 is SHF_ALLOC: the section is loaded.
            if section["sh_flags"] & 2 and not section.name.startswith((".ARM.ex", ".eh_frame"))
        )


def _symbols(path: Path, *, defined: bool) -> set[str]:
    """The symbols that an object defines, or that it needs."""
    with path.open("rb") as file:
        table = ELFFile(file).get_section_by_name(".symtab")
        return {
            symbol.name
            for symbol in (table.iter_symbols() if table else ())
            if (symbol["st_shndx"] != "SHN_UNDEF") is defined
        }


def _is_float(name: str) -> bool:
    return any(part in name for part in SOFT_FLOAT)
