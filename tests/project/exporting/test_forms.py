"""Every form: equal bytes, what is written over, what is refused, and projects of every kind."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import microgen
from microgen.base import manifest
from microgen.base.errors import ProjectError
from microgen.interface.cli import main
from microgen.project.exporting import FORMS, calling, component
from microgen.project.firmware.component import C_FLAGS
from microgen.tvm.mlf import tar
from tests.project.exporting.firmware import M4, STRICT, proved, run
from tests.support.external_networks import TOY, convolution
from tests.support.places import BYOC_GUIDE, SMALL
from tests.support.tools import NEEDS_ARM_GCC, NEEDS_CXX

BOARD = "mps2_an386"
KINDS: Mapping[str, tuple[tuple[Any, ...], Mapping[str, Any]]] = {
    "graph": ((SMALL,), {"executor": "graph"}),
    "packed": ((SMALL,), {"interface": "packed"}),
    "shared kernels": ((SMALL,), {"optimize": "flash"}),
    "buffers in the workspace": ((SMALL,), {"workspace_io": True}),
    "tensors in inputs and outputs": (
        (SMALL,),
        {"input_consumed": True, "input_headroom": 256, "output_workspace": True},
    ),
    "the output in the input": ((SMALL,), {"output_overlay": True}),
    "a pool of the caller": ((SMALL,), {"pool": ("ext:8K:external",)}),
    "several models": ((SMALL, SMALL), {}),
    "C of a code generator": ((SMALL,), {"codegen": ("ccompiler",)}),
    "headers of a code generator": (
        (convolution(),),
        {"codegen": ("toy",), "codegen_path": TOY},
    ),
    "modules": ((BYOC_GUIDE,), {"codegen": ("examplejsoncompiler",)}),
}


def generated(kind: str, folder: Path) -> Path:
    models, options = KINDS[kind]
    if len(models) > 1:
        pairs = [(model, name) for model, name in zip(models, "ab", strict=True)]
        microgen.generate_models(pairs, BOARD, folder, **options)
    else:
        microgen.generate(models[0], BOARD, folder, **options)
    return folder


def contents(path: Path) -> dict[str, bytes]:
    """The bytes of a file, or of a folder's files by path."""
    if path.is_file():
        return {"": path.read_bytes()}
    files = (file for file in path.rglob("*") if file.is_file())
    return {file.relative_to(path).as_posix(): file.read_bytes() for file in files}


def export(project: Path, form: str, output: Path, *options: str) -> int:
    return main(["export", str(project), "--as", form, "-o", str(output), "-q", *options])


@pytest.mark.parametrize("form", FORMS)
def test_equal_projects_give_equal_bytes(
    form: str, projects: Callable[..., Path], tmp_path: Path
) -> None:
    copied = shutil.copytree(projects(BOARD), tmp_path / "elsewhere")
    first = microgen.export(projects(BOARD), tmp_path / "1", form)
    assert microgen.export(copied, tmp_path / "2", form) == first
    made = contents(tmp_path / "1")
    assert made == contents(tmp_path / "2")
    assert sum(map(len, made.values())) == first
    assert str(tmp_path).encode() not in b"".join(made.values())


@pytest.mark.parametrize("form", FORMS)
def test_a_component_has_all_it_needs_and_nothing_of_the_application(
    form: str, projects: Callable[..., Path], tmp_path: Path
) -> None:
    microgen.export(projects(BOARD), tmp_path / "x", form)
    if (tmp_path / "x").is_file():
        with zipfile.ZipFile(tmp_path / "x") as archive:
            made = {name: archive.read(name) for name in archive.namelist()}
    else:
        made = contents(tmp_path / "x")
    names = {Path(name).name for name in made}
    assert {"LICENSE", "NOTICE", "README.md", "tvmgen_default.h"} <= names
    assert {"default_lib0.c", "default_lib1.c", "default_params.c", "default_memory.S"} <= names
    assert {"platform.h", "c_runtime_api.h", "packed_func.c"} <= names
    assert not {"main.c", "platform.c", "startup.c", "semihosting.c", "io.c", "start.c"} & names
    text = b"".join(made.values())
    assert b"fp-contract=off" in text


