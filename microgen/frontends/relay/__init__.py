"""Relay text -> the graph: @main of a module, with what it calls inlined."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from microgen.frontends.relay import importers
from microgen.frontends.relay.convert import convert
from microgen.ir.graph import Graph
from microgen.relay.expr import IRModule
from microgen.relay.files import bind_params
from microgen.relay.files import load as load_module
from microgen.relay.infer_type import infer_type


def load(path: Path, *, targets: Mapping[int, str]) -> Graph:
    """The graph of a ``.relay`` file; parameters that stand beside it are constants of the graph.
    No numerics profile counts: Relay's operators say themselves how they round.

    Raises what ``from_module`` raises, and ModelError for malformed files.
    """
    module, params = load_module(path)
    if "main" in module.functions:
        module = bind_params(module, params)
    return from_module(module, file=path.name, targets=targets)


def from_module(module: IRModule, *, file: str, targets: Mapping[int, str] | None = None) -> Graph:
    """The graph of a module; ``file`` is what errors and layers' origins call it.

    ``targets``: device type (DLPack's number) -> kind of the target that ``on_device`` of such a
    device means; one entry is the target of everything. Raises ModelError or UnsupportedError,
    naming the place in the text.
    """
    return convert(infer_type(module), file=file, targets=targets or {})


def supported() -> tuple[str, ...]:
    """Names of the operators that have an importer, sorted."""
    return tuple(importers.registry())
