"""What stands behind a type key: one module per payload, and the table of those that are known.

Another key's payload is a class of its own with a reader for ``table``; nothing here changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from microgen.blob.payloads.base import Payload, PayloadReader
from microgen.blob.payloads.c_source import CSource
from microgen.blob.payloads.const_loader import ConstLoader
from microgen.blob.payloads.example_json import ExampleJson
from microgen.blob.payloads.json_runtime import JsonRuntime
from microgen.blob.tree import IMPORT_TREE, LIBRARY
from microgen.errors import MicrogenError

__all__ = [
    "KNOWN",
    "CSource",
    "ConstLoader",
    "ExampleJson",
    "JsonRuntime",
    "Payload",
    "PayloadReader",
    "table",
]

# Type key -> reader of its payload; ``metadata`` is what TVM up to v0.8 called ``const_loader``.
KNOWN: Mapping[str, PayloadReader] = MappingProxyType(
    {
        "c": CSource.loads,
        "const_loader": ConstLoader.loads,
        "dnnl_json": JsonRuntime.loads,
        "examplejson": ExampleJson.loads,
        "metadata": ConstLoader.loads,
    }
)


def table(more: Mapping[str, PayloadReader]) -> Mapping[str, PayloadReader]:
    """``KNOWN`` and the readers of further keys.

    Raises MicrogenError for a key that is already taken.
    """
    taken = sorted(more.keys() & {*KNOWN, LIBRARY, IMPORT_TREE})
    if taken:
        raise MicrogenError(
            f"the type key {taken[0]!r} is taken",
            where="module blob",
            hint="give the codegen's runtime a type key of its own",
        )
    return MappingProxyType({**KNOWN, **more})