def test_every_file_of_the_component_is_as_the_project_has_it(
    projects: Callable[..., Path],
) -> None:
    found = component.load(projects(BOARD))
    assert {*found.sources, "LICENSE", "NOTICE"} <= found.files.keys()
    assert all((projects(BOARD) / n).read_bytes() == data for n, data in found.files.items())
    assert ("-O2", *C_FLAGS) == component.FLAGS


@pytest.mark.parametrize("form", ["arduino", "esp-idf", "platformio"])
def test_a_folder_is_written_again_only_if_nobody_has_changed_it(
    form: str, projects: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project, output = projects(BOARD), tmp_path / "out"
    assert export(project, form, output) == 0
    assert export(project, form, output) == 0
    before = contents(output)
    (output / "mine.c").write_text("int mine;\n")
    assert export(project, form, output) == 2
    assert "contains mine.c, which microgen did not generate" in capsys.readouterr().err
    assert contents(output) == {**before, "mine.c": b"int mine;\n"}
    assert export(project, form, output, "--force") == 0
    assert contents(output) == before


def test_a_project_is_never_replaced_by_its_export(
    projects: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = shutil.copytree(projects(BOARD), tmp_path / "p")
    other = shutil.copytree(projects(BOARD), tmp_path / "other")
    for output, options in ((project, ["--force"]), (tmp_path, ["--force"]), (other, [])):
        assert export(project, "arduino", output, *options) == 2
    said = capsys.readouterr().err
    assert said.count("contains microgen.json of the project, which is not replaced") == 2
    assert "which microgen did not generate" in said
    assert contents(other) == contents(project)


@pytest.mark.parametrize(
    ("form", "name"),
    [
        ("arduino", "model"),
        ("zip", "microgen.json"),
        ("cmsis-pack", "model/CMakeLists.txt"),
        ("", "LICENSE"),
    ],
)
def test_no_part_of_a_project_is_replaced_by_its_export(
    form: str, name: str, projects: Callable[..., Path], tmp_path: Path
) -> None:
    project = shutil.copytree(projects(BOARD), tmp_path / "p")
    before = contents(project)
    (tmp_path / "link").symlink_to(project / name)
    for output in (project / name, tmp_path / "link"):
        with pytest.raises(ProjectError, match="of the project, which is not replaced"):
            microgen.export(project, output, form, force=True)
    assert contents(project) == before
    microgen.export(project, project / "exported", form)


def test_links_that_lead_to_themselves_are_no_place(
    projects: Callable[..., Path], tmp_path: Path
) -> None:
    (tmp_path / "loop").symlink_to("loop")
    for form in ("zip", "", "arduino"):
        for output in (tmp_path / "loop", tmp_path / "loop" / "x"):
            with pytest.raises(ProjectError, match=r"links|is not a (directory|folder)"):
                microgen.export(projects(BOARD), output, form)


def test_what_cannot_be_exported_is_refused_in_one_line(
    projects: Callable[..., Path], tmp_path: Path
) -> None:
    pairs = [(SMALL, "a"), (SMALL, "b")]
    microgen.generate_models(pairs, BOARD, tmp_path / "s", shared_workspace=True)
    with pytest.raises(ProjectError, match="has a shared workspace, whose parts only"):
        microgen.export(tmp_path / "s", tmp_path / "x", "zip")
    with pytest.raises(ProjectError, match="there is no form 'zipp'"):
        microgen.export(projects(BOARD), tmp_path / "x", "zipp")
    changed = shutil.copytree(projects(BOARD), tmp_path / "changed")
    (changed / "model/codegen/host/src/default_lib0.c").write_text("")
    with pytest.raises(ProjectError, match="is not as it was generated"):
        microgen.export(changed, tmp_path / "x", "zip")
    with pytest.raises(ProjectError, match="cannot be written"):
        microgen.export(projects(BOARD), tmp_path / "none" / "x.zip", "zip")
    assert not (tmp_path / "x").exists()


def test_a_project_of_an_earlier_version_is_refused(
    projects: Callable[..., Path], tmp_path: Path
) -> None:
    old = shutil.copytree(projects(BOARD), tmp_path / "old")
    record = json.loads((old / "microgen.json").read_text())
    del record["files"]["model/CMakeLists.txt"]
    (old / "microgen.json").write_text(manifest.digested(record))
    with pytest.raises(ProjectError, match="earlier version of microgen"):
        microgen.export(old, tmp_path / "x", "zip")


@pytest.mark.parametrize("cpu", ["cortex-x", 3, None, ["cortex-m4"]])
def test_a_cpu_that_nobody_knows_is_refused(
    cpu: object, projects: Callable[..., Path], tmp_path: Path
) -> None:
    edited = shutil.copytree(projects(BOARD), tmp_path / "edited")
    record = json.loads((edited / "microgen.json").read_text())
    record["board"]["cpu"] = cpu
    (edited / "microgen.json").write_text(json.dumps(record))
    with pytest.raises(ProjectError, match=r"microgen\.json: is not as it was generated"):
        microgen.export(edited, tmp_path / "x")
    (edited / "microgen.json").write_text(manifest.digested(record))
    for form in FORMS:
        with pytest.raises(ProjectError, match="which microgen does not know; generate again"):
            microgen.export(edited, tmp_path / "x", form)


@pytest.mark.sampled(5)
@NEEDS_ARM_GCC
@pytest.mark.parametrize("kind", KINDS)
def test_the_call_compiles_for_projects_of_every_kind(kind: str, tmp_path: Path) -> None:
    found = component.load(generated(kind, tmp_path / "p"))
    (tmp_path / "x.c").write_text(f"{calling.code(found)}\nint main(void) {{ return infer(); }}\n")
    includes = [f"-I{tmp_path}/p/{folder}" for folder in found.public_includes]
    options = (*M4, *STRICT, *includes, "-fsyntax-only", "-x")
    run(("arm-none-eabi-gcc", "-std=c99", *options, "c", "x.c"), tmp_path)
    run(("arm-none-eabi-gcc", "-ffreestanding", "-std=c++17", *options, "c++", "x.c"), tmp_path)


@pytest.mark.slow
@NEEDS_ARM_GCC
@NEEDS_CXX
@pytest.mark.parametrize("kind", KINDS)
def test_libraries_of_every_kind_link_and_pass_verify(kind: str, tmp_path: Path) -> None:
    """As Arduino compiles them: the model's sources together, with no options of their own."""
    project = generated(kind, tmp_path / "p")
    microgen.export(project, tmp_path / "library", "arduino")
    (tmp_path / "x.c").write_text(
        f"{calling.code(component.load(project))}\nint main(void) {{ return infer(); }}\n"
    )
    src = tmp_path / "library" / "src"
    sources = sorted(path for path in src.rglob("*") if path.suffix in (".c", ".S"))
    properties = (tmp_path / "library" / "library.properties").read_text().splitlines()
    fields = dict(line.split("=", 1) for line in properties)
    options = (*M4, "-Os", *STRICT, "-ffunction-sections", "-fdata-sections", f"-I{src}")
    link = ("-Wl,--gc-sections", "-Wl,-e,main", "--specs=nosys.specs", "-nostartfiles")
    script = ("-Wl,-Ttext=0x10000", "-Wl,-Tdata=0x20000000")
    kept = fields.get("ldflags", "").split()
    command = ("arm-none-eabi-gcc", *options, "x.c", *sources, *link, *script, *kept)
    run((*command, "-o", "x.elf"), tmp_path)
    proved(project, tmp_path / "x.elf")


def test_the_archive_of_the_model_library_format_has_the_target_too(
    projects: Callable[..., Path], tmp_path: Path
) -> None:
    microgen.export(projects(BOARD), tmp_path / "x.tar")
    files = tar.read((tmp_path / "x.tar").read_bytes())
    project = projects(BOARD)
    assert files["CMakeLists.txt"] == (project / "model" / "CMakeLists.txt").read_bytes()
    assert "model/CMakeLists.txt" in manifest.load(project).files
