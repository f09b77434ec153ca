"""The contents of a model library: modules, memory per target, functions, parameters, files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path

from microgen.base.output.text_layout import Part
from microgen.interface.inspection.base import Inspected, columns
from microgen.tvm.mlf import reader
from microgen.tvm.mlf.reader import ArchivedModule, Library, Workspace


def inspect(path: Path) -> Inspected:
    """Inspect an archive or a folder in Model Library Format."""
    library = reader.load(path)
    data = {"kind": "library", **asdict(library)}
    return Inspected(data, [*_text(library)])


def _text(library: Library) -> Iterator[Part]:
    total = sum(library.files.values())
    yield f"Model Library Format {library.version}, {len(library.files)} files, {total:,} bytes"
    for name, module in library.modules.items():
        yield ""
        yield f"{name}: {module.style}, {' '.join(module.executors) or 'no'} executor"
        yield f"targets: {'; '.join(module.target)}"
        yield from _memory(module)
        yield from _operators(module)
    yield from _rows(("file", "bytes"), library.files.items())


def _memory(module: ArchivedModule) -> Iterator[Part]:
    """Memory per target, followed by its contents."""
    yield from _rows(
        ("target", "workspace", "constants", "inputs and outputs"),
        (
            (_target(m), m.workspace_size_bytes, m.constants_size_bytes, m.io_size_bytes)
            for m in module.main
        ),
    )
    yield from _rows(
        ("port", "name", "dtype", "bytes"),
        (
            (kind, name, port.dtype, port.size)
            for main in module.main
            for kind, ports in (("input", main.inputs), ("output", main.outputs))
            for name, port in ports.items()
        ),
    )
    yield from _rows(
        ("storage id", "argument", "bytes"),
        ((str(s.storage_id), s.input_binding, s.size_bytes) for s in module.sids),
    )
    yield from _rows(
        ("parameter", "dtype", "shape", "bytes"),
        ((p.name, p.dtype, str(list(p.shape)), p.nbytes) for p in module.parameters),
    )


def _operators(module: ArchivedModule) -> Iterator[Part]:
    """The table of functions, of a whole model or of a library in the "operator" style."""
    yield from _rows(
        ("function", "target", "workspace"),
        (
            (function.function_name, _target(need), need.workspace_size_bytes)
            for function in module.operator_functions
            for need in function.workspace
        ),
    )
    yield from _rows(
        ("function", "buffer", "bytes"),
        (
            (name, buffer.input_binding, buffer.size_bytes)
            for name, buffers in module.operators.items()
            for buffer in buffers
        ),
    )


def _target(need: Workspace) -> str:
    return need.target or f"device {need.device}"


def _rows(headings: tuple[str, ...], rows: Iterable[tuple[str | int, ...]]) -> Iterator[Part]:
    """An empty line and a table; nothing if it has no rows."""
    made = columns(*headings)
    for row in rows:
        made.add(*(f"{x:,}" if isinstance(x, int) else x for x in row))
    if made.rows:
        yield ""
        yield made
