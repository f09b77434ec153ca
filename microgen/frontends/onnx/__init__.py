"""ONNX models: ``.onnx`` files, with the external data next to them."""

from __future__ import annotations

from pathlib import Path

from microgen.frontends.model_format import Format, Request
from microgen.ir.graph import Graph


class _Onnx(Format):
    suffix = ".onnx"

    def load(self, path: Path, request: Request) -> Graph:
        from microgen.frontends.onnx import convert

        data = self.files(path)[self.suffix]
        return convert.load(data, file=path.name, numerics=request.numerics)

    def operators(self) -> tuple[str, ...]:
        from microgen.frontends.onnx import importers

        return tuple(importers.registry())


FORMAT = _Onnx()
