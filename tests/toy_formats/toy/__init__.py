"""A model format for tests: layers as JSON (``.toy``), with constants in a second file
(``.weights``).

Images are NCHW. docs/guides/frontends.md describes such a format, and nothing else in microgen
knows this one.
"""

from __future__ import annotations

from pathlib import Path

from microgen.frontends.model_format import Format, Oracle, Request
from microgen.graph.ir.graph import Graph


class _Toy(Format):
    suffix = ".toy"
    beside = (".weights",)

    def load(self, path: Path, request: Request) -> Graph:
        from microgen.frontends.toy import convert

        del request  # a toy model contains everything itself
        graph: Graph = convert.load(self.files(path), file=path.name)
        return graph

    def operators(self) -> tuple[str, ...]:
        from microgen.frontends.toy import importers

        return tuple(importers.registry())

    def oracle(self) -> Oracle:
        from microgen.frontends.toy import runtime

        found: Oracle = runtime.Runtime()
        return found


FORMAT = _Toy()
