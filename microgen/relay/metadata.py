"""The ``#[metadata]`` section of a text that TVM wrote: constants as JSON and base64.

Source: TVM v0.14, ``src/node/serialization.cc``. ``nodes`` is a table. ``root`` is the index of a
map from type key to an array of nodes. A constant's ``data`` is an index into ``b64ndarrays``,
whose elements are NDArrays in the form of ``microgen.graph.ndarray``.
"""

from __future__ import annotations

import base64
import json
from typing import Any

from microgen.base.errors import ModelError
from microgen.base.formats.byte_stream import Stream
from microgen.graph import ndarray
from microgen.graph.ir.graph import Array

_KEY = "relay.Constant"
# The errors that a damaged document can cause on the way to its arrays.
_MALFORMED = (ValueError, LookupError, TypeError, ArithmeticError, AttributeError, RecursionError)


def read_metadata(text: str, source: str) -> dict[str, Array]:
    """Arrays by their names, ``relay.Constant.<i>``; none if the section is empty.

    Raises ModelError if it is malformed.
    """
    if not text.strip():
        return {}
    where = f"{source}, #[metadata]"
    try:
        arrays = _constants(json.loads(text), where)
    except _MALFORMED as error:
        raise ModelError("the section is not the JSON that TVM writes", where=where) from error
    return {f"{_KEY}.{i}": array for i, array in enumerate(arrays)}


def _constants(document: Any, where: str) -> list[Array]:
    nodes = document["nodes"]
    root = nodes[int(document["root"])]
    if _KEY not in root["keys"]:
        return []
    listed = nodes[int(root["data"][root["keys"].index(_KEY)])]["data"]
    blobs = document["b64ndarrays"]
    places = [int(nodes[int(node)]["attrs"]["data"]) for node in listed]
    arrays = {place: _array(blobs[place], where) for place in set(places)}  # each once
    return [arrays[place] for place in places]


def _array(text: str, where: str) -> Array:
    stream = Stream(base64.b64decode(text, validate=True), ModelError, where, "")
    array = ndarray.loads(stream)
    stream.end("array")
    return array
