"""TFLite flatbuffers: ``.tflite`` files, files of other names with such contents, and C arrays of
the bytes."""

from __future__ import annotations

from pathlib import Path

from microgen.frontends import model_files
from microgen.frontends.model_format import Format, Oracle, Request
from microgen.graph.ir.graph import Graph


class _TFLite(Format):
    suffix = ".tflite"
    has_signatures = True
    has_open_sizes = True
    has_loops = True

    def names(self, suffix: str) -> bool:
        from microgen.frontends.tflite import c_arrays

        return suffix in (self.suffix, ".lite", *c_arrays.SUFFIXES)

    def holds(self, head: bytes) -> bool:
        from microgen.frontends.tflite import signature

        return head[4:8] == signature.IDENTIFIER

    def files(self, path: Path) -> dict[str, bytes]:
        from microgen.frontends.tflite import c_arrays

        data = model_files.read(path)
        if path.suffix.lower() in c_arrays.SUFFIXES and not self.holds(data):
            data = c_arrays.flatbuffer(data, path.name)
        return {self.suffix: data}

    def kept(self, path: Path, request: Request) -> dict[str, bytes]:
        from microgen.frontends.tflite import resizing

        (data,) = self.files(path).values()
        if request.dim:
            data = resizing.resized(data, path.name, request.dim, request.signature)
        return {self.suffix: data}

    def unchanged(self, path: Path, request: Request) -> dict[str, Path]:
        is_flatbuffer = self.holds(model_files.head(path))
        return {self.suffix: path} if is_flatbuffer and not request.dim else {}

    def load(self, path: Path, request: Request) -> Graph:
        from microgen.frontends.tflite import convert

        data = self.kept(path, request)[self.suffix]
        return convert.load(
            data,
            file=path.name,
            numerics=request.numerics,
            signature=request.signature,
            max_rounds=request.max_rounds,
        )

    def operators(self) -> tuple[str, ...]:
        from microgen.frontends.tflite import importers

        return importers.supported()

    def about_operators(self) -> list[str]:
        from microgen.frontends.tflite import lacking

        return [
            "These are all operators of TFLite's schema, with the ops above that they may become. "
            "An operator of constants",
            "is computed by microgen and becomes none.",
            "",
            *lacking.table(),
        ]

    def oracle(self) -> Oracle:
        return self.oracle_of("")

    def oracle_of(self, signature: str, profile: str = "") -> Oracle:
        from microgen.frontends.tflite import litert, micro

        oracles: dict[str, type[litert.LiteRT | micro.Micro]] = {"tflm": micro.Micro}
        return oracles.get(profile, litert.LiteRT)(signature)


FORMAT = _TFLite()
