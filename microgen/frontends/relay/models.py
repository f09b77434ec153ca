"""Relay text -> the graph: @main of a module, with what it calls inlined."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from microgen.frontends.relay.convert import convert
from microgen.ir.graph import Graph
from microgen.relay.files import bind_params
from microgen.relay.files import load as load_module
from microgen.relay.infer_type import infer_type
from microgen.relay.module import IRModule


def read(path: Path) -> IRModule:
    """The module of a ``.relay`` file with its types, parameters that stand beside it bound as
    constants. Raises ModelError for malformed files."""
    module, params = load_module(path)
    if "main" in module.functions:
        return bind_params(module, params)
    return infer_type(module)


def from_module(
    module: IRModule,
    *,
    file: str,
    targets: Mapping[int, str] | None = None,
    generators: Collection[str] = (),
) -> Graph:
    """The graph of a module; ``file`` is what errors and layers' origins call it.

    ``targets``: device type (DLPack's number) -> kind of the target that ``on_device`` of such a
    device means; one entry is the target of everything. ``generators``: the names of code
    generators whose functions (``Compiler``) become one node each; all others are inlined. Raises
    ModelError or UnsupportedError, naming the place in the text.
    """
    module = infer_type(module)
    return convert(module, file=file, targets=targets or {}, generators=generators)
