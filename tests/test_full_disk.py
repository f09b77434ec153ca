"""Full disks: every output is whole or absent, and the error is one line."""

from __future__ import annotations

import contextlib
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from microgen.base.errors import MicrogenError, RunError
from microgen.base.files import FileTree, whole, write_whole
from microgen.interface.inspection import blobs
from microgen.running.runner import process, run, samples
from tests.running.runner import standin
from tests.support.tools import NEEDS_CC

BIG = b"x" * 100_000
FULL = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")


@contextlib.contextmanager
def _room(nbytes: int) -> Iterator[None]:
    """Limits the size of files. Writing more bytes fails, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (nbytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


WRITERS: dict[str, Callable[[Path], object]] = {
    "samples": lambda path: samples.save(path, {"y": np.arange(100_000)}),
    "payloads": lambda path: blobs.write({path.name: BIG}, path.parent, force=True),
    "any": lambda path: write_whole(path, BIG),
}


@pytest.mark.parametrize("before", [None, b"what was there"])
@pytest.mark.parametrize("name", WRITERS)
def test_a_file_is_whole_or_as_it_was(tmp_path: Path, name: str, before: bytes | None) -> None:
    path = tmp_path / "out.bin"
    if before is not None:
        path.write_bytes(before)
    with _room(5000), pytest.raises((MicrogenError, OSError), match="File too large"):
        WRITERS[name](path)
    assert [p.read_bytes() for p in tmp_path.iterdir()] == ([] if before is None else [before])
    WRITERS[name](path)
    assert path.stat().st_size >= len(BIG)
    assert [p.name for p in tmp_path.iterdir()] == ["out.bin"]


def test_a_project_is_whole_or_as_it_was(tmp_path: Path) -> None:
    root = tmp_path / "project"
    small = FileTree({"microgen.json": b'{"files": {"a/b": "0"}}'})
    small.write_to(root)
    with _room(5000), pytest.raises(MicrogenError, match="cannot write the project: File too"):
        FileTree({"a/b": b"1", "c": BIG}).write_to(root, force=True)
    assert [p.name for p in tmp_path.rglob("*")] == ["project", "microgen.json"]


def test_an_interrupted_write_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "out.bin"
    path.write_bytes(b"before")

    def interrupted() -> None:
        with whole(path) as file:
            file.write(BIG)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert [p.read_bytes() for p in tmp_path.iterdir()] == [b"before"]


def test_a_link_stays_and_a_device_is_written_into(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"")
    link.symlink_to(target)
    write_whole(link, BIG)
    assert link.is_symlink()
    assert target.read_bytes() == BIG
    write_whole(Path("/dev/null"), BIG)
    assert Path("/dev/null").is_char_device()


@FULL
def test_a_full_device_is_named(tmp_path: Path) -> None:
    with pytest.raises(MicrogenError, match="/dev/full: cannot be written: No space left"):
        samples.save(Path("/dev/full"), {"y": np.zeros(3)})


@FULL
@pytest.mark.parametrize("arguments", [["boards"], ["ops", "--json"], ["codegens"]])
def test_a_result_that_cannot_be_printed_is_one_line(arguments: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "microgen", *arguments], stdout=full, stderr=-1, check=False
        )
    said = b"microgen: standard output: cannot be written: No space left on device\n"
    assert (done.returncode, done.stderr) == (2, said)


@NEEDS_CC
def test_samples_that_find_no_space(tmp_path: Path) -> None:
    project = standin.make(tmp_path / "project", "native")
    inputs = {"input0": np.zeros((10_000, 2, 4), np.int8)}
    with _room(5000), pytest.raises(RunError, match="cannot be written: File too large; make"):
        run(project, inputs)


def test_no_folder_for_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "absent"))
    with pytest.raises(RunError, match=r"absent.*cannot be written: No such file"):
        process.directory().__enter__()
