"""Reads the bytes of ``__tvm_dev_mblob`` as a module tree. Everything in them is checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from microgen.base.errors import MicrogenError, ModelError, of_codegen
from microgen.base.formats.byte_stream import Stream
from microgen.base.names import cnames
from microgen.relay.blob import payloads
from microgen.relay.blob.payloads.base import Payload, PayloadReader, name
from microgen.relay.blob.tree import IMPORT_TREE, LIBRARY, Module

_Rows = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Blob:
    """Modules by index, the root first.

    ``contents`` are the decoded payloads, None for the library. ``children`` are the indices that
    each module imports, in the blob's order, in which functions are looked up.
    ``Module.imports`` are sorted with the last first, so that the writer gives the bytes of its own
    blobs again. ``has_tree`` is False for the oldest form, in which all modules are imports of the
    library.
    """

    modules: tuple[Module, ...]
    contents: tuple[Payload | None, ...]
    children: tuple[tuple[int, ...], ...]
    has_tree: bool = True

    @property
    def root(self) -> Module:
        """The module that imports the others."""
        return self.modules[0]


def loads(data: bytes, known: Mapping[str, PayloadReader] = payloads.OF_FORMAT) -> Blob:
    """Read a blob whose type keys are all among ``known``.

    Raises ModelError if ``data`` is not exactly one well-formed blob.
    """
    stream = Stream(data, ModelError, "module blob", "build the firmware again")
    # The size does not count its own 8 bytes.
    stream.expect("<Q", len(data) - 8, "number of bytes after the first 8")
    reader = _Reader(stream, known)
    rows = reader.entries()
    stream.end("module")
    return _with_tree(reader, rows) if rows else _without_tree(reader)


class _Reader:
    """Reads entry after entry, and keeps the modules, still without imports, and their contents."""

    def __init__(self, stream: Stream, known: Mapping[str, PayloadReader]) -> None:
        self._stream = stream
        self._known = known
        self.modules: list[Module] = []
        self.contents: list[Payload | None] = []

    def entries(self) -> _Rows:
        """Read all entries and the import tree's rows, which are absent if there is no tree."""
        count = self._stream.count()
        for index in range(count):
            self._stream.where = f"module blob, module {index}"
            key = name(self._stream)
            if key != IMPORT_TREE:
                self._module(key)
            elif index == count - 1:
                return self._rows()
            else:
                raise self.refused(f"the import tree comes before {count - 1 - index} modules")
        self._stream.where = "module blob"
        if self._has_library():
            raise self.refused(f"found {LIBRARY!r}, but no import tree that says where it is")
        return ()

    def _has_library(self) -> bool:
        return any(module.is_library for module in self.modules)

    def refused(self, what: str) -> MicrogenError:
        return self._stream.refused(what)

    def _module(self, key: str) -> None:
        short = cnames.short(key)
        self._stream.where += f" ({short})"
        if key == LIBRARY:
            if self._has_library():
                raise self.refused(f"found a second {LIBRARY!r}, expected one at most")
        elif key not in self._known:
            known = ", ".join(sorted(self._known))
            raise self.refused(f"found the type key {short!r}, expected one of {known}")
        start = self._stream.at
        # A payload has no length in the blob: its reader finds the end.
        self.contents.append(None if key == LIBRARY else self._content(key))
        self.modules.append(Module(key, self._stream.since(start)))

    def _content(self, key: str) -> Payload:
        with of_codegen(self._stream.where, "reading the payload"):
            return self._known[key](self._stream)

    def _rows(self) -> _Rows:
        self._stream.where = "module blob, import tree"
        row_ptr = self._stream.numbers()
        indices = self._stream.numbers()
        self._check_row_ptr(row_ptr, len(indices))
        rows = tuple(indices[start:end] for start, end in pairwise(row_ptr))
        for parent, row in enumerate(rows):
            self._check_row(parent, row)
        orphans = sorted(set(range(1, len(rows))) - set(indices))
        if orphans:
            key = self.modules[orphans[0]].type_key
            raise self.refused(f"nothing imports module {orphans[0]} ({key})")
        return rows

    def _check_row_ptr(self, row_ptr: Sequence[int], indices: int) -> None:
        modules = len(self.modules)
        if not modules:
            raise self.refused("found a tree of no modules")
        if len(row_ptr) != modules + 1:
            raise self.refused(f"found {len(row_ptr)} row pointers, expected {modules + 1}")
        if row_ptr[0] != 0 or row_ptr[-1] != indices or list(row_ptr) != sorted(row_ptr):
            raise self.refused(f"the row pointers do not ascend from 0 to {indices}")

    def _check_row(self, parent: int, row: Sequence[int]) -> None:
        modules = len(self.modules)
        # TVM numbers importers first, so indices of imports must be greater, and a tree that passes
        # this check has no cycle.
        wrong = [child for child in row if not parent < child < modules]
        if wrong:
            expected = f"expected more than {parent} and less than {modules}"
            raise self.refused(f"module {parent} imports module {wrong[0]}, {expected}")
        if len(set(row)) != len(row):
            raise self.refused(f"module {parent} imports a module twice")


def _with_tree(reader: _Reader, rows: _Rows) -> Blob:
    """The modules with their imports. These come after their importers, so they are made first."""
    modules = list(reader.modules)
    for index in reversed(range(len(rows))):
        imports = tuple(modules[child] for child in sorted(rows[index], reverse=True))
        modules[index] = replace(modules[index], imports=imports)
    return Blob(tuple(modules), tuple(reader.contents), rows)


def _without_tree(reader: _Reader) -> Blob:
    imports = tuple(reader.modules)
    # The library is the root, and is not among the entries.
    modules = (Module(LIBRARY, b"", imports), *imports)
    children = (tuple(range(1, len(modules))), *(() for _ in imports))
    return Blob(modules, (None, *reader.contents), children, has_tree=False)
