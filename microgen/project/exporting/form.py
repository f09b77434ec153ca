"""What a form of export is: a build system's own kind of library."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from microgen.base.files import FileTree
from microgen.project.exporting.component import Component


@dataclass(frozen=True, slots=True)
class Form:
    """A form of ``microgen export --as``.

    ``make`` lays a component out as the build system wants it. ``pack`` makes one file of that; if
    it is None, the form is a folder. ``file_name`` is the name that the build system wants the
    file to have, if it wants one.
    """

    name: str
    title: str
    make: Callable[[Component], FileTree]
    pack: Callable[[FileTree], bytes] | None = None
    file_name: Callable[[Component], str] | None = None
