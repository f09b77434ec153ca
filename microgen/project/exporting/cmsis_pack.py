"""A CMSIS-Pack with one software component."""

from __future__ import annotations

from microgen.base.errors import ProjectError
from microgen.base.files import FileTree
from microgen.project.exporting import archive, calling
from microgen.project.exporting.component import Component
from microgen.project.exporting.form import Form
from microgen.project.exporting.pragmas import with_options
from microgen.project.exporting.readme import readme

_VENDOR = "microgen"
_OTHER = ("LICENSE", "NOTICE", "model/CMakeLists.txt")


def _make(component: Component) -> FileTree:
    if not component.cpu.startswith("cortex-"):
        raise ProjectError(
            f"CMSIS packs are for Arm cores, and the model was generated for {component.cpu}",
            where=component.name,
            hint="generate it for a board with a Cortex-M core",
        )
    sources = {name: with_options(name, data) for name, data in component.files.items()}
    made = {
        f"{_VENDOR}.{component.name}.pdsc": _description(component),
        "README.md": readme(component, "cmsis-pack", file_name=_file_name(component)),
    }
    return FileTree({**sources, **made})


def _description(component: Component) -> bytes:
    return calling.render(
        "cmsis-pack/pack.pdsc",
        component,
        vendor=_VENDOR,
        public=[f"{component.public_includes[0]}/{header}" for header in component.headers],
        assembler=[source for source in component.sources if source.endswith(".S")],
        c=[source for source in component.sources if source.endswith(".c")],
    ).encode()


def _file_name(component: Component) -> str:
    return f"{_VENDOR}.{component.name}.{component.version}.pack"


FORM = Form("cmsis-pack", "a CMSIS-Pack", _make, pack=archive.zipped, file_name=_file_name)
