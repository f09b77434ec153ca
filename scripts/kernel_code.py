"""Measures the code size of each C kernel, for ``microgen/kernels/code_bytes.json``.

Every kernel's out-of-line form is compiled for every core by every toolchain, with the same options
as in projects. The table has the bytes of code and read-only data of each. Under ``helpers`` it has
the bytes that GCC's library adds to all kernels together, and to all kernels without floats. No
firmware needs more of the library. Arguments are cores, if only some are to be measured again, or
``--missing``, to measure the kernels that the table does not have, and leave the rest as it is.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from elftools.elf.elffile import ELFFile

from microgen.base.resources import folder
from microgen.kernels import registry
from microgen.project.firmware.kernel_sources import sources
from microgen.target.cpu import CPUS, Cpu

TABLE = Path(__file__).resolve().parents[1] / "microgen" / "kernels" / "code_bytes.json"
GCC = {"arm": "arm-none-eabi-gcc", "riscv": "riscv64-unknown-elf-gcc"}
SOFT_FLOAT = ("sf2", "sf3", "df2", "df3", "sfsi", "sisf", "fadd", "fmul", "fcmp", "i2f", "f2iz")
FLAGS = ("-std=c99", "-O2", "-ffunction-sections", "-fdata-sections", "-ffp-contract=off")


def main() -> None:
    """Measure, and write the table. Cores that only newer compilers than Debian 12's know are left
    out."""
    if sys.argv[1:] == ["--missing"]:
        _add_missing()
        return
    asked = sys.argv[1:]
    cores = [cpu for cpu in CPUS.values() if cpu.architecture in GCC and not cpu.since]
    cores = [cpu for cpu in cores if not asked or cpu.name in asked]
    table: dict[str, dict[str, dict[str, int]]] = {"kernels": {}, "helpers": {}}
    if asked:
        table = json.loads(TABLE.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as scratch:
        kernels = written(Path(scratch))
        for cpu in cores:
            for toolchain in ("gcc", "llvm"):
                made = compiled(kernels, cpu, toolchain, Path(scratch))
                table["kernels"][f"{cpu.name} {toolchain}"] = {o.stem: _bytes(o) for o in made}
                if toolchain == "gcc":
                    plain = [o for o in made if not any(map(_is_float, _undefined(o)))]
                    table["helpers"][cpu.name] = {
                        "all": _helpers(made, cpu, Path(scratch)),
                        "integer": _helpers(plain, cpu, Path(scratch)),
                    }
            text = json.dumps(table, indent=1, sort_keys=True)
            TABLE.write_text(f"{text}\n", encoding="utf-8")


def _add_missing() -> None:
    """Measure the kernels that the table does not have, and write it. Those that are gone are left
    out."""
    table = json.loads(TABLE.read_text(encoding="utf-8"))
    stems = {kernel.code.stem for found in registry().values() for kernel in found}
    for name, rows in table["kernels"].items():
        core, toolchain = name.split()
        with tempfile.TemporaryDirectory() as scratch:
            new = written(Path(scratch), stems - rows.keys())
            made = compiled(new, CPUS[core], toolchain, Path(scratch)) if new else []
            rows |= {o.stem: _bytes(o) for o in made}
        table["kernels"][name] = {stem: n for stem, n in rows.items() if stem in stems}
    TABLE.write_text(f"{json.dumps(table, indent=1, sort_keys=True)}\n", encoding="utf-8")


def written(scratch: Path, asked: Collection[str] | None = None) -> list[Path]:
    """A source for each kernel's out-of-line form, or for those that are asked for."""
    entries = [kernel for found in registry().values() for kernel in found]
    folder_of_all = scratch / "kernels"
    folder_of_all.mkdir()
    for kernel in entries:
        if asked is not None and kernel.code.stem not in asked:
            continue
        (text,) = sources([kernel.code]).values()
        (folder_of_all / f"{kernel.code.stem}.c").write_text(text, encoding="ascii")
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


def _helpers(objects: Sequence[Path], cpu: Cpu, scratch: Path) -> int:
    """Bytes that GCC's library adds to the objects."""
    elf = scratch / "linked.elf"
    quiet = ("-Wl,--unresolved-symbols=ignore-all", "-Wl,-e0", "-Wl,--no-warn-mismatch")
    command = [GCC[cpu.architecture], *cpu.cflags, "-nostdlib", *quiet]
    subprocess.run([*command, *objects, "-lgcc", "-o", elf], check=True)
    return max(0, _bytes(elf) - sum(map(_bytes, objects)))


def _bytes(path: Path) -> int:
    """Bytes of code and data that a linker keeps, without tables that unwind the stack."""
    with path.open("rb") as file:
        return sum(
            section["sh_size"]
            for section in ELFFile(file).iter_sections()
            if section["sh_flags"] & 2 and not section.name.startswith((".ARM.ex", ".eh_frame"))
        )


def _undefined(path: Path) -> Iterator[str]:
    with path.open("rb") as file:
        for symbol in ELFFile(file).get_section_by_name(".symtab").iter_symbols():
            if symbol["st_shndx"] == "SHN_UNDEF":
                yield symbol.name


def _is_float(name: str) -> bool:
    return any(part in name for part in SOFT_FLOAT)


if __name__ == "__main__":
    main()
