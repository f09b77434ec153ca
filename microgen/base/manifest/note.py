"""The notes of the model's object files, and the digest in them of everything that decides the
code."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from microgen.base.manifest.records import ModuleRecord

BUILT_FROM = "built_from"  # the field of the manifest, and of the notes
OWNER, TYPE = "FDO", 0xCAFE1A7E  # `readelf -n` prints notes of these as text
SECTION = ".note.microgen"
KIND = "microgen"  # the notes' "type": the maker of the described code
COMPILER = "compiler"  # the last field, which the compiler fills in

_SOURCES = "model/codegen/host/src"
_C_OR_ASM = (".c", ".S")
# Short options that decide the code; the digest covers all options.
_OPTIONS = ("toolchain", "executor", "interface", "codegen", "optimize", "numerics", "planner")


def header(module: str) -> str:
    """The path of the header that puts the note of a module into an object file."""
    return f"{_SOURCES}/{module}_note.h"


def digest(manifest: Mapping[str, Any]) -> str:
    """The SHA-256 of everything that decides the code. It is computed from a manifest's JSON value,
    which has the digests of all files, without the notes' headers and without values computed from
    other values."""
    modules = (manifest, *manifest.get("more", ()))
    # These headers contain the digest, so it cannot cover them.
    notes = {header(module["module"]) for module in modules}
    files = {name: file for name, file in manifest["files"].items() if name not in notes}
    computed = (BUILT_FROM, "digest")
    content = {key: value for key, value in manifest.items() if key not in computed}
    return hashlib.sha256(
        json.dumps({**content, "files": files}, sort_keys=True).encode()
    ).hexdigest()


def text(module: ModuleRecord, *, microgen: str, board: str, built_from: str) -> str:
    """The JSON text of the module's notes up to the compiler's name; ``"}`` follows the name."""
    # Options may be absent in projects of earlier versions.
    options = {name: module.options[name] for name in _OPTIONS if name in module.options}
    said = {
        "type": KIND,
        "name": module.module,
        "version": microgen,
        "model": module.model.sha256,
        BUILT_FROM: built_from,
        "board": board,
        "options": options,
        COMPILER: "",
    }
    # Without its end, because the compiler's name is put there when an object file is compiled.
    return json.dumps(said, separators=(",", ":")).removesuffix('"}')


def units(files: Mapping[str, str], modules: tuple[str, ...]) -> dict[str, list[str]]:
    """The translation units that have a note, sorted, by the module that the note names. The note
    of a unit that several modules share names the first module."""
    owned: dict[str, list[str]] = {module: [] for module in modules}
    for name in sorted(files):
        path = PurePosixPath(name)
        if str(path.parent) == _SOURCES and path.suffix in _C_OR_ASM:
            owner = path.stem.rpartition("_")[0]  # the text after it has no "_"
            # A unit of several modules has no module's name, and the first module's note is in it.
            owned[owner if owner in owned else modules[0]].append(name)
    return owned
