"""A module for Zephyr."""

from __future__ import annotations

from microgen.base.files import FileTree
from microgen.base.manifest import Manifest
from microgen.project.exporting import calling
from microgen.project.exporting.component import LISTS, Component
from microgen.project.exporting.form import Form
from microgen.project.exporting.readme import readme
from microgen.project.firmware.component import C_FLAGS
from microgen.target.cpu import CPUS, Feature

_FILES = ("CMakeLists.txt", "Kconfig", "microgen_sections.ld", "module.yml")
_FOLDER = "zephyr"


def _make(component: Component) -> FileTree:
    option = option_name(component.project)
    made = {f"{_FOLDER}/{name}": _rendered(name, component, option) for name in _FILES}
    kept = {name: data for name, data in component.files.items() if name != LISTS}
    text = readme(component, _FOLDER, option=option, has_fpu=_has_fpu(component))
    return FileTree({**kept, **made, "README.md": text})


def option_name(record: Manifest) -> str:
    """The Kconfig option that adds the models to an application, without ``CONFIG_``."""
    return "_".join(["MICROGEN", *(module.module.upper() for module in record.modules)])


def _has_fpu(component: Component) -> bool:
    return Feature.FPU in CPUS[component.cpu].features


def _rendered(name: str, component: Component, option: str) -> bytes:
    found = calling.render(f"{_FOLDER}/{name}", component, option=option, c_flags=C_FLAGS)
    return found.encode()


FORM = Form("zephyr", "a module for Zephyr", _make)
