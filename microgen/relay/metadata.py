"""The ``#[metadata]`` section of a text that TVM wrote: constants as JSON and base64.

Source: TVM v0.14, ``src/node/serialization.cc``: ``nodes`` is a table, ``root`` the index of a map
from type key to an array of nodes; a constant's ``data`` is an index into ``b64ndarrays``, and each
of those is an NDArray as in a param file.
"""

from __future__ import annotations

import base64
import json
import struct
from typing import Any

from microgen import params_file
from microgen.errors import ModelError, ProjectError
from microgen.ir.graph import Array

_KEY = "relay.Constant"
_MALFORMED = (ValueError, LookupError, TypeError, ArithmeticError, AttributeError, RecursionError)


def read_metadata(text: str, source: str) -> dict[str, Array]:
    """Arrays by name ``relay.Constant.<i>``; none if the section is empty.

    Raises ModelError for what is malformed.
    """
    if not text.strip():
        return {}
    where = f"{source}, #[metadata]"
    try:
        arrays = _constants(json.loads(text))
    except ProjectError as error:
        raise ModelError(error.what, where=where) from error
    except _MALFORMED as error:
        raise ModelError("the section is not JSON as TVM writes it", where=where) from error
    return {f"{_KEY}.{i}": array for i, array in enumerate(arrays)}


def _constants(document: Any) -> list[Array]:
    nodes = document["nodes"]
    root = nodes[int(document["root"])]
    if _KEY not in root["keys"]:
        return []
    listed = nodes[int(root["data"][root["keys"].index(_KEY)])]["data"]
    blobs = document["b64ndarrays"]
    return [_array(blobs[int(nodes[int(node)]["attrs"]["data"])]) for node in listed]


def _array(text: str) -> Array:
    """One NDArray, read as a param file of one array."""
    magic = params_file.dumps({})[:16]
    head = magic + struct.pack("<QQQ", 1, 0, 1)  # one name, which is empty, and one array
    return params_file.loads(head + base64.b64decode(text, validate=True))[""]
