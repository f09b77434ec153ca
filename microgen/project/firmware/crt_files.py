"""The files of ``crt`` that a project needs, found by the includes of its C files."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from pathlib import PurePosixPath

from microgen.base import resources
from microgen.base.errors import InternalError

# It begins with a fixed byte, which is found quickly in megabytes of constants.
_INCLUDE = re.compile(rb'#[ \t]*include[ \t]+["<]([^">]+)[">]')
_RUNTIME_HEADERS = (
    "src/",
    "include/tvm/runtime/crt/",
    "include/microgen/accelerator.h",
    "include/microgen/tracing_device.h",
)


def closure(texts: Iterable[bytes], roots: Iterable[str] = ()) -> dict[str, bytes]:
    """The files below ``crt`` that ``roots`` (paths) and ``texts`` (contents) need, with everything
    that these include."""
    found: dict[str, bytes] = {}
    pending = [*roots, *(name for text in texts for name in _included(text))]
    while pending:
        name = pending.pop()
        if name in found:
            continue
        found[name], included = _with_included(name)
        pending += included
        # A header of the runtime brings the source of the same name.
        if name.startswith(_RUNTIME_HEADERS):
            pending += _runtime_sources().get(PurePosixPath(name).stem, ())
    return found


def read(name: str) -> bytes:
    """A file below ``crt``."""
    return _with_included(name)[0]


@functools.cache
def _with_included(name: str) -> tuple[bytes, list[str]]:
    """A file below ``crt``, and the files that it includes."""
    path = resources.folder("crt") / name
    try:
        text = path.read_bytes()
    except OSError as error:
        raise InternalError(f"crt/{name} is missing") from error
    return text, _included(text)


@functools.cache
def _headers() -> frozenset[str]:
    """The paths below ``crt`` that an include may name."""
    crt = resources.folder("crt")
    found = (path for folder in ("include", "src") for path in (crt / folder).rglob("*.*"))
    return frozenset(path.relative_to(crt).as_posix() for path in found)


@functools.cache
def _runtime_sources() -> dict[str, tuple[str]]:
    """Name without suffix -> the runtime's source of that name, a path below ``crt``."""
    crt = resources.folder("crt")
    sources = (crt / "src").rglob("*.c")
    return {path.stem: (path.relative_to(crt).as_posix(),) for path in sources}


def _included(text: bytes) -> list[str]:
    """Paths below ``crt`` of the runtime's headers that a C file includes. Others are ignored."""
    found = (match for match in _INCLUDE.finditer(text) if _begins_line(text, match.start()))
    names = (match[1].decode() for match in found)
    candidates = (f"{folder}/{name}" for name in names for folder in ("include", "src"))
    return [name for name in candidates if name in _headers()]


def _begins_line(text: bytes, start: int) -> bool:
    """Whether there is nothing but blanks before that place in its line."""
    return not text[text.rfind(b"\n", 0, start) + 1 : start].strip()
