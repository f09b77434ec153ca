"""ONNX models: ``.onnx`` files, with the external data next to them."""

from __future__ import annotations

from pathlib import Path

from microgen.frontends.model_format import Format, Request
from microgen.ir.graph import Graph


class _Onnx(Format):
    suffix = ".onnx"
    beside = (".onnx.data", ".onnx_data", ".data")  # as exporters call external data
    has_open_inputs = True

    def files(self, path: Path) -> dict[str, bytes]:
        return self.kept(path, Request())

    def kept(self, path: Path, request: Request) -> dict[str, bytes]:
        from microgen.frontends.onnx import reader

        _, data = reader.read(path, request)
        return {self.suffix: data}

    def load(self, path: Path, request: Request) -> Graph:
        from microgen.frontends.onnx import convert, reader

        model, _ = reader.read(path, request)
        return convert.graph_of(model, file=path.name, numerics=request.numerics)

    def operators(self) -> tuple[str, ...]:
        from microgen.frontends.onnx import importers

        return tuple(importers.registry())


FORMAT = _Onnx()
