"""Functions as JSON graphs, the form in which TVM passes them to runtimes of their own.

``serialize`` writes a Relay function, ``dumps`` and ``loads`` convert to text and back, and
``JsonRuntime`` is the payload of a module that contains such a graph. The meaning of an operator
belongs to the codegen: ``tvm/codegens/dnnl``.
"""

from __future__ import annotations

from microgen.tvm.codegens.json_graph.node import Entry, JSONGraph, JSONNode, dumps
from microgen.tvm.codegens.json_graph.payload import JsonRuntime
from microgen.tvm.codegens.json_graph.reader import loads
from microgen.tvm.codegens.json_graph.serializer import Kernel, Serialized, kernel_of, serialize

__all__ = [
    "Entry",
    "JSONGraph",
    "JSONNode",
    "JsonRuntime",
    "Kernel",
    "Serialized",
    "dumps",
    "kernel_of",
    "loads",
    "serialize",
]
