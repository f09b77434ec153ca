"""Reads Relay text and converts it: @main of a module, with the functions that it calls inlined."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from microgen.frontends.relay.convert import convert
from microgen.graph.ir.graph import Graph
from microgen.relay.files import bind_params
from microgen.relay.files import load as load_module
from microgen.relay.infer_type import infer_type
from microgen.relay.module import IRModule


def read(path: Path) -> IRModule:
    """The module of a ``.relay`` file, with its types. Parameters in a file next to it are bound
    as constants. Raises ModelError for malformed files."""
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
    """The graph of a module. ``file`` is its name in errors and in the origins of layers.

    ``targets``: device type (DLPack's number) -> kind of the target for ``on_device`` of that type.
    A single entry is the target of everything. ``generators``: the names of the code generators
    whose functions (``Compiler``) become one node each; all others are inlined. Raises ModelError
    or UnsupportedError, naming the place in the text.
    """
    module = infer_type(module)
    return convert(module, file=file, targets=targets or {}, generators=generators)
