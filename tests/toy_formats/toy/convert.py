"""Converts a toy model to a graph."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import PurePath

import numpy as np
from microgen.frontends.toy.importers import registry
from microgen.frontends.toy.layers import Layer

from microgen.base.errors import ModelError
from microgen.frontends import importers
from microgen.frontends.operators import Moved
from microgen.graph.builder import BuiltTensor, GraphBuilder
from microgen.graph.ir.graph import ArrayType, DType, Graph


def load(files: Mapping[str, bytes], *, file: str) -> Graph:
    """The graph of a model. Its files are keyed by suffix."""
    try:
        model = json.loads(files[".toy"])
    except ValueError as error:
        raise ModelError(f"is not JSON: {error}", where=file) from None
    builder, moved = GraphBuilder(), Moved()
    values: dict[str, BuiltTensor] = {}
    for name, shape in model["inputs"].items():
        values[name] = builder.declare(name, ArrayType(tuple(shape), DType.FLOAT32))
    for name, numbers in json.loads(files.get(".weights", b"{}")).items():
        array = np.array(numbers, np.float32)
        values[name] = builder.constant(name, array, ArrayType(array.shape, DType.FLOAT32))
    inputs = [values[name] for name in model["inputs"]]
    for record in model["layers"]:
        operands = [values[name] for name in record["inputs"]]
        layer = Layer(record, operands, file, builder, moved)
        importer = importers.of(layer, registry())
        values[record["name"]] = layer.finished(importer(layer))
    outputs = [values[name] for name in model["outputs"]]
    builder.drop_dead(outputs)
    return builder.graph(PurePath(file).stem, inputs, outputs)
