"""`verify --reproduce`: a project is equal again in another folder, and any change is found."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import microgen
from microgen.base import manifest
from microgen.base.errors import ToolError
from microgen.building import builder, toolchain
from microgen.interface.cli import main
from microgen.target import projects
from microgen.verifier.again import build_settings, same_image
from microgen.verifier.again.build_settings import MODEL
from microgen.verifier.again.reproduce import reproduce
from microgen.verifier.elf import elf
from microgen.verifier.elf.elf import Elf
from microgen.verifier.subject import Finding, Reproduction, Subject
from tests.several import models
from tests.support.places import EXAMPLES, SMALL
from tests.support.tools import NEEDS_ARM_GCC, NEEDS_LLVM, NEEDS_NINJA, NEEDS_RISCV_GCC

pytestmark = NEEDS_NINJA

TEMPLATE = EXAMPLES / "byoc_template"
# Its layers are in other lines when it is partitioned.
RELAY = """#[version = "0.0.5"]

def @main(%a: Tensor[(1, 4), float32], %b: Tensor[(1, 4), float32]) {
  %0 = sigmoid(multiply(%a,
    %b));
  subtract(%0, %a)
}
"""
M4 = "mps2_an386"


def _subject(project: Path, elf_file: Path | None = None, **asked: object) -> Subject:
    """What the check reads, and nothing of what others read."""
    record = manifest.load(project)
    return Subject(
        project=project,
        elf=elf.load(elf_file or project / "build" / "firmware.elf"),
        manifest=record,
        board=projects.of_project(record.board),
        parameters=dict,
        disassembly=str,
        readers=dict,
        functions=list,
        reproduction=Reproduction(**asked),  # type: ignore[arg-type]
    )


def _found(project: Path, elf_file: Path | None = None, **asked: object) -> Finding:
    return reproduce(_subject(project, elf_file, **asked))


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project for a Cortex-M4, built."""
    root = tmp_path_factory.mktemp("reproduce") / "p"
    microgen.generate(SMALL, M4, root)
    microgen.build(root)
    return root


@pytest.fixture
def project(original: Path, tmp_path: Path) -> Path:
    """A copy of it that a test may change."""
    return Path(shutil.copytree(original, tmp_path / "copy"))


