"""The one way that templates are read: they lay out what Python computed, and nothing else."""

from __future__ import annotations

import functools

import jinja2

from microgen import resources


@functools.cache
def environment(folder: str) -> jinja2.Environment:
    """An environment for the templates in ``templates/<folder>``, one per process: compiling a
    template takes longer than the rest of a small model.

    A name that a template uses and nobody gave is an error (jinja2.UndefinedError), not nothing.
    """
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(resources.folder("templates") / folder),
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # C and CMake, not HTML
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
