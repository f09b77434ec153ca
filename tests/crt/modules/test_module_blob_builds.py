"""How the loader of module blobs compiles, what it links with, and how large its structures are."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from microgen.compiler.codegens.module_pool import aligned, loader_pool_bytes
from tests.crt.modules.module_blob_cases import CRT, FILES, INCLUDES, SOURCES
from tests.kernels.conformance.conformance import WARNINGS
from tests.support.each_compiled import each_compiled
from tests.support.tools import skip_without

COMPILERS = {
    "gcc": ["gcc"],
    "clang": ["clang"],
    "cortex-m0": ["arm-none-eabi-gcc", "-mthumb", "-mcpu=cortex-m0"],
    "cortex-m4": ["arm-none-eabi-gcc", "-mthumb", "-mcpu=cortex-m4"],
    "cortex-m55": ["arm-none-eabi-gcc", "-mthumb", "-mcpu=cortex-m55", "-mfloat-abi=hard"],
    # Debian's compiler has no C library.
    "riscv": ["riscv64-unknown-elf-gcc", "-march=rv32imc", "-mabi=ilp32", f"-I{CRT / 'libc'}"],
}
# Run in every run of the tests: each compiler, firmware's own option on the smallest core, and no
# optimisation.
USUAL = {
    *(("gcc", "-O0"), ("gcc", "-O2"), ("clang", "-O2")),
    *(("cortex-m0", "-Os"), ("cortex-m55", "-O2"), ("riscv", "-O2")),
}
BUILDS = [
    pytest.param(target, option, marks=() if (target, option) in USUAL else pytest.mark.slow)
    for target in COMPILERS
    for option in ("-O0", "-O2", "-Os")
]
GIVEN = r"mem(cpy|set)|mg_loader_\w+s|mg_loader_count|_GLOBAL_OFFSET_TABLE_|__aeabi_\w+|__\w+[ds]i3"


def compiled(target: str, option: str, sources: list[str], folder: Path) -> list[str]:
    command = COMPILERS[target]
    skip_without(command[0])
    whole = (*command, *WARNINGS, option, *INCLUDES)
    return [path.name for path in each_compiled(whole, [*map(Path, sources)], folder)]


def symbols(target: str, objects: list[str], folder: Path) -> str:
    nm = COMPILERS[target][0].removesuffix("gcc") + "nm" if target != "clang" else "nm"
    command = [nm, *objects]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


@pytest.mark.parametrize(("target", "option"), BUILDS)
def test_it_compiles_without_a_warning_and_needs_nothing_else(
    target: str, option: str, tmp_path: Path
) -> None:
    objects = compiled(target, option, list(map(str, SOURCES)), tmp_path)
    listing = symbols(target, objects, tmp_path)
    defined = set(re.findall(r" [A-TV-Z] (\w+)", listing))
    undefined = set(re.findall(r" U (\w+)", listing)) - defined
    assert not [name for name in undefined if not re.fullmatch(GIVEN, name)], undefined
    assert not re.findall(r" [bBdDC] (\w+)", listing), "variables"


def test_only_the_calls_of_loaders_read_their_tables(tmp_path: Path) -> None:
    """Each indirect call is in a function of its own, so that a stack analysis finds it."""
    (calls,) = (str(source) for source in SOURCES if source.stem == "module_loaders")
    others = [str(source) for source in SOURCES if source.stem != "module_loaders"]
    tables = r" U (mg_loader_(?:load|find|init|run)s)"
    listing = symbols("gcc", compiled("gcc", "-O2", [calls], tmp_path), tmp_path)
    assert len(set(re.findall(tables, listing))) == 4
    listing = symbols("gcc", compiled("gcc", "-O2", others, tmp_path), tmp_path)
    assert not re.findall(tables, listing)


def test_a_project_gets_what_the_loader_needs() -> None:
    assert {source.stem for source in SOURCES} == {
        *("const_loader", "json_text", "module_blob", "module_loaders", "module_pool"),
        *("module_stream", "module_tree", "param_file"),
    }


@pytest.mark.parametrize("name", [name for name in FILES if name.endswith(".h")])
def test_every_header_compiles_alone_and_twice(name: str, tmp_path: Path) -> None:
    include = f'#include "{CRT / name}"\n'
    (tmp_path / "alone.c").write_text(f"{include}{include}extern int not_empty;\n")
    compiled("gcc", "-O0", ["alone.c"], tmp_path)


SIZES = "#define IS(name, value) extern char is_##name[(value) ? 1 : -1]\n"


@pytest.mark.parametrize(("target", "pointer_bytes"), [("gcc", 8), ("cortex-m4", 4), ("riscv", 4)])
def test_python_knows_what_the_loader_takes(
    target: str, pointer_bytes: int, tmp_path: Path
) -> None:
    checks = [f"IS(pointer, sizeof(void *) == {pointer_bytes}U);"]
    for modules in range(1, 20):
        for children in (0, 1, 2, 3, 30):
            expected = loader_pool_bytes(modules, children, pointer_bytes)
            macro = f"MG_MODULES_POOL_BYTES({modules}, {children})"
            checks.append(f"IS(pool_{modules}_{children}, {macro} == {expected}U);")
    for nbytes in range(20):
        checks.append(f"IS(aligned_{nbytes}, MG_POOL_ALIGNED({nbytes}U) == {aligned(nbytes)}U);")
    text = "\n".join(['#include "modules/module_blob.h"', SIZES, *checks, ""])
    (tmp_path / "sizes.c").write_text(text)
    compiled(target, "-O0", ["sizes.c"], tmp_path)


def test_its_header_says_how_large_a_module_is() -> None:
    comment = (CRT / "src" / "modules/module_types.h").read_text()
    comment = re.sub(r"\n \* ", " ", comment)
    found = re.search(r"A module has (\d+) bytes if pointers have 4 bytes, and (\d+) if", comment)
    assert found
    for text, pointer_bytes in zip(found.groups(), (4, 8), strict=True):
        ten = loader_pool_bytes(10, 0, pointer_bytes) - loader_pool_bytes(0, 0, pointer_bytes)
        assert ten == 10 * int(text)


def test_a_wrong_size_does_not_compile(tmp_path: Path) -> None:
    wrong = "extern char is[sizeof(mg_module) == 55U ? 1 : -1];"
    (tmp_path / "sizes.c").write_text(f'#include "modules/module_blob.h"\n{wrong}\n')
    with pytest.raises(subprocess.CalledProcessError):
        compiled("gcc", "-O0", ["sizes.c"], tmp_path)
