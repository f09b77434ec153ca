"""Relay modules: a ``.relay`` text, and its parameters in a ``.params`` file next to it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from microgen.frontends.model_format import ModuleFormat, Request
from microgen.graph.ir.graph import Graph

if TYPE_CHECKING:
    from microgen.relay.module import IRModule


class _Relay(ModuleFormat):
    """The format of Relay modules. It ignores numerics profiles, because Relay's operators state
    their rounding."""

    suffix = ".relay"
    beside = (".params",)

    def unchanged(self, path: Path, request: Request) -> dict[str, Path]:
        del request
        others = {suffix: path.with_suffix(suffix) for suffix in self.beside}
        return {self.suffix: path, **{s: other for s, other in others.items() if other.exists()}}

    def load(self, path: Path, request: Request) -> Graph:
        return self._graph(self.module(path), path.name, request)

    def module(self, path: Path) -> IRModule:
        from microgen.relay import files
        from microgen.relay.infer_type import infer_type

        self.files(path)  # raises for anything but regular files
        module, params = files.load(path)
        if "main" in module.functions:
            return files.bind_params(module, params)
        return infer_type(module)

    def of_module(
        self, module: IRModule, file: str, request: Request
    ) -> tuple[Graph, dict[str, bytes]]:
        from microgen.relay.files import dumps

        return self._graph(module, file, request), dumps(module)

    def _graph(self, module: IRModule, file: str, request: Request) -> Graph:
        from microgen.frontends.relay.convert import convert

        return convert(module, file=file, targets=request.targets, generators=request.generators)

    def operators(self) -> tuple[str, ...]:
        from microgen.frontends.relay import importers

        return tuple(importers.registry())


FORMAT = _Relay()
