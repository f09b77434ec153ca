"""Packs the library of a generated project into one archive, in the form of TVM's export."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

from microgen.base import manifest
from microgen.base.errors import ProjectError
from microgen.base.files import MANIFEST, inside, write_whole
from microgen.base.manifest import Manifest
from microgen.tvm.mlf import tar
from microgen.tvm.mlf.metadata import CODEGENS_FOLDER, RUNTIME_FOLDER

# Folder or file of the project -> its place in the archive.
_PLACES = {
    "LICENSE": "LICENSE",
    "NOTICE": "NOTICE",
    "model/": "",
    "crt/": f"{RUNTIME_FOLDER}/",
    f"{CODEGENS_FOLDER}/": f"{CODEGENS_FOLDER}/",
}


def export(project: Path, output: Path) -> int:
    """Write ``model/``, the runtime and code generators' files that it needs, and the licences as a
    tar archive; return its size in bytes.

    Only files of the manifest are packed. Raises ProjectError if one is missing or changed, or if
    ``output`` cannot be written.
    """
    digests = record_of(project).files
    files = {
        target + name.removeprefix(source): sound(project, name, digest)
        for name, digest in digests.items()
        for source, target in _PLACES.items()
        if name.startswith(source)
    }
    return write(project, digests, output, tar.write(files))


def record_of(project: Path) -> Manifest:
    """The manifest of a project, which must be unchanged. Raises ProjectError."""
    record = manifest.load(project)
    if not manifest.is_as_written(project):
        raise _changed(project / MANIFEST)
    return record


def write(project: Path, names: Iterable[str], output: Path, data: bytes) -> int:
    """Write an exported file; return its size in bytes. Raises ProjectError if it cannot be
    written, or if it would replace one of the project's files, which are ``names``."""
    check_apart(project, names, output)
    try:
        write_whole(output, data)
    except OSError as error:
        raise ProjectError(
            f"cannot be written: {error.strerror}", where=str(output), hint="choose another -o"
        ) from error
    return len(data)


def check_apart(project: Path, names: Iterable[str], output: Path) -> None:
    """Raise ProjectError if ``output`` is one of the project's files or contains one."""
    # Links are followed first, because one of them may lead into the project.
    place, root = (Path(os.path.realpath(path)) for path in (output, project))
    own = (root / name for name in (MANIFEST, *names))
    replaced = next((path for path in own if place in (path, *path.parents)), None)
    if replaced:
        name = replaced.relative_to(root)
        what = "is" if place == replaced else "contains"
        raise ProjectError(
            f"{what} {name} of the project, which is not replaced",
            where=str(output),
            hint="choose another -o",
        )


def sound(project: Path, name: str, digest: str) -> bytes:
    """A file's content, as it was generated. Raises ProjectError if the file was changed."""
    try:
        data = inside(project, name).read_bytes()
    except OSError as error:
        raise ProjectError(
            f"cannot be read: {error.strerror}", where=str(project / name), hint="generate again"
        ) from error
    # An edited file would be exported under the verified model's name.
    if hashlib.sha256(data).hexdigest() != digest:
        raise _changed(project / name)
    return data


def _changed(path: Path) -> ProjectError:
    return ProjectError(
        "is not as it was generated, so the export would not be of the model that was verified",
        where=str(path),
        hint="generate again",
    )
