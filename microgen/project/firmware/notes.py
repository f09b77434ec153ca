"""Completes a project: adds the digest of everything that determines the code, the notes that
contain the digest, and the manifest."""

from __future__ import annotations

from dataclasses import replace

from microgen.base.files import MANIFEST, FileTree
from microgen.base.manifest import Manifest, ModuleRecord, note
from microgen.project.emit import note as emitted


def complete(promise: Manifest, files: FileTree) -> tuple[Manifest, FileTree]:
    """The manifest with the digest, and the whole project, for a manifest of all other files."""
    # Headers repeat the digest, so it is made from a manifest without them.
    promise = replace(promise, built_from=note.digest(promise.content()))
    headers = {note.header(module.module): _header(promise, module) for module in promise.modules}
    files = files.merged(FileTree(headers))
    promise = replace(promise, files=files.digests())
    return promise, files.merged(FileTree({MANIFEST: promise.dumps()}))


def _header(promise: Manifest, module: ModuleRecord) -> bytes:
    return emitted.header(
        module.module,
        promise.note(module),
        model=module.model.file,
        section=note.SECTION,
        owner=note.OWNER,
        kind=note.TYPE,
    )
