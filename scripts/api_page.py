"""The page of the Python API, made from signatures and docstrings: docs/reference/api.md.

python -m scripts.api_page writes the page. A test compares it with the code.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import microgen
from microgen import verifier
from microgen.building.builder import BuildResult
from microgen.options import Options
from microgen.verifier.report import Check, VerifyReport

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "api.md"
INTRODUCTION = """\
# The Python API

<!-- Made by `python -m scripts.api_page` from the docstrings: edit those. -->

The commands are also functions. Options have the names and the values of the command line, with
`_` for `-`: `microgen.generate(..., ram="40K", codegen="cmsis-nn")`.

```python
import microgen

microgen.generate("model.tflite", "mps2_an386", "out")
microgen.build("out")
assert microgen.verify("out").ok
result = microgen.run("out", {"image": samples})  # .outputs, .instructions, .console
```

A function raises `MicrogenError` or a class derived from it. Its text is the line that the command
prints. The functions and classes below `microgen.` are the public API, together with
`microgen.__version__`. All other names may change.
"""
FUNCTIONS = """\
## Functions
"""
CLASSES = """\
## Classes
"""
OPTIONS = """\
## Options

`generate`, `compile_model`, `generate_models` and `compile_models` take the fields of `Options` as
keywords. `verify` takes the parameters of `verifier.verify`.
"""
RESULTS = """\
## Results

Functions return objects of these classes. They are not imported by name.
"""


def text() -> str:
    """The whole page."""
    public = {name: getattr(microgen, name) for name in microgen.__all__ if name[0] != "_"}
    functions = {name: found for name, found in public.items() if inspect.isfunction(found)}
    classes = {name: found for name, found in public.items() if inspect.isclass(found)}
    parts = [
        INTRODUCTION,
        FUNCTIONS,
        *(_function(f"microgen.{name}", function) for name, function in functions.items()),
        CLASSES,
        *(_class(f"microgen.{name}", kind) for name, kind in classes.items()),
        OPTIONS,
        _class("Options", Options),
        _function("verifier.verify", verifier.verify),
        RESULTS,
        *(_class(kind.__name__, kind) for kind in (BuildResult, VerifyReport, Check)),
    ]
    return "\n".join(parts)


def _function(name: str, function: Callable[..., Any]) -> str:
    return f"### {name}\n\n```python\n{_signature(name, function)}\n```\n\n{_doc(function)}\n"


def _class(name: str, kind: type) -> str:
    """A class with its fields, or how it is made, and its public methods and properties."""
    if dataclasses.is_dataclass(kind):
        members = "\n".join(_fields(kind))
    else:
        members = _signature(name.rpartition(".")[2], kind)
    listed = (f"`{shown}`: {_doc(member)}" for shown, member in _members(kind))
    methods = "".join(f"- {textwrap.indent(item, '  ').strip()}\n" for item in listed)
    parts = [f"### {name}", f"```python\n{members}\n```", _doc(kind), methods.rstrip()]
    return "\n\n".join(part for part in parts if part) + "\n"


def _fields(kind: Any) -> Iterator[str]:
    for field in dataclasses.fields(kind):
        default = "" if field.default is dataclasses.MISSING else f" = {field.default!r}"
        yield f"{field.name}: {field.type}{default}"


def _members(kind: type) -> Iterator[tuple[str, Any]]:
    for name, member in vars(kind).items():
        if name[0] != "_" and isinstance(member, property):
            yield name, member
        elif name[0] != "_" and inspect.isfunction(member):
            yield _signature(name, member), member


def _signature(name: str, found: Callable[..., Any]) -> str:
    """One line, or one line for each parameter if that is too long. Annotations are as written."""
    signature = inspect.signature(found)
    parameters = list(_parameters(signature))
    returned = f" -> {signature.return_annotation}"
    shown = f"{name}({', '.join(parameters)}){returned}"
    if len(shown) <= 100:
        return shown
    return "\n".join(
        [f"{name}(", *(f"    {parameter}," for parameter in parameters), f"){returned}"]
    )


def _parameters(signature: inspect.Signature) -> Iterator[str]:
    starred = False
    for parameter in signature.parameters.values():
        if parameter.name == "self":
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            yield "*"
            starred = True
        stars = "**" if parameter.kind is parameter.VAR_KEYWORD else ""
        default = "" if parameter.default is parameter.empty else f" = {parameter.default!r}"
        yield f"{stars}{parameter.name}: {parameter.annotation}{default}"


def _doc(found: object) -> str:
    """The docstring, with code in Markdown's single quotes."""
    return re.sub(r"``(.+?)``", r"`\1`", inspect.getdoc(found) or "", flags=re.DOTALL)


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
