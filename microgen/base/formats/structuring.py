"""Typed records from JSON values, strictly: every field must have the type in its record."""

from __future__ import annotations

from typing import Any, TypeVar, get_args, get_origin

import cattrs

_T = TypeVar("_T")
# A quotation can contain a whole value of the file.
_MAX_WORDS = 120  # the longest quotation in an error, in characters


def structure(data: Any, record: type[_T]) -> _T:
    """The record in ``data``, in the form that ``cattrs.unstructure`` writes.

    Raises ValueError with the first wrong place: a field that is missing and has no default, that
    is in no record, or that has another type.
    """
    try:
        return _CONVERTER.structure(data, record)
    except Exception as error:  # cattrs raises groups of many kinds
        # All errors are reported by cattrs together; the first wrong place is enough to correct the
        # file.
        first = cattrs.transform_error(error)[0].replace("$.", "")
        raise ValueError(first[:_MAX_WORDS]) from error


def _exactly(value: Any, kind: type) -> Any:
    """The value unchanged if it has the type."""
    # Cattrs alone would convert it.
    # JSON has one kind of number, so a whole one may be a float's value.
    if type(value) is not kind and (kind, type(value)) != (float, int):
        raise TypeError(f"expected {kind.__name__}")
    return kind(value)


def _tuple(value: Any, kind: Any) -> Any:
    """A tuple, from a list only."""
    # Cattrs alone would accept every object with elements.
    _exactly(value, list)
    kinds = get_args(kind)
    if kinds[-1] is ...:
        # ``tuple[T, ...]`` has one type for any number of elements.
        kinds = kinds[:1] * len(value)
    return tuple(_CONVERTER.structure(v, k) for v, k in zip(value, kinds, strict=True))


def _is_tuple(kind: Any) -> bool:
    origin: Any = get_origin(kind)
    return origin is tuple


_CONVERTER = cattrs.Converter(forbid_extra_keys=True)
for _kind in (str, int, bool, float):
    _CONVERTER.register_structure_hook(_kind, _exactly)
_CONVERTER.register_structure_hook_func(_is_tuple, _tuple)
