"""Reads untrusted JSON, and gives the place in every error."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from microgen.base.errors import ModelError

# The names that JSON's own types have in messages.
_KINDS: dict[type, str] = {
    dict: "an object",
    list: "a list",
    str: "a text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    type(None): "null",
}


@dataclass(frozen=True, slots=True)
class JsonPlace:
    """A value of a JSON file, and the path to it: ``modules.default.memory``."""

    value: Any
    file: str
    path: str = ""

    def refuse(self, what: str) -> NoReturn:
        """Raise ModelError with this place."""
        raise ModelError(f"{self.path or 'the file'} {what}", where=self.file)

    def has(self, key: str) -> bool:
        """Whether an object has this field."""
        return key in self._of(dict)

    def field(self, key: str) -> JsonPlace:
        """The field of an object. Raises ModelError if there is none."""
        if not self.has(key):
            self.refuse(f"has no field {key!r}")
        return self._inner(key, f".{key}")

    def fields(self) -> Iterator[tuple[str, JsonPlace]]:
        """Names and values of an object."""
        return ((key, self.field(key)) for key in self._of(dict))

    def items(self) -> Iterator[JsonPlace]:
        """The elements of a list."""
        return (self._inner(i, f"[{i}]") for i in range(len(self._of(list))))

    def text(self) -> str:
        """A string."""
        return str(self._of(str))

    def size(self) -> int:
        """A whole number, not negative."""
        number = int(self._of(int))
        if not 0 <= number < 1 << 63:
            self.refuse("is not a number from 0 to 2^63 - 1")
        return number

    def is_object(self) -> bool:
        """Whether the value is an object."""
        return isinstance(self.value, dict)

    def _of(self, kind: type) -> Any:
        # Not isinstance, for which true is a whole number.
        if type(self.value) is not kind:
            self.refuse(f"is {_KINDS[type(self.value)]}, expected {_KINDS[kind]}")
        return self.value

    def _inner(self, key: str | int, suffix: str) -> JsonPlace:
        # ``lstrip``: the first field has no parent, so its path begins without a dot.
        return JsonPlace(self.value[key], self.file, f"{self.path}{suffix}".lstrip("."))


def parse(data: bytes | str, file: str) -> JsonPlace:
    """The value of a JSON file. Raises ModelError if it is not JSON, or has a key twice."""
    try:
        # Python's parser by itself accepts NaN, and keeps the last of two equal keys.
        value = json.loads(data, parse_constant=_no_constant, object_pairs_hook=_object)
        return JsonPlace(value, file)
    except RecursionError as error:
        # Python's parser recurses, so a deep file would end in RecursionError.
        raise ModelError("is nested too deeply", where=file) from error
    except ValueError as error:  # JSON's and UTF-8's errors
        raise ModelError("is not valid JSON", where=file) from error


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    # Readers do not agree on which of two equal keys to keep, so such a file has no single meaning.
    if len(members) != len(pairs):
        raise ValueError("a key is given twice")
    return members
