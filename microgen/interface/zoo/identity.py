"""The inputs of a result: the model's bytes, the board, the options, microgen itself, LiteRT."""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from microgen.base import resources
from microgen.version import __version__

_ENDING = re.compile(r"(?:\.tar)?\.[a-z0-9]{1,16}$")
_FOLDERS = ("boards", "crt", "templates")


@functools.cache
def own() -> str:
    """A digest of microgen's code and data, which does not depend on the place of installation."""
    package = Path(resources.__file__).parents[1]
    roots = {"microgen": package, **{name: resources.folder(name) for name in _FOLDERS}}
    digest = hashlib.sha256(__version__.encode())
    for name, root in roots.items():
        for path in _files(root):
            # Zero bytes, which no name has, keep names and contents apart.
            digest.update(f"\0{name}/{path.relative_to(root).as_posix()}\0".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def of_folder(root: Path) -> str:
    """A digest of the files in a folder."""
    digest = hashlib.sha256()
    for path in _files(root):
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _files(root: Path) -> Iterator[Path]:
    hidden = {"__pycache__", "_data"}
    for path in sorted(root.rglob("*")):
        if path.is_file() and hidden.isdisjoint(path.relative_to(root).parts):
            yield path


def of_model(files: Mapping[str, bytes]) -> str:
    """The SHA-256 of a model's file; if the model has further files, the SHA-256 of all files'
    digests."""
    digests = [hashlib.sha256(data).hexdigest() for data in files.values()]
    if len(digests) == 1:
        return digests[0]
    return hashlib.sha256("".join(digests).encode()).hexdigest()


def name_of(path: Path) -> str:
    """The file name that a worker gives the model. It keeps only the ending of the model's own
    name, so equal files have equal results."""
    ending = _ENDING.search(path.name.lower())
    return f"model{ending[0] if ending else ''}"


def key(sha256: str, name: str, board: str, options: Mapping[str, Any]) -> str:
    """The name of a cell's file."""
    folder = options.get("codegen_path")
    parts = {
        "microgen": own(),
        # Other versions of the oracles may give other verdicts.
        "oracle": _oracle(),
        "model": [sha256, name],
        "board": board,
        "options": dict(options),
        "codegens": of_folder(Path(folder)) if folder else "",
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:40]


@functools.cache
def _oracle() -> str:
    return " ".join(map(_version, ("ai-edge-litert", "tflite-micro")))


def _version(package: str) -> str:
    try:
        return f"{package} {importlib.metadata.version(package)}"
    except importlib.metadata.PackageNotFoundError:
        return f"{package} -"
