"""The notes: which sources have one, and what compilers, assemblers and linkers make of it."""

from __future__ import annotations

import copy
import functools
import json
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

import microgen
from microgen.base.manifest import note
from microgen.project.emit import note as emitted
from microgen.verifier.elf import elf
from microgen.verifier.elf.elf import Note
from tests.several import models
from tests.support.places import BYOC_GUIDE, SEED_DEMO, SMALL
from tests.support.tools import NEEDS_ARM_GCC, NEEDS_CC, NEEDS_LLVM, NEEDS_RISCV_GCC

PROJECTS: dict[str, tuple[Path, str, dict[str, Any]]] = {
    "aot": (SMALL, "mps2_an386", {}),
    "packed": (SMALL, "native", {"interface": "packed", "name": "a_b"}),
    "graph": (SMALL, "native", {"executor": "graph", "name": "a_b"}),
    "modules": (BYOC_GUIDE, "qemu_riscv32", {"codegen": ("examplejsoncompiler",)}),
    "C of others": (BYOC_GUIDE, "native", {"codegen": ("ccompiler",)}),
    "dnnl": (SEED_DEMO, "mps3_an547", {"codegen": ("dnnl",), "optimize": "flash"}),
}
WARNINGS = ["-std=c99", "-pedantic-errors", "-Wall", "-Wextra", "-Wundef", "-Werror"]
COMPILERS = [
    pytest.param(["cc"], id="host", marks=NEEDS_CC),
    pytest.param(["cc", "-std=gnu17", "-flto", "-ffat-lto-objects"], id="LTO", marks=NEEDS_CC),
    pytest.param(["clang", "-Weverything"], id="host-clang", marks=NEEDS_LLVM),
    *(
        pytest.param([f"{vendor}gcc", *flags], id=flags[0], marks=needs)
        for vendor, needs, *flags in (
            ("arm-none-eabi-", NEEDS_ARM_GCC, "-mcpu=cortex-m0", "-mthumb"),
            ("arm-none-eabi-", NEEDS_ARM_GCC, "-mcpu=cortex-m55", "-mthumb", "-mfloat-abi=hard"),
            ("riscv64-unknown-elf-", NEEDS_RISCV_GCC, "-march=rv32imac", "-mabi=ilp32"),
        )
    ),
    *(
        pytest.param(["clang", *flags], id=flags[0], marks=NEEDS_LLVM)
        for flags in (
            ("--target=thumbv6m-none-eabi",),
            ("--target=thumbv7em-none-eabi",),
            ("--target=riscv32-none-elf", "-march=rv32imac", "-mabi=ilp32"),
        )
    ),
]


@functools.cache
def _files(name: str) -> Mapping[str, bytes]:
    model, board, options = PROJECTS[name]
    return microgen.compile_model(model, board, **options).files.files


def _several(folder: Path) -> Mapping[str, bytes]:
    pairs = [(file, name) for name, file in models.written(folder).items()]
    compiled = microgen.compile_models(
        pairs, "native", shared_workspace=True, targets=("npu:device-api",)
    )
    return compiled.files.files


def _check(files: Mapping[str, bytes]) -> None:
    """Each C and assembly file of the model includes the header of one note, once."""
    data = json.loads(files["microgen.json"])
    modules = tuple(m["module"] for m in (data, *data["more"]))
    units = note.units(data["files"], modules)
    sources = [n for n in files if n.startswith("model/") and n.endswith((".c", ".S", ".s"))]
    assert sorted(sources) == sorted(name for names in units.values() for name in names)
    assert all(units.values())
    for module, names in units.items():
        for name in names:
            included = re.findall(r'^#include "(\w+_note\.h)"$', files[name].decode(), re.M)
            assert included == [PurePosixPath(note.header(module)).name], name
        text = files[note.header(module)].decode()
        assert f'\\"built_from\\":\\"{data["built_from"]}\\"' in text
        assert f'\\"name\\":\\"{module}\\"' in text


@pytest.mark.parametrize("name", PROJECTS)
def test_every_source_of_the_model_has_one(name: str) -> None:
    _check(_files(name))


