"""Lists among a model's metadata, with which a project's model is read again without options."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from onnx import ModelProto

from microgen.base.errors import ModelError

_PREFIX = "microgen."


def of(model: ModelProto, key: str, kind: type, what: str, file: str) -> list[Any]:
    """The list of a key, whose elements are of a type; empty if there is none. ``what`` the
    elements are is for the ModelError for anything else."""
    texts = [each.value for each in model.metadata_props if each.key == f"{_PREFIX}{key}"]
    try:
        found: Any = json.loads(texts[0]) if texts else []
    except (ValueError, RecursionError):
        found = None
    is_list = isinstance(found, list) and all(isinstance(each, kind) for each in found)
    if not is_list or len(texts) > 1:
        raise malformed(key, what, file)
    return list(found)


def malformed(key: str, what: str, file: str) -> ModelError:
    """The error for a list that does not say ``what`` it should."""
    return ModelError(
        f'has the metadata "{_PREFIX}{key}", which is no list of {what}',
        where=file,
        hint="remove it, and give the option",
    )


def put(model: ModelProto, key: str, values: Sequence[Any]) -> None:
    """Replace the list of a key."""
    others = [each for each in model.metadata_props if each.key != f"{_PREFIX}{key}"]
    kept = [(each.key, each.value) for each in others]
    del model.metadata_props[:]
    for name, value in (*kept, (f"{_PREFIX}{key}", json.dumps(list(values)))):
        model.metadata_props.add(key=name, value=value)
