"""Importers of ONNX operators, one function each, by the operator's name. Operators of other
domains than ONNX's have the domain in front: ``com.microsoft.QLinearAdd``."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping

from microgen.frontends import importers
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.graph.builder import Value

Importer = Callable[[OnnxNode], Value]


@functools.cache
def registry() -> Mapping[str, Importer]:
    """Operator name -> importer, sorted."""
    return importers.table(__name__, __path__)
