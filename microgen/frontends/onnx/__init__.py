"""ONNX models: ``.onnx`` files, with the external data next to them."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from microgen.base.errors import ToolError
from microgen.frontends import model_files
from microgen.frontends.model_format import Format, Oracle, Request
from microgen.graph.ir.graph import Graph
from microgen.graph.ops import budget


def _is_installed() -> bool:
    return importlib.util.find_spec("onnx") is not None


def _check_installed(path: Path) -> None:
    """Raise ToolError if the package that reads models is missing."""
    if not _is_installed():
        raise ToolError(
            "the Python package onnx is not installed, which reads such models",
            where=str(path),
            hint='type `pip install "microgen[onnx]"`',
        )


class _Onnx(Format):
    suffix = ".onnx"
    profiles = ("onnx",)
    beside = (".onnx.data", ".onnx_data", ".data")  # as exporters call external data
    has_open_sizes = True
    has_open_inputs = True
    has_states = True
    has_loops = True

    def files(self, path: Path) -> dict[str, bytes]:
        return self.kept(path, Request())

    def kept(self, path: Path, request: Request) -> dict[str, bytes]:
        _check_installed(path)
        from microgen.frontends.onnx import reader

        _, data = reader.read(path, request)
        return {self.suffix: data}

    def unchanged(self, path: Path, request: Request) -> dict[str, Path]:
        # Each tensor with external data has an entry of this name.
        is_embedded = not model_files.contains(path, b"location")
        is_changed = any((request.dim, request.bind, request.state, request.max_rounds))
        return {self.suffix: path} if is_embedded and not is_changed else {}

    def load(self, path: Path, request: Request) -> Graph:
        _check_installed(path)
        from microgen.frontends.onnx import convert, reader

        model, data = reader.read(path, request)
        budget.owns(len(data))  # with the external data
        del data  # The message has a copy of all weights already.
        return convert.graph_of(model, file=path.name)

    def operators(self) -> tuple[str, ...]:
        """Names of the operators that have an importer; none if the package onnx is missing."""
        if not _is_installed():
            return ()
        from microgen.frontends.onnx import importers

        return tuple(importers.registry())

    def about_operators(self) -> list[str]:
        """The node tests that pass."""
        from microgen.frontends.onnx import node_tests

        return node_tests.lines()

    def oracle(self) -> Oracle | None:
        """ONNX Runtime; None if the package onnx is missing."""
        if not _is_installed():
            return None
        from microgen.frontends.onnx.oracle import ort

        return ort.OnnxRuntime()


FORMAT = _Onnx()
