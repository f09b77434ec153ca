"""Reads templates. They only lay out values that Python has computed."""

from __future__ import annotations

import functools

import jinja2

from microgen.base import resources


# One for each process, because compiling a template takes longer than the rest of a small model's
# generation.
@functools.cache
def environment(folder: str) -> jinja2.Environment:
    """The environment for the templates in ``templates/<folder>``. There is one per process,
    because compiling a template takes longer than the rest of a small model's generation.

    A name that a template uses but that has no value raises jinja2.UndefinedError.
    """
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(resources.folder("templates") / folder),
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # C and CMake, not HTML
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
