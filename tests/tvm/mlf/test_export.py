"""``microgen export`` always writes the same archive. tar reads it, and cc compiles its files."""

from __future__ import annotations

import io
import json
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

import microgen
from microgen.base.errors import ProjectError
from microgen.interface.cli import main
from microgen.tvm.mlf import tar
from microgen.verifier.elf import elf
from tests.support.tools import NEEDS_NINJA

DIGITS = Path(__file__).resolve().parents[3] / "examples" / "digits" / "digits_int8.tflite"
LONG = "x" * 96


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("export") / "p"
    microgen.generate(DIGITS, "native", path, name=LONG)
    return path


@pytest.fixture(scope="module")
def archive(project: Path) -> Path:
    path = project.parent / "x.tar"
    microgen.export(project, path)
    return path


def test_members_are_named_and_owned_as_tvms(archive: Path) -> None:
    with tarfile.open(archive) as found:
        members = found.getmembers()
    assert members[0].name == "."
    names = [member.name for member in members]
    assert f"./codegen/host/src/{LONG}_lib0.c" in names
    assert {m.uid for m in members} == {m.gid for m in members} == {0}
    assert {m.uname for m in members} == {m.gname for m in members} == {"root"}
    assert {m.mtime for m in members} == {0}
    assert {m.mode for m in members} == {0o644, 0o755}
    assert all(m.isfile() or m.isdir() for m in members)
    assert names == sorted(names, key=lambda name: name.split("/"))


def test_the_archive_has_the_licence_and_says_whose_what_is(project: Path, archive: Path) -> None:
    files = tar.read(archive.read_bytes())
    assert files["LICENSE"] == (project / "LICENSE").read_bytes()
    assert files["NOTICE"] == (project / "NOTICE").read_bytes()
    text = " ".join(files["NOTICE"].decode().split())
    assert "crt/ is called runtime/, and the contents of model/ are at the top" in text


def test_the_runtime_has_the_configuration_and_the_platform_that_tvm_has_templates_of(
    archive: Path,
) -> None:
    """Filled in, for this board: the macros of crt_config.h, and every function of platform.h."""
    files = tar.read(archive.read_bytes())
    config = files["runtime/include/crt_config.h"].decode()
    limits = ("NDIM", "ARGS", "REGISTERED_MODULES", "PACKET_SIZE_BYTES", "STRLEN_DLTYPE")
    assert all(f"#define TVM_CRT_MAX_{limit} " in config for limit in limits)
    header = files["runtime/include/tvm/runtime/crt/platform.h"].decode()
    functions = set(re.findall(r"\b(TVMPlatform\w+)\(", header)) - {"TVMPlatformMemorySetPool"}
    assert len(functions) == 10
    sources = b"".join(data for name, data in files.items() if name[-2:] == ".c").decode()
    own = {"TVMPlatformInitialize", "TVMPlatformTimerStart", "TVMPlatformTimerStop"}
    missing = {name for name in functions if not re.search(rf"\b{name}\([^;]*?\)\n{{", sources)}
    assert missing == own  # in src/platform.c, which belongs to the project, not to the library


def test_the_metadata_is_found_where_users_of_tvm_look(archive: Path) -> None:
    with tarfile.open(archive, "r:*") as found:
        member = found.extractfile("./metadata.json")
        assert member is not None
        record = json.load(member)
    assert list(record["modules"]) == [LONG]


def test_equal_projects_give_equal_archives(project: Path, tmp_path: Path) -> None:
    microgen.generate(DIGITS, "native", tmp_path / "again", name=LONG)
    nbytes = microgen.export(tmp_path / "again", tmp_path / "again.tar")
    data = (tmp_path / "again.tar").read_bytes()
    assert len(data) == nbytes
    microgen.export(project, tmp_path / "first.tar")
    assert (tmp_path / "first.tar").read_bytes() == data


