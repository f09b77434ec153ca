"""The payloads of modules: their common base, and the payloads of the blob's own format.

All others belong to the codegens that make them (``ExternalCodegen.payloads``).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from microgen.base.errors import MicrogenError
from microgen.relay.blob.payloads.base import Payload, PayloadReader, Signature
from microgen.relay.blob.payloads.of_format import ConstLoader, CSourceModule
from microgen.relay.blob.tree import IMPORT_TREE, LIBRARY

__all__ = [
    "OF_FORMAT",
    "CSourceModule",
    "ConstLoader",
    "Payload",
    "PayloadReader",
    "Signature",
    "table",
]

# Type key -> reader of its payload; up to v0.8 TVM called ``const_loader`` ``metadata``.
OF_FORMAT: Mapping[str, PayloadReader] = MappingProxyType(
    {"c": CSourceModule.loads, "const_loader": ConstLoader.loads, "metadata": ConstLoader.loads}
)


def table(more: Mapping[str, PayloadReader]) -> Mapping[str, PayloadReader]:
    """``OF_FORMAT`` and the readers of further keys.

    Raises MicrogenError for a key that is already taken.
    """
    taken = sorted(more.keys() & {*OF_FORMAT, LIBRARY, IMPORT_TREE})
    if taken:
        raise MicrogenError(
            f"the type key {taken[0]!r} is taken",
            where="module blob",
            hint="give the codegen's runtime a type key of its own",
        )
    return MappingProxyType({**OF_FORMAT, **more})