def test_every_source_of_several_models_has_one(tmp_path: Path) -> None:
    files = _several(tmp_path)
    assert "model/codegen/host/src/workspace.S" in files
    _check(files)


def test_operators_as_llvm_ir_have_none() -> None:
    files = microgen.compile_model(SMALL, "native", emit="llvm-ir").files.files
    ir = [text for name, text in files.items() if name.endswith(".ll")]
    assert ir
    assert not [text for text in ir if note.SECTION.encode() in text]


def test_equal_inputs_give_equal_notes() -> None:
    model, board, options = PROJECTS["aot"]
    again = microgen.compile_model(model, board, **options).files.files
    assert again == _files("aot")


def _header(text: str, folder: Path) -> None:
    data = emitted.header(
        "m", text, model="x.tflite", section=note.SECTION, owner=note.OWNER, kind=note.TYPE
    )
    (folder / "m_note.h").write_bytes(data)


def _notes(compiler: list[str], suffix: str, folder: Path) -> tuple[Note, ...]:
    """The notes of a program of one source, which includes the header twice. The linker keeps
    nothing of it but a variable."""
    source = folder / f"m{suffix}"
    own = "extern int f;\nint f = 1;\n" if suffix == ".c" else ".data\n.global f\nf: .long 1\n"
    source.write_text(f'#include "m_note.h"\n{own}#include "m_note.h"\n')
    linked = ["-nostdlib", "-static", "-Wl,--gc-sections,-e,f", "-o", f"{source}.elf"]
    linked += ["-fuse-ld=lld"] if "clang" in compiler else []
    subprocess.run([compiler[0], *WARNINGS, *compiler[1:], source, *linked], check=True)
    return elf.load(Path(f"{source}.elf")).notes


@pytest.mark.sampled(5)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_c_and_assembly_have_the_same_note(compiler: list[str], tmp_path: Path) -> None:
    said = {"type": "microgen", "name": "m", "options": {"codegen": ["a", "b"]}, "compiler": ""}
    _header(json.dumps(said).removesuffix('"}'), tmp_path)
    (from_c,) = _notes(compiler, ".c", tmp_path)
    (from_assembly,) = _notes(compiler, ".S", tmp_path)
    assert from_c == from_assembly
    assert (from_c.owner, from_c.type) == ("FDO", 0xCAFE1A7E)
    assert from_c.content.endswith(b'"}\0')
    found = json.loads(from_c.content[:-1])
    assert re.search(r"\d+\.\d+", found["compiler"])
    assert found == {**said, "compiler": found["compiler"]}


@NEEDS_CC
@pytest.mark.parametrize("suffix", [".c", ".S"])
def test_no_character_means_anything_else_in_a_note(suffix: str, tmp_path: Path) -> None:
    said = {"name": 'a "b" \\ ??/ ??) %d {x|y} // /* , é', "compiler": ""}
    _header(json.dumps(said).removesuffix('"}'), tmp_path)
    (found,) = _notes(["cc", "-trigraphs", "-Wno-trigraphs"], suffix, tmp_path)
    assert json.loads(found.content[:-1])["name"] == said["name"]


def test_a_long_note_has_lines_that_fit() -> None:
    text = json.dumps({f"key{i}": "x" * 40 for i in range(9)}, separators=(",", ":"))
    data = emitted.header("m", text, model="x", section="s", owner="FDO", kind=1).decode()
    assert max(map(len, data.splitlines())) <= 120
    literals = re.findall(r'^    ("\{.*|"\\"key.*), \\$', data, re.M)
    assert "".join(json.loads(literal) for literal in literals) == text


@pytest.fixture(scope="module")
def promised() -> dict[str, Any]:
    """A manifest's JSON value."""
    return dict(json.loads(_files("aot")["microgen.json"]))


def test_the_digest_is_that_of_the_manifest(promised: dict[str, Any]) -> None:
    assert promised["built_from"] == note.digest(promised)


