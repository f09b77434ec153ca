"""``memory.sids``: the bytes of the storage ids of a graph executor's JSON."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Mapping
from typing import Any

from microgen.base.errors import InternalError


def sids(graph: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One entry per storage id, in the order of first use: id, bytes, the argument that it holds.

    Attributes are given per entry (an output of a node). Entries that share an id may differ in
    size, so an id needs the bytes of its largest entry. (TVM v0.14 indexes shapes by storage id,
    which is wrong as soon as an id is reused.)
    """
    attrs = graph["attrs"]
    found: dict[int, dict[str, Any]] = {}
    columns = (attrs[key][1] for key in ("storage_id", "shape", "dltype"))
    for entry, (sid, shape, dtype) in enumerate(zip(*columns, strict=True)):
        record = found.setdefault(sid, {"storage_id": sid, "size_bytes": 0})
        record["size_bytes"] = max(record["size_bytes"], math.prod(shape) * _nbytes(dtype))
        # node_row_ptr has the first entry of each node.
        node = bisect_right(graph["node_row_ptr"], entry) - 1
        if node in graph["arg_nodes"]:
            record.setdefault("input_binding", graph["nodes"][node]["name"])
    return list(found.values())


def _nbytes(dtype: str) -> int:
    """Bytes of one element; a bool takes one."""
    if dtype == "bool":
        return 1
    match = re.fullmatch(r"[a-z]+(\d+)", dtype)
    if match is None:
        raise InternalError(f"the graph JSON has the dtype {dtype!r}")
    # The number is in bits, and elements take whole bytes.
    return (int(match[1]) + 7) // 8
