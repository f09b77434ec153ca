"""Checks the arguments of Python callers. Unknown names and wrong types are errors with the fix.
Texts have the same meaning as on the command line."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Integral
from pathlib import Path
from typing import Any, get_args, get_type_hints

from microgen.base.errors import UsageError, likely, short
from microgen.base.formats import byte_sizes

_Convert = Callable[[Any], Any]  # raises TypeError for another type, ValueError for a wrong text


def _is(kind: Any) -> _Convert:
    def convert(value: Any) -> Any:
        if not isinstance(value, kind):
            raise TypeError
        return value

    return convert


def _whole(value: Any) -> int:
    if isinstance(value, str):
        return byte_sizes.parse(value)
    # A bool is an Integral in Python, and ram=True would mean one byte.
    if isinstance(value, bool):
        raise TypeError
    return int(_is(Integral)(value))


def _several(value: Any, kind: Any) -> tuple[Any, ...]:
    """The parts of a list. A single value is treated as a list of one."""
    return tuple(map(_is(kind), value if isinstance(value, tuple | list) else [value]))


def _or_none(convert: _Convert) -> _Convert:
    return lambda value: None if value is None else convert(value)


_TEXTS = ("a tuple or list of texts", lambda value: _several(value, str))
# Type of a parameter -> its description in errors, and the conversion of its values. The key is the
# annotation of the parameter, so an option's type is stated in one place.
_KINDS: dict[Any, tuple[str, _Convert]] = {
    str: ("a text", lambda value: str(_is(str | Path)(value))),
    bool: ("True or False", _is(bool)),
    bool | None: ("True, False or None", _is(bool | None)),
    int: ("a whole number, or a text such as '40K'", _whole),
    int | None: ("a whole number, a text such as '40K', or None", _or_none(_whole)),
    Path | None: ("a path or None", _or_none(lambda value: Path(_is(str | Path)(value)))),
    tuple[str, ...]: _TEXTS,
    Sequence[str]: _TEXTS,
    Sequence[Path]: ("paths", lambda value: tuple(map(Path, _several(value, str | Path)))),
}


def typed(name: str, kind: Any, value: Any) -> Any:
    """The value of an option from Python, whose type is ``kind``. As on the command line, sizes
    may be texts. Paths are texts or objects. Raises UsageError for another type."""
    expected, convert = _KINDS.get(kind) or _choice(kind)
    try:
        return convert(value)
    # The message of a wrong text is already a sentence; a wrong type has none.
    except ValueError as error:
        raise UsageError(str(error), where=flag(name)) from None
    except TypeError:
        what = f"is {short(repr(value))} ({type(value).__name__}), expected {expected}"
        raise UsageError(what, where=flag(name)) from None


def _choice(kind: Any) -> tuple[str, _Convert]:
    """The values of a literal type, or of a union of one with None, and a check for them."""
    choices: list[Any] = []
    # ``get_args`` of a union has the literal types, whose own arguments are the values.
    for part in get_args(kind):
        choices += [None] if part is type(None) else get_args(part) or [part]

    def convert(value: Any) -> Any:
        if value not in choices:
            raise TypeError
        return value

    return f"one of {', '.join(map(repr, choices))}", convert


def flag(name: str) -> str:
    """The option of the command line that has the name in Python."""
    return f"--{name.replace('_', '-')}"


def check_known(given: Iterable[str], known: Sequence[str]) -> None:
    """Raise UsageError for the first of the given names of options that is not known."""
    for name in given:
        if name not in known:
            hint = f"{likely(name, known)}options: {', '.join(known)}"
            raise UsageError(f"there is no option {name!r}", hint=hint)


def output(value: Any, *, force: Any) -> Path:
    """A path to write to. Files of others are replaced only with ``force``, which must be a bool,
    because the text "no" would be true. Raises UsageError."""
    typed("force", bool, force)
    return path("output", value)


def path(name: str, value: object) -> Path:
    """A parameter's value as a path. Raises UsageError if the value is not a path."""
    if not isinstance(value, str | Path):
        raise UsageError(f"is a {type(value).__name__}, expected a path", where=name)
    return Path(value)


def pairs(models: Sequence[Any]) -> list[tuple[Any, str]]:
    """The models with their names, empty if none is given. Raises UsageError for anything else."""
    # A path is iterable in no useful way, and its characters are no models.
    if isinstance(models, str | Path):
        raise UsageError("is one path, expected a list of models", where="models")
    pairs = [model if isinstance(model, tuple) else (model, "") for model in models]
    for pair in pairs:
        if len(pair) != 2 or not isinstance(pair[1], str):
            what = f"has {short(repr(pair))}, expected a model, or a pair (model, name)"
            raise UsageError(what, where="models")
    return pairs


def check_arrays(inputs: object) -> None:
    """Raise UsageError unless ``inputs`` is a mapping, or None."""
    if not isinstance(inputs, Mapping | None):
        what = f"is a {type(inputs).__name__}, expected a mapping from names of inputs to arrays"
        raise UsageError(what, where="inputs", hint="for example {'input0': array}")


def of_function(function: Callable[..., Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The keyword arguments of a function, with the types that its parameters have. Raises
    UsageError for an unknown name, and for a value of another type."""
    parameters = inspect.signature(function).parameters.values()
    known = [one.name for one in parameters if one.kind is one.KEYWORD_ONLY]
    check_known(given, known)
    # Annotations are texts at run time, so they are evaluated.
    kinds = get_type_hints(function)
    return {name: typed(name, kinds[name], value) for name, value in given.items()}
