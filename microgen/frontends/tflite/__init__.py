"""TFLite flatbuffers: ``.tflite`` files."""

from __future__ import annotations

from pathlib import Path

from microgen.frontends.model_format import Format, Oracle, Request
from microgen.ir.graph import Graph


class _TFLite(Format):
    suffix = ".tflite"
    has_signatures = True

    def load(self, path: Path, request: Request) -> Graph:
        from microgen.frontends.tflite import convert

        data = self.files(path)[self.suffix]
        return convert.load(
            data, file=path.name, numerics=request.numerics, signature=request.signature
        )

    def operators(self) -> tuple[str, ...]:
        from microgen.frontends.tflite import importers

        return tuple(importers.registry())

    def oracle(self) -> Oracle:
        return self.oracle_of("")

    def oracle_of(self, signature: str) -> Oracle:
        from microgen.frontends.tflite import litert

        return litert.LiteRT(signature)


FORMAT = _TFLite()
