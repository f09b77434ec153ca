"""A component of ESP-IDF."""

from __future__ import annotations

from microgen.base.files import FileTree
from microgen.project.exporting import calling
from microgen.project.exporting.component import Component
from microgen.project.exporting.form import Form
from microgen.project.exporting.readme import readme

_FILES = ("CMakeLists.txt", "idf_component.yml", "microgen_notes.ld")


def _make(component: Component) -> FileTree:
    made = {name: _rendered(name, component) for name in _FILES}
    return FileTree({**component.files, **made, "README.md": readme(component, "esp-idf")})


def _rendered(name: str, component: Component) -> bytes:
    made = calling.render(f"esp-idf/{name}", component)
    return made.encode()


FORM = Form("esp-idf", "a component of ESP-IDF", _make)