@pytest.mark.parametrize(
    "way",
    [
        ("files", "model/codegen/host/src/default_lib1.c"),
        ("files", "model/codegen/host/src/default_params.c"),
        ("files", "model/parameters/default.params"),
        ("files", "crt/include/microgen/convolution/s8/conv2d_s8.h"),
        ("files", "CMakeLists.txt"),
        ("files", "boards/mps2_an386.ld"),
        ("microgen",),
        ("board", "name"),
        ("options", "optimize"),
        ("options", "codegen"),
        ("model", "sha256"),
        ("inputs", 0, "scale"),
        ("calls", 0, "function"),
        ("calls", 0, "args"),
        ("constants", 0, "arguments"),
        ("plan", "buffers", 0, "offset"),
        ("kernels",),
        ("more",),
    ],
)
def test_everything_that_decides_the_code_decides_the_digest(
    promised: dict[str, Any], way: tuple[str | int, ...]
) -> None:
    changed = copy.deepcopy(promised)
    at = functools.reduce(lambda value, key: value[key], way[:-1], changed)
    at[way[-1]] = [{"module": "further"}] if way == ("more",) else "changed"
    assert note.digest(changed) != note.digest(promised)
    renamed = {f"{name}x": digest for name, digest in promised["files"].items()}
    assert note.digest({**promised, "files": renamed}) != note.digest(promised)


def test_the_notes_themselves_do_not(promised: dict[str, Any]) -> None:
    files = {**promised["files"], note.header("default"): "other"}
    changed = {**promised, "files": files, "built_from": "x", "digest": "y"}
    assert note.digest(changed) == note.digest(promised)
    del changed["files"][note.header("default")]
    assert note.digest(changed) == note.digest(promised)


def test_a_source_belongs_to_the_module_whose_name_it_has() -> None:
    names = ("a_lib0.c", "a_b_lib0.c", "a_b_memory.S", "workspace.S", "a_note.h", "sub/a_lib9.c")
    files = {f"model/codegen/host/src/{name}": "" for name in names}
    found = note.units(files, ("a", "a_b"))
    ends = {module: [PurePosixPath(name).name for name in own] for module, own in found.items()}
    assert ends == {"a": ["a_lib0.c", "workspace.S"], "a_b": ["a_b_lib0.c", "a_b_memory.S"]}


SCRIPT = """
SECTIONS
{
    .text : { *(.text .text.*) *(.glue_7 .glue_7t .vfp11_veneer .v4_bx .iplt .rel.* .igot.plt) }
    .data : { *(.data .data.*) }
    .bss : { *(.bss .bss.* COMMON) }
    .comment 0 : { *(.comment) }
    .ARM.attributes 0 : { *(.ARM.attributes) }
"""


@NEEDS_ARM_GCC
@NEEDS_LLVM
def test_a_linker_that_must_know_every_section_knows_it_under_zephyr(tmp_path: Path) -> None:
    snippet = _files("aot")["boards/zephyr.ld"].decode()
    _header('{"name":"m","compiler":"', tmp_path)
    (tmp_path / "m.c").write_text('#include "m_note.h"\nextern int f;\nint f = 1;\n')
    (tmp_path / "with.ld").write_text(f"{SCRIPT}{snippet}}}\n")
    (tmp_path / "lld.ld").write_text(f"SECTIONS {{\n{snippet}}}\n")
    (tmp_path / "without.ld").write_text(f"{SCRIPT}}}\n")
    command = ["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-nostdlib", "m.c", "-o", "m.elf"]
    command += ["-Wl,--gc-sections,-e,f", "-Wl,--orphan-handling=error"]
    linked = subprocess.run([*command, "-T", "with.ld"], cwd=tmp_path, check=False)
    assert linked.returncode == 0
    assert len(elf.load(tmp_path / "m.elf").notes) == 1
    linked = subprocess.run(
        [*command, "-T", "without.ld"], cwd=tmp_path, check=False, capture_output=True, text=True
    )
    assert linked.returncode != 0
    assert note.SECTION in linked.stderr
    command = ["clang", "--target=thumbv7em-none-eabi", "-nostdlib", "m.c", "-o", "lld.elf"]
    command += ["-fuse-ld=lld", "-Wl,--gc-sections,-e,f", "-T", "lld.ld"]
    subprocess.run(command, cwd=tmp_path, check=True)
    assert len(elf.load(tmp_path / "lld.elf").notes) == 1