@pytest.fixture
def no_build(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests whose answer needs no build."""

    def refused(*_: object, **__: object) -> None:
        pytest.fail("it was built")

    monkeypatch.setattr(builder, "build", refused)


@NEEDS_ARM_GCC
def test_a_copy_in_another_folder_is_equal(project: Path) -> None:
    found = _found(project)
    assert found.status == "ok", found.found
    assert "files, " in found.found
    assert "-O2 for the model, -Os else (as CMakeCache.txt says)" in found.found
    assert found.values["bytes"] > 4000


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("board", "options"),
    [
        pytest.param("mps3_an547", {"optimize": "flash"}, marks=NEEDS_ARM_GCC),
        pytest.param("qemu_riscv32", {"interface": "packed"}, marks=NEEDS_RISCV_GCC),
        pytest.param(M4, {"toolchain": "llvm"}, marks=[NEEDS_ARM_GCC, NEEDS_LLVM]),
        ("native", {"executor": "graph", "name": "net"}),
    ],
)
def test_other_cores_compilers_and_executors(
    tmp_path: Path, board: str, options: dict[str, str]
) -> None:
    microgen.generate(SMALL, board, tmp_path / "p", **options)
    microgen.build(tmp_path / "p")
    found = _found(tmp_path / "p")
    assert found.status == "ok", found.found


def test_several_models(tmp_path: Path) -> None:
    files = models.written(tmp_path)
    pairs = [(files[name], name) for name in ("small", "sum", "kws")]
    microgen.generate_models(pairs, "native", tmp_path / "p", shared_workspace=True)
    microgen.build(tmp_path / "p")
    found = _found(tmp_path / "p")
    assert found.status == "ok", found.found


def test_external_codegens_and_partitioned_relay(tmp_path: Path) -> None:
    model, root = tmp_path / "Some model.relay", tmp_path / "p"
    model.write_text(RELAY)
    microgen.generate(
        model, "native", root, codegen=("ccompiler", "vecunit"), codegen_path=str(TEMPLATE)
    )
    microgen.build(root)
    missing = _found(root)
    assert missing.status == "n/a"
    assert "not all of 'ccompiler, vecunit' are installed" in missing.found
    found = _found(root, codegen_path=[TEMPLATE])
    assert found.status == "ok", found.found
    source = root / "model" / "codegen" / "host" / "src" / "default_lib0.c"
    assert "(line 4)" in source.read_text()
    text = source.read_text()
    assert "    return status;\n" in text
    source.write_text(text.replace("    return status;\n", "    return status + 1;\n"))
    assert _found(root, codegen_path=[TEMPLATE]).status == "failed"


def _patched(project: Path, symbol: str, offset: int) -> None:
    """Inverts one byte of a symbol in the project's ELF."""
    path = project / "build" / "firmware.elf"
    program, data = elf.load(path), bytearray(path.read_bytes())
    (place,) = program.named(symbol)
    content = program.read(program.code_address(place), place.size)
    assert content is not None
    assert data.count(content) == 1
    data[data.find(content) + offset] ^= 0xFF
    path.write_bytes(data)


@NEEDS_ARM_GCC
def test_a_patched_instruction_is_found_in_its_function(project: Path) -> None:
    kernel = manifest.load(project).calls[0].function
    _patched(project, kernel, 40)
    found = _found(project)
    assert found.status == "failed"
    assert found.found.startswith(f"{kernel} at 0x")
    assert "1 bytes differ, the first at 0x" in found.found
    assert "built with -O2 for the model" in found.found


def _edited(project: Path, name: str, old: str, new: str) -> None:
    path = project / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def _edit_manifest(project: Path, change: Callable[[dict[str, object]], None]) -> None:
    """Edits the manifest, and its digest with it."""
    path = project / "microgen.json"
    data = json.loads(path.read_bytes())
    change(data)
    path.write_text(manifest.digested(data))


@NEEDS_ARM_GCC
@pytest.mark.usefixtures("no_build")
def test_a_changed_source_is_named(project: Path, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    command = f"execute_process(COMMAND touch {mark})\nproject("
    _edited(project, "CMakeLists.txt", "project(", command)
    found = _found(project)
    assert found.status == "failed"
    assert found.found == "CMakeLists.txt is not as it is generated"
    assert not mark.exists()
    (project / "LICENSE").unlink()
    assert "LICENSE is missing" in _found(project).found


@NEEDS_ARM_GCC
@pytest.mark.usefixtures("no_build")
def test_a_changed_model_is_found(project: Path) -> None:
    model = project / "model" / "src" / "default.tflite"
    data = bytearray(model.read_bytes())
    data[-100] ^= 1
    model.write_bytes(data)
    found = _found(project)
    assert found.status == "failed"
    assert "default.tflite is not the model that the project was made from" in found.found


@NEEDS_ARM_GCC
@pytest.mark.usefixtures("no_build")
@pytest.mark.parametrize(
    ("option", "value", "why"),
    [
        ("optimize", "flash", "is not as it is generated"),
        ("numerics", "tflm", "is not as it is generated"),
        ("numerics", "none", "is not one of"),
        ("planner", 7, "the options are none"),
        ("codegen", ["accelerator"], "is not as it is generated"),
    ],
)
def test_changed_options_are_found(project: Path, option: str, value: object, why: str) -> None:
    _edit_manifest(project, lambda data: data["options"].update({option: value}))  # type: ignore
    found = _found(project)
    assert found.status == "failed"
    assert why in found.found


@NEEDS_ARM_GCC
@pytest.mark.usefixtures("no_build")
def test_a_models_name_leads_nowhere(project: Path, tmp_path: Path) -> None:
    for name in ("../evil.tflite", str(tmp_path / "evil.tflite"), "..", "a\0b.tflite", ""):
        _edit_manifest(project, lambda data, n=name: data["model"].update(file=n))  # type: ignore
        found = _found(project)
        assert found.status == "failed", name
        assert "the model's file is called" in found.found
    assert not (tmp_path / "evil.tflite").exists()


@NEEDS_ARM_GCC
@pytest.mark.usefixtures("no_build")
def test_reasons_why_it_cannot_be_done(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert reproduce(replace(_subject(project), reproduction=None)).status == "n/a"

    def why(**asked: object) -> str:
        found = _found(project, **asked)
        assert found.status == "n/a"
        return found.found

    assert "options are not recorded" in why(codegen_option=["ccompiler.x=1"])
    cache = project / "build" / "CMakeCache.txt"
    cache.write_text(cache.read_text() + "MICROGEN_EXTRA_CFLAGS:STRING=-DX\n")
    assert "CMakeCache.txt sets MICROGEN_EXTRA_CFLAGS" in why()
    cache.write_text(f"{MODEL}:STRING=-O2;$(touch x)\n")
    assert f"CMakeCache.txt sets {MODEL}" in why()
    (project / "model" / "src" / "default.tflite").unlink()
    assert "the model is not shipped: model/src/default.tflite is missing" in why()
    _edit_manifest(project, lambda data: data["model"].update(path="a\0b"))  # type: ignore
    assert "the model is not shipped" in why()
    monkeypatch.setattr("microgen.verifier.again.regenerated.__version__", "99")
    assert "generated the project, this is 99" in why()


@NEEDS_ARM_GCC
def test_a_missing_tool_is_no_failure(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def find(program: str) -> Path:
        raise ToolError(f"{program} is not installed")

    monkeypatch.setattr(toolchain, "find", find)
    found = _found(project)
    assert (found.status, found.found) == ("n/a", "cmake is not installed")


@NEEDS_ARM_GCC
def test_levels_of_the_build_are_read_or_given(project: Path, tmp_path: Path) -> None:
    builder.build(project, settings={MODEL: "-O1"})
    found = _found(project)
    assert found.status == "ok", found.found
    assert "-O1 for the model" in found.found
    moved = tmp_path / "moved.elf"
    shutil.copy(project / "build" / "firmware.elf", moved)
    assumed = _found(project, moved)
    assert assumed.status == "failed"
    assert "-O2 for the model, -Os else (by default" in assumed.found
    given = _found(project, moved, levels=build_settings.parsed("O1"))
    assert given.status == "ok", given.found


def test_levels_are_levels() -> None:
    assert build_settings.parsed("") == {}
    assert list(build_settings.parsed("O3,-Os").values()) == ["-O3", "-Os"]
    for text in ("O3,Os,O2", "3", "O3 -DX", "O9", ",", "O2,"):
        with pytest.raises(ValueError, match="is neither a level"):
            build_settings.parsed(text)


@NEEDS_ARM_GCC
def test_another_compiler_and_another_link(original: Path) -> None:
    subject = _subject(original)
    other = replace(subject.elf, entry=0, compilers=("GCC: other",))
    found = reproduce(replace(subject, elf=other))
    assert found.status == "n/a"
    assert found.found.startswith("GCC: other built the ELF, and GCC: ")
    own = replace(subject.elf, sections=subject.elf.sections[1:])
    assert reproduce(replace(subject, elf=own)).status == "failed"


def _changes(program: Elf) -> Sequence[tuple[Elf, str]]:
    """Programs that differ from this one, and the failure's words."""
    symbols, sections, segments = program.symbols, program.sections, program.segments
    number = next(n for n, s in enumerate(symbols) if s.name == "tvmgen_default_run")
    rest = (*symbols[:number], *symbols[number + 1 :])
    run = symbols[number]
    table = [{"size": run.size + 2}, {"address": run.address + 2}, {"binding": "weak"}]
    first = [{"load": 64}, {"size": 4}, {"flags": 7}, {"file_size": 1}]
    return [
        (replace(program, symbols=rest), "there is no tvmgen_default_run at"),
        (replace(program, symbols=(*symbols, run)), "tvmgen_default_run at .* is not in"),
        *(
            (replace(program, symbols=(*rest, replace(run, **change))), "_run at .* instead of")
            for change in table
        ),
        (replace(program, entry=program.entry + 2), "entry 0x"),
        (replace(program, machine="EM_RISCV"), "of EM_RISCV instead"),
        (replace(program, attributes={}), "attributes differ"),
        (replace(program, sections=sections[1:]), ".text at 0x.* instead of .vectors at"),
        (replace(program, segments=segments[:-1]), "^nothing instead of segment at"),
        *(
            (
                replace(program, segments=(segments[0]._replace(**change), *segments[1:])),
                "segment at .* instead of segment at",
            )
            for change in first
        ),
    ]


@NEEDS_ARM_GCC
def test_whatever_differs_is_found(original: Path) -> None:
    program = _subject(original).elf
    assert list(same_image.differences(program, program)) == []
    for changed, words in _changes(program):
        first = next(same_image.differences(changed, program))
        assert re.search(words, first), (words, first)


@NEEDS_ARM_GCC
def test_each_loaded_byte_counts(original: Path) -> None:
    program = _subject(original).elf
    ((start, data), *others) = program.image()
    for offset in (0, 3, len(data) // 2, len(data) - 1):
        patched = bytearray(data)
        patched[offset] ^= 1
        changed = replace(program, _image=((start, bytes(patched)), *others))
        (found,) = same_image.differences(changed, program)
        assert f"1 bytes differ, the first at {start + offset:#x}" in found


@NEEDS_ARM_GCC
def test_stripped_of_debug_information_it_is_equal(project: Path) -> None:
    path = project / "build" / "firmware.elf"
    toolchain.run(["arm-none-eabi-strip", "-g", path], seconds=30)
    assert ".debug_info" not in path.read_bytes().decode("latin1")
    assert _found(project).status == "ok"


@NEEDS_ARM_GCC
def test_the_command(
    project: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    command = ["verify", str(project), "--reproduce", "--json"]
    assert main(command) == 0
    assert json.loads(capsys.readouterr().out)["checks"][-1]["status"] == "ok"
    (project / "model" / "src" / "default.tflite").unlink()
    _edit_manifest(project, lambda data: data["files"].pop("model/src/default.tflite"))  # type: ignore
    assert main(command) == 1
    assert not json.loads(capsys.readouterr().out)["ok"]
    assert main(command[:-1]) == 1
    assert "reproduce n/a: the model is not shipped" in capsys.readouterr().out
    assert not list(scratch.iterdir())
    assert main([*command[:2], "--levels", "O3"]) == 2
    assert "--levels: is for --reproduce only" in capsys.readouterr().err
    assert main([*command, "--levels", "fast"]) == 2


@NEEDS_ARM_GCC
def test_an_interrupt_leaves_no_folder(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(folder: Path, **_: object) -> None:
        assert (folder / "microgen.json").is_file()
        raise KeyboardInterrupt

    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    monkeypatch.setattr(builder, "build", interrupted)
    with pytest.raises(KeyboardInterrupt):
        _found(project)
    assert not list(scratch.iterdir())
