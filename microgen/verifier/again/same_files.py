"""Compares a project's files with the files that are generated again."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

from microgen.base.errors import ProjectError
from microgen.base.files import MANIFEST, FileTree
from microgen.base.manifest import Manifest
from microgen.base.manifest.note import BUILT_FROM
from microgen.verifier.subject import content

_LINE = re.compile(rb"\(line \d+\)")
_BUILT_FROM = re.compile(rb'built_from\\":\\"[0-9a-f]{64}')  # in the notes' headers
_DIGESTS = ("digest", "files", BUILT_FROM)


def differences(project: Path, record: Manifest, files: FileTree) -> list[str]:
    """The differences between the project's files and the files that are generated again. The
    manifest comes last, because it has the digests of all other files.

    A Relay model that code generators have partitioned is shipped as the partitioned text. Its
    layers are in other lines than in the user's file, so line numbers in comments and in layers'
    names are not compared, nor the digests of files that contain them.
    """
    same = _same_but_lines if _is_partitioned(record) else _same
    names = sorted(files.files, key=lambda name: (name == MANIFEST, name))
    sentences = (_difference(project, name, files.files[name], same) for name in names)
    return [what for what in sentences if what]


def _is_partitioned(record: Manifest) -> bool:
    return any(own.external and own.model.path.endswith(".relay") for own in record.modules)


def _difference(
    project: Path, name: str, expected: bytes, same: Callable[[str, bytes, bytes], bool]
) -> str:
    try:
        actual = content(project, name)
    except ProjectError as error:
        return f"{name} {error.what}"
    return "" if same(name, actual, expected) else f"{name} is not as it is generated"


def _same(_: str, one: bytes, other: bytes) -> bool:
    return one == other


def _same_but_lines(name: str, one: bytes, other: bytes) -> bool:
    if name == MANIFEST:
        return _compared_part(one) == _compared_part(other)
    # The numbers' digits decide where comments are wrapped.
    return one == other or _words(one) == _words(other)


def _words(text: bytes) -> list[bytes]:
    return _BUILT_FROM.sub(b"", _LINE.sub(b"", text)).split()


def _compared_part(data: bytes) -> object:
    """A manifest without digests and numbers of lines; it has been read before."""
    record = json.loads(_LINE.sub(b"", data))
    return {key: value for key, value in record.items() if key not in _DIGESTS}
