"""The contents of a blob, for people and programs, and its payloads as files."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from microgen.base.errors import of_codegen
from microgen.base.names import cnames
from microgen.base.printable import printable
from microgen.relay.blob.payloads.base import Payload
from microgen.relay.blob.reader import Blob
from microgen.relay.blob.tree import Module

# Characters of a file's name; names of functions may have thousands.
_MAX_STEM = 100
# Levels; a chain of imports may be longer than a line.
_MAX_INDENT = 16


@dataclass(frozen=True, slots=True)
class BlobListing:
    """A blob's contents as data and as lines of text. The lines have markup, but no control
    characters."""

    data: dict[str, Any]
    lines: tuple[str, ...]


def listing(blob: Blob) -> BlobListing:
    """Every module once, below the first that imports it: size, functions, constants, summary."""
    modules = [_described(blob, index) for index in range(len(blob.modules))]
    nbytes = sum(module["nbytes"] for module in modules)
    form = "" if blob.has_tree else ", without an import tree"
    head = f"module blob: {len(modules)} modules, {nbytes:,} bytes of payload{form}"
    lines = (f"{'  ' * min(depth, _MAX_INDENT)}{_line(modules[i])}" for i, depth in _walk(blob))
    return BlobListing({"has_tree": blob.has_tree, "modules": modules}, (head, *lines))


def extract(blob: Blob) -> dict[str, bytes]:
    """File name -> content: ``<index>_<key>_<function>.bin`` for each payload, and its text.

    The function is in the name if the module has exactly one. All names are different, and have
    only ASCII letters, digits, ``_``, ``-`` and ``.``, even if the blob has other characters.
    """
    files: dict[str, bytes] = {}
    for index, (module, content) in enumerate(zip(blob.modules, blob.contents, strict=True)):
        if content is not None:
            with of_codegen(_where(blob, index), "describing the payload"):
                files |= _files(index, module, content)
    return files


def _files(index: int, module: Module, content: Payload) -> dict[str, bytes]:
    symbol = content.symbols if len(content.symbols) == 1 else ()
    stem = _safe("_".join((str(index), module.type_key, *symbol)))
    texts = {f"{stem}.{_safe(suffix)}": text.encode() for suffix, text in content.texts.items()}
    return {**texts, f"{stem}.bin": module.payload or b""}


def _safe(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)[:_MAX_STEM]


def _walk(blob: Blob) -> Iterator[tuple[int, int]]:
    """Indices and depths, children in the order of a look-up."""
    seen: set[int] = set()
    stack = [(0, 0)]
    while stack:
        index, depth = stack.pop()
        if index not in seen:
            seen.add(index)
            yield index, depth
            # Reversed, because a stack gives the last one first.
            stack.extend((child, depth + 1) for child in reversed(blob.children[index]))


def _where(blob: Blob, index: int) -> str:
    return f"module blob, module {index} ({cnames.short(blob.modules[index].type_key)})"


def _described(blob: Blob, index: int) -> dict[str, Any]:
    module, content = blob.modules[index], blob.contents[index]
    payload = module.payload or b""
    with of_codegen(_where(blob, index), "describing the payload"):
        return {
            "index": index,
            "key": module.type_key,
            "nbytes": len(payload),
            "sha256": hashlib.sha256(payload).hexdigest(),
            "imports": list(blob.children[index]),
            "symbols": list(content.symbols) if content else [],
            "constants": list(content.constants) if content else [],
            "facts": dict(content.facts) if content else {},
        }


def _line(module: dict[str, Any]) -> str:
    parts = [f"{module['index']} {module['key']}: {module['nbytes']:,} bytes"]
    named = {"imports": module["imports"], "provides": module["symbols"]}
    named |= {"constants": module["constants"], **module["facts"]}
    parts += [
        f"{title}: {_value(value)}" for title, value in named.items() if value not in ([], {})
    ]
    return printable("; ".join(parts))


def _value(value: Any) -> str:
    """A fact in one line, with lists and mappings as words."""
    if isinstance(value, dict):
        return ", ".join(f"{key} ({_value(item)})" for key, item in value.items())
    if isinstance(value, list):
        return ", ".join(_value(item) for item in value)
    return cnames.short(str(value), 80)
