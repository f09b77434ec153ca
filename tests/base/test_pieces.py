"""Files whose contents are made piece by piece."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from microgen.base.errors import MicrogenError, ProjectError
from microgen.base.files import FileTree
from microgen.base.pieces import BYTES, LargeContent, encoded
from microgen.frontends import model_files

_DATA = bytes(range(256)) * 1000


def _pieces() -> Iterator[bytes | memoryview]:
    yield b'#include "a.h"\n'
    yield memoryview(_DATA)


_WHOLE = b'#include "a.h"\n' + _DATA


def test_a_tree_writes_and_hashes_pieces_as_it_does_bytes(tmp_path: Path) -> None:
    large = FileTree({"x/large": LargeContent(_pieces)}).merged(FileTree({"small": b"s"}))
    small = FileTree({"x/large": _WHOLE, "small": b"s"})
    assert large.digests() == small.digests()
    assert dict(large.files) == dict(small.files)
    assert len(large.files) == 2
    assert "x/large" in large.files
    assert large.beginnings() == [b'#include "a.h"\n', b"s"]
    large.write_to(tmp_path / "p")
    assert (tmp_path / "p" / "x" / "large").read_bytes() == _WHOLE


def test_two_parts_may_not_make_one_file() -> None:
    tree = FileTree({"x": LargeContent(_pieces)})
    with pytest.raises(ProjectError, match="both generate x"):
        tree.merged(FileTree({"x": b""}))


def test_texts_are_joined_to_pieces() -> None:
    texts = ["ä" * 10] * 20_000
    pieces = list(encoded(texts))
    assert b"".join(pieces).decode() == "".join(texts)
    assert all(len(piece) >= BYTES for piece in pieces[:-1])


def test_a_file_that_changes_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(_WHOLE)
    content = model_files.pieces(path)
    assert content.whole() == _WHOLE
    assert content.digest == hashlib.sha256(_WHOLE).hexdigest()
    os.utime(path, ns=(1, 1))
    with pytest.raises(MicrogenError, match="has changed while it was compiled"):
        content.whole()
    with pytest.raises(MicrogenError, match="cannot be read"):
        model_files.pieces(tmp_path / "absent")


def test_a_file_that_is_removed_is_still_read(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(_WHOLE)
    content = model_files.pieces(path)
    first = iter(content)
    assert next(first) == _WHOLE[:BYTES]
    path.unlink()
    assert content.whole() == _WHOLE
    assert b"".join(first) == _WHOLE[BYTES:]


@pytest.mark.parametrize("before", [0, BYTES - 4, BYTES - 8, BYTES, 3 * BYTES - 1])
def test_a_word_is_found_across_pieces(before: int, tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(b"x" * before + b"location" + b"y" * 5)
    assert model_files.contains(path, b"location")
    assert not model_files.contains(path, b"locations")
