"""Module blobs: in an ELF, in a generated project, or in a file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from microgen.base import manifest
from microgen.base.errors import MicrogenError, ModelError, ProjectError
from microgen.base.files import inside, write_whole
from microgen.base.manifest import Manifest
from microgen.compiler.codegens import payloads
from microgen.interface.inspection.base import Inspected
from microgen.relay import blob
from microgen.relay.blob import describe, writer
from microgen.verifier.checks.module_blob import known
from microgen.verifier.elf.elf import Elf

_MAX_BLOBS = 64
_MAX_BYTES = 256 << 20
_BYTE = re.compile(rb"0x([0-9a-f]{2}),")


@dataclass(frozen=True, slots=True)
class FoundBlob:
    """A blob's bytes and its symbol, which is empty for a file."""

    symbol: str
    data: bytes


def is_blob(head: bytes, nbytes: int) -> bool:
    """Whether a file of ``nbytes`` bytes that begins with ``head`` may be a blob. A blob begins
    with its size."""
    return nbytes >= 16 and int.from_bytes(head[:8], "little") == nbytes - 8


@dataclass(frozen=True, slots=True)
class Context:
    """The facts with which blobs are read: the manifests of their projects, and folders with
    codegens, which read payloads."""

    records: Sequence[Manifest]
    codegen_path: Sequence[Path] = ()


def inspect(path: Path, codegen_path: Sequence[Path] = ()) -> Inspected:
    """Inspect a file that contains only a blob. Raises ModelError for a malformed one."""
    if path.stat().st_size > _MAX_BYTES:
        raise ModelError(f"has more than {_MAX_BYTES:,} bytes", where=str(path))
    module_blob, context = FoundBlob("", path.read_bytes()), Context(beside(path), codegen_path)
    listed = describe.listing(_read(module_blob, context))
    data = {"kind": "blob", **listed.data}
    return Inspected(data, listed.lines, _payloads([module_blob], context))


def with_blobs(shown: Inspected, blobs: Sequence[FoundBlob], context: Context) -> Inspected:
    """``shown`` with the blobs that were found. If a blob cannot be read, the reason is shown."""
    if not blobs:
        return shown
    listed = [_listed(one, context) for one in blobs]
    lines = [part for _, text in listed for part in ("", *text)]
    data = {**shown.data, "blobs": [own for own, _ in listed]}
    return Inspected(data, [*shown.text, *lines], _payloads(blobs, context))


def _listed(module_blob: FoundBlob, context: Context) -> tuple[dict[str, Any], list[str]]:
    own = {"symbol": module_blob.symbol, "nbytes": len(module_blob.data)}
    try:
        listed = describe.listing(_read(module_blob, context))
    except MicrogenError as error:
        return {**own, "error": str(error)}, [f"{module_blob.symbol}: {error}"]
    head, *lines = listed.lines
    return {**own, **listed.data}, [f"{module_blob.symbol}: {head}", *lines]


def _read(module_blob: FoundBlob, context: Context) -> blob.Blob:
    modules = [m for record in context.records for own in record.modules for m in own.loaded]
    # Only these code generators can read the payloads, so no other is loaded.
    names = {module.codegen for module in modules}
    return blob.loads(
        module_blob.data, known(modules, payloads.readers(names, context.codegen_path))
    )


def _payloads(blobs: Sequence[FoundBlob], context: Context) -> dict[str, bytes]:
    """Names and contents of the files to extract. If there are several blobs, each name begins with
    its blob's number. Blobs that cannot be read are left out."""
    files: dict[str, bytes] = {}
    for number, one in enumerate(blobs):
        with suppress(MicrogenError):
            lead = f"{number}_" if len(blobs) > 1 else ""
            contents = describe.extract(_read(one, context))
            files |= {lead + name: data for name, data in contents.items()}
    return files


def of_elf(elf: Elf) -> list[FoundBlob]:
    """The blobs of an ELF. It is not trusted, so more than 64 blobs raise ModelError."""
    symbols = {
        # By place, because several symbols may name one array.
        (s.address, s.size): s
        for s in elf.symbols
        if s.name.endswith(writer.symbol()) and s.kind == "object"
    }
    if len(symbols) > _MAX_BLOBS:
        raise ModelError(f"has more than {_MAX_BLOBS} module blobs", where=str(elf.path))
    return [FoundBlob(s.name, elf.read(s.address, s.size) or b"") for s in symbols.values()]


def of_project(project: Path, record: Manifest) -> list[FoundBlob]:
    """The blobs in the sources of a generated project."""
    return [
        FoundBlob(module.blob.symbol, _array(project, module.module))
        for module in record.modules
        if module.blob is not None
    ]


def _array(project: Path, module: str) -> bytes:
    path = inside(project, f"model/codegen/host/src/{module}_blob.c")
    try:
        return bytes(int(byte, 16) for byte in _BYTE.findall(path.read_bytes()))
    except OSError as error:
        raise ProjectError(
            f"cannot be read: {error.strerror}", where=str(path), hint="generate again"
        ) from error


def beside(path: Path) -> list[Manifest]:
    """The manifest of the project in which a file was built, if there is one. The manifest has the
    sizes of payloads whose format microgen does not know."""
    with suppress(MicrogenError):
        return [manifest.load(path.resolve().parent.parent)]
    return []


def write(files: Mapping[str, bytes], folder: Path, *, force: bool) -> list[str]:
    """Write payloads into a folder, which is made if necessary, and return their paths.

    Raises MicrogenError if there are none, or if a file exists and ``force`` is not given.
    """
    if not files:
        raise MicrogenError("found no module blob that can be read", where="--extract")
    paths = [folder / name for name in files]
    taken = [path for path in paths if path.is_symlink() or path.exists()]
    if taken and not force:
        hint = "choose another folder, or give --force"
        raise MicrogenError("already exists", where=str(taken[0]), hint=hint)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, data in zip(paths, files.values(), strict=True):
            if path.is_symlink():
                path.unlink()  # a link is replaced, not followed
            write_whole(path, data)
    except OSError as error:
        where = str(error.filename or folder)
        raise MicrogenError(f"cannot be written: {error.strerror}", where=where) from error
    return [*map(str, paths)]
