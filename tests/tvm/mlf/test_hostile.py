"""Untrusted archives and metadata: one clear line, exit code 2, and nothing on disk."""

from __future__ import annotations

import gzip
import io
import json
import os
import random
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from microgen.base.errors import ModelError
from microgen.interface.cli import main
from microgen.tvm.mlf import reader, tar
from tests.tvm.mlf import tvm_archives
from tests.tvm.mlf.tvm_archives import pack

SOUND = tvm_archives.version7("default")


def _refused(path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    before = sorted(path.parent.rglob("*"))
    assert main(["inspect", str(path), "-q"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert sorted(path.parent.rglob("*")) == before
    return captured.err


def _archive(*members: tarfile.TarInfo, **options: Any) -> bytes:
    """An archive of empty members in front of a valid library's metadata."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", **options) as archive:
        for member in members:
            archive.addfile(member, io.BytesIO(bytes(member.size)))
        metadata = tarfile.TarInfo("./metadata.json")
        metadata.size = len(SOUND["metadata.json"])
        archive.addfile(metadata, io.BytesIO(SOUND["metadata.json"]))
    return buffer.getvalue()


def _member(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, target
    return member


@pytest.mark.parametrize(
    ("member", "text"),
    [
        (_member("../evil"), "which is not a path inside an archive"),
        (_member("./a/../../evil"), "which is not a path inside an archive"),
        (_member("/etc/evil"), "which is not a path inside an archive"),
        (_member("./x\x1b[31m"), "which is not a path inside an archive"),
        (_member("./l", tarfile.SYMTYPE, "/etc/passwd"), "holds a symbolic link, './l'"),
        (_member("./l", tarfile.LNKTYPE, "metadata.json"), "holds a hard link, './l'"),
        (_member("./d", tarfile.CHRTYPE), "holds a device"),
        (_member("./d", tarfile.BLKTYPE), "holds a device"),
        (_member("./f", tarfile.FIFOTYPE), "holds a pipe"),
        (_member("./s", tarfile.GNUTYPE_SPARSE), "holds a sparse file"),
        (_member("./v", b"V"), "holds a member of type"),
        (_member("./metadata.json"), "has two members named 'metadata.json'"),
    ],
)
@pytest.mark.parametrize("tar_format", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT])
def test_members_that_a_library_does_not_have_are_refused(
    member: tarfile.TarInfo,
    text: str,
    tar_format: int,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "x.tar").write_bytes(_archive(member, format=tar_format))
    assert text in _refused(tmp_path / "x.tar", capsys)


def _header(name: bytes, size: bytes, kind: bytes = b"0") -> bytes:
    """One header block with a correct checksum."""
    block = bytearray(512)
    block[: len(name)] = name
    block[124 : 124 + len(size)] = size
    block[156:157] = kind
    block[257:265] = b"ustar\x0000"
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


END = bytes(1024)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", "is not a tar archive"),
        (b"hello", "is not a tar archive"),
        (b"x" * 2048, "in place of a number"),
        (b"0" * 2048, "has a wrong checksum"),
        (END, "is not a model library: it has no metadata.json"),
        (_header(b"a", b"2001\0") + END, "is cut off: a member of 1,025 bytes has 1,024"),
        (_header(b"a", b"77777777777\0") + END, "is cut off: a member of 8,589,934,591 bytes"),
        (_header(b"a", b"\x80" + bytes(10) + b"\x01"), "has a member of more than 268,435,456"),
        (_header(b"a", b"\xff" * 12), "has a member of more than 268,435,456"),
        (_header(b"a", b"-1\0"), "in place of a number"),
        (_header(b"a", b"9\0"), "in place of a number"),
        (_header(b"\xff", b"0\0") + END, "a name that is not UTF-8"),
        (_header(b"a", b"0\0"), "is cut off: it has no end mark"),
        (_header(b"x", b"5\0", b"x") + b"5 a=b" + bytes(507), "a pax header that is damaged"),
        (_header(b"x", b"5\0", b"x") + b"0 a=b" + bytes(507), "a pax header that is damaged"),
        (_header(b"x", b"5\0", b"x") + b"99999" + bytes(507), "a pax header that is damaged"),
        (_header(b"x", b"5\0", b"x") + b"a b=\n" + bytes(507), "in place of a number"),
        (
            _header(b"x", b"31\0", b"x") + b"25 GNU.sparse.size=12345\n" + bytes(487) + END,
            "holds a sparse file",
        ),
        (gzip.compress(b"hello", mtime=0), "is not a tar archive"),
        (gzip.compress(tar.write(SOUND))[:-50], "ends inside its gzip data"),
        (b"\x1f\x8b" + bytes(600), "is not valid gzip data"),
    ],
)
def test_what_is_no_sound_archive_is_refused(
    data: bytes, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "x.tar").write_bytes(data)
    assert text in _refused(tmp_path / "x.tar", capsys)


def test_sizes_of_pax_headers_are_bounded_by_the_file() -> None:
    record = b"18 size=999999999\n"
    pax = _header(b"x", b"%o\0" % len(record), b"x") + record.ljust(512, b"\0")
    with pytest.raises(ModelError, match="a member of 999,999,999 bytes has"):
        tar.read(pax + _header(b"a", b"0\0") + END)


def test_what_unpacks_to_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tar, "MAX_BYTES", 1 << 16)
    with pytest.raises(ModelError, match="holds more than 65,536 bytes"):
        tar.read(gzip.compress(bytes(1 << 20)))


def test_too_many_members_and_too_large_files_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x.tar").write_bytes(tar.write(SOUND))
    (tmp_path / "x").mkdir()
    for name in SOUND:
        (tmp_path / "x" / name.replace("/", "-")).write_bytes(b"x" * 10)
    monkeypatch.setattr(tar, "MAX_MEMBERS", 3)
    with pytest.raises(ModelError, match="has more than 3 members"):
        reader.load(tmp_path / "x.tar")
    with pytest.raises(ModelError, match="has more than 3 files"):
        reader.load(tmp_path / "x")
    monkeypatch.setattr(tar, "MAX_MEMBERS", 1000)
    monkeypatch.setattr(tar, "MAX_BYTES", 5)
    for path in (tmp_path / "x.tar", tmp_path / "x"):
        with pytest.raises(ModelError, match="has more than 5 bytes"):
            reader.load(path)


@pytest.mark.parametrize("kind", ["file", "folder", "pipe"])
def test_links_and_pipes_in_a_folder_are_refused(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "lib"
    folder.mkdir()
    (folder / "metadata.json").write_bytes(SOUND["metadata.json"])
    if kind == "pipe":
        os.mkfifo(folder / "l")
    else:
        (folder / "l").symlink_to("/etc/passwd" if kind == "file" else "/etc")
    assert "holds 'l', which is neither a file nor a folder" in _refused(folder, capsys)


def _module(change: Callable[[dict[str, Any]], object]) -> bytes:
    record = json.loads(SOUND["metadata.json"])
    change(record["modules"]["default"])
    return json.dumps(record).encode()


def _main(**fields: object) -> bytes:
    return _module(lambda m: m["memory"]["functions"]["main"][0].update(fields))


@pytest.mark.parametrize(
    ("metadata", "text"),
    [
        (b"", "metadata.json: is not valid JSON"),
        (b"\xff\xfe", "metadata.json: is not valid JSON"),
        (b'{"version": NaN}', "metadata.json: is not valid JSON"),
        (b"9" * 5000, "metadata.json: is not valid JSON"),
        (b"[" * 100_000, "metadata.json: is nested too deeply"),
        (b"[]", "the file is a list, expected an object"),
        (b"{}", "the file has no field 'version'"),
        (b'{"version": true}', "version is true or false, expected a whole number"),
        (b'{"version": 7.0}', "version is a number, expected a whole number"),
        (b'{"version": "7"}', "version is a text, expected a whole number"),
        (b'{"version": 8}', "version is 8; this microgen reads 5, 6 and 7"),
        (b'{"version": 7}', "the file has no field 'model_name'"),
        (b'{"version": 7, "modules": []}', "modules is a list, expected an object"),
        (b'{"version": 7, "modules": {"m": null}}', "modules.m is null, expected an object"),
        (b'{"version": 5, "model_name": "m"}', "the file has no field 'style'"),
        (_module(lambda m: m.pop("memory")), "modules.default has no field 'memory'"),
        (_module(lambda m: m.update(memory=[])), "modules.default.memory is a list"),
        (_module(lambda m: m.update(target="c")), "modules.default.target is a text"),
        (_module(lambda m: m.update(target=[1])), "modules.default.target[0] is a whole number"),
        (_module(lambda m: m.update(executors={})), "modules.default.executors is an object"),
        (_module(lambda m: m["memory"].update(sids=[{}])), "sids[0] has no field 'storage_id'"),
        (_main(workspace_size_bytes="1"), "main[0].workspace_size_bytes is a text"),
        (_main(workspace_size_bytes=-1), "main[0].workspace_size_bytes is not a number from 0"),
        (_main(io_size_bytes=10**400), "main[0].io_size_bytes is not a number from 0 to 2^63 - 1"),
        (_main(inputs={"a": {"size": 1}}), "main[0].inputs.a has no field 'dtype'"),
        (_main(target=None), "main[0].target is null, expected a text"),
    ],
)
def test_metadata_that_is_not_as_the_format_says_is_refused_with_its_place(
    metadata: bytes, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "x.tar").write_bytes(pack({**SOUND, "metadata.json": metadata}))
    assert text in _refused(tmp_path / "x.tar", capsys)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", "needs 8 bytes at offset 0, has 0"),
        (tvm_archives.PARAMS[:-1], "needs"),
        (tvm_archives.PARAMS + b"x", "1 bytes follow the last array"),
    ],
)
def test_a_damaged_parameter_file_is_named(
    data: bytes, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "x.tar").write_bytes(pack({**SOUND, "parameters/default.params": data}))
    found = _refused(tmp_path / "x.tar", capsys)
    assert f"x.tar: parameters/default.params: {text}" in found


@pytest.mark.parametrize("seed", range(8))
def test_random_damage_is_refused_or_read_but_never_a_crash(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    sound = pack(SOUND)
    path = tmp_path / "x.tar"
    for _ in range(60):
        data = bytearray(sound[: rng.choice((len(sound), rng.randrange(len(sound))))])
        for _ in range(rng.choice((0, 1, 1, 3, 20))):
            if data:
                data[rng.randrange(len(data))] = rng.choice((0, 0x30, 0x80, rng.randrange(256)))
        path.write_bytes(data)
        try:
            reader.load(path)
        except ModelError as error:
            assert "\n" not in str(error)  # noqa: PT017
