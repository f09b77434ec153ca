"""A zip archive for CMake, Meson and Make."""

from __future__ import annotations

from microgen.base.files import FileTree
from microgen.project.exporting import archive, calling
from microgen.project.exporting.component import Component
from microgen.project.exporting.form import Form
from microgen.project.exporting.readme import readme

_FILES = ("CMakeLists.txt", "meson.build", "model.mk", "microgen_sections.ld")


def _make(component: Component) -> FileTree:
    made = {
        **component.files,
        **{name: _rendered(name, component) for name in _FILES},
        "README.md": readme(component, "zip"),
    }
    return FileTree({f"{component.name}/{name}": data for name, data in made.items()})


def _rendered(name: str, component: Component) -> bytes:
    made = calling.render(f"zip/{name}", component)
    return made.encode()


FORM = Form("zip", "CMake, Meson and Make", _make, pack=archive.zipped)