def test_our_reader_python_and_gnu_tar_find_the_same(archive: Path, tmp_path: Path) -> None:
    ours = tar.read(archive.read_bytes())
    with tarfile.open(archive) as found:
        theirs = {m.name[2:]: found.extractfile(m).read() for m in found if m.isfile()}  # type: ignore[union-attr]
    assert ours == theirs
    subprocess.run(["tar", "xf", archive, "-C", tmp_path], check=True)
    on_disk = {
        p.relative_to(tmp_path).as_posix(): p.read_bytes()
        for p in tmp_path.rglob("*")
        if p.is_file()
    }
    assert ours == on_disk


@NEEDS_NINJA
def test_the_archive_stands_alone(archive: Path, tmp_path: Path) -> None:
    """Its sources compile with only its own runtime, and run on zeros."""
    subprocess.run(["tar", "xf", archive, "-C", tmp_path], check=True)
    main_c = tmp_path / "main.c"
    main_c.write_text(
        f'#include "tvmgen_{LONG}.h"\n'
        f"static int8_t image[TVMGEN_{LONG.upper()}_IMAGE_SIZE];\n"
        f"static int8_t output[TVMGEN_{LONG.upper()}_OUTPUT_SIZE];\n"
        "int main(void)\n{\n"
        f"    struct tvmgen_{LONG}_inputs in = {{image}};\n"
        f"    struct tvmgen_{LONG}_outputs out = {{.output = output}};\n"
        f"    return (int)tvmgen_{LONG}_run(&in, &out);\n}}\n"
    )
    host = tmp_path / "codegen/host"
    sources = [p for p in sorted((host / "src").iterdir()) if p.suffix in (".c", ".S")]
    include = [f"-I{host}/include", f"-I{tmp_path}/runtime/include"]
    command = ["cc", "-std=c99", *include, main_c, *sources, "-o", tmp_path / "a.out"]
    subprocess.run(command, check=True)
    subprocess.run([tmp_path / "a.out"], check=True)
    notes = elf.load(tmp_path / "a.out").notes
    assert len(notes) == len(sources)
    assert len(set(notes)) == 1


def test_the_command_says_what_it_wrote(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "x.tar"
    assert main(["export", str(project), "-o", str(output), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["ok"], found["output"]) == (True, str(output))
    assert found["nbytes"] == output.stat().st_size


def test_a_changed_or_absent_file_is_refused(project: Path, tmp_path: Path) -> None:
    copy = tmp_path / "p"
    shutil.copytree(project, copy)
    text = copy / "model/src" / f"{LONG}.relay"
    text.write_text("changed")
    with pytest.raises(ProjectError, match="is not as it was generated"):
        microgen.export(copy, tmp_path / "x.tar")
    text.unlink()
    with pytest.raises(ProjectError, match="is missing"):
        microgen.export(copy, tmp_path / "x.tar")
    assert not (tmp_path / "x.tar").exists()


def test_files_that_are_not_the_projects_are_left_out(project: Path, tmp_path: Path) -> None:
    copy = tmp_path / "p"
    shutil.copytree(project, copy)
    (copy / "model/notes.txt").write_text("mine")
    microgen.export(copy, tmp_path / "x.tar")
    assert "notes.txt" not in tar.read((tmp_path / "x.tar").read_bytes())


def test_what_cannot_be_written_leaves_nothing(project: Path, tmp_path: Path) -> None:
    (tmp_path / "folder.tar").mkdir()
    for output in (tmp_path / "folder.tar", tmp_path / "absent" / "x.tar"):
        with pytest.raises(ProjectError, match="cannot be written"):
            microgen.export(project, output)
    assert [p.name for p in tmp_path.iterdir()] == ["folder.tar"]


def test_folders_that_are_no_projects_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match="is not a generated project"):
        microgen.export(tmp_path, tmp_path / "x.tar")


def test_an_empty_tree_is_an_archive_of_nothing() -> None:
    data = tar.write({})
    assert tar.read(data) == {}
    with tarfile.open(fileobj=io.BytesIO(data)) as found:
        assert found.getnames() == []
