"""Forms of ``microgen export --as`` that take a library as it is: an archive for CMake, Meson and
Make, ESP-IDF, Zephyr, PlatformIO and CMSIS packs."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass

from microgen.base.errors import ProjectError
from microgen.base.files import FileTree
from microgen.base.manifest import Manifest
from microgen.project.exporting import calling
from microgen.project.exporting.component import FLAGS, LISTS, SECTIONS, Component
from microgen.project.firmware.component import C_FLAGS
from microgen.target.cpu import CPUS, Feature

_DATE = (1980, 1, 1, 0, 0, 0)  # the earliest that the format knows
_UNIX = 3  # create_system: the attributes are a mode of Unix
_MODE = 0o100644 << 16  # a regular file, rw-r--r--


def zipped(tree: FileTree) -> bytes:
    """An archive of the files, sorted. Equal files give equal bytes."""
    buffer = io.BytesIO()
    # Stored, because compressed bytes depend on the version of zlib.
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(tree.files):
            member = zipfile.ZipInfo(name, _DATE)
            # The default depends on the system on which this runs.
            member.create_system = _UNIX
            member.external_attr = _MODE
            archive.writestr(member, tree.files[name])
    return buffer.getvalue()


@dataclass(frozen=True, slots=True)
class ExportForm:
    """A form of ``microgen export --as``.

    ``make`` arranges a component's files for the build system. ``pack`` joins them into one file;
    if it is None, the form is a folder. ``file_name`` is the name that the build system demands for
    the file, if it demands a name.
    """

    name: str
    title: str
    make: Callable[[Component], FileTree]
    pack: Callable[[FileTree], bytes] | None = None
    file_name: Callable[[Component], str] | None = None


def _rendered(template: str, component: Component) -> bytes:
    return calling.render(template, component)


def readme(component: Component, form: str, **values: object) -> bytes:
    """``templates/export/<form>/README.md`` with the text that all forms share."""
    code = calling.code(component)
    return calling.render(f"{form}/README.md", component, calling=code, sections=SECTIONS, **values)


# Compile options that results depend on, for build systems whose libraries cannot set options.
# GCC 12 ignores STDC FP_CONTRACT; `#pragma GCC optimize` works, also for functions that are inlined
# and against -ffast-math. clang obeys STDC FP_CONTRACT, but not against -ffast-math and
# -ffp-contract=fast. Only the first has a macro (docs/guides/components.md: measurements).
COMPILE_OPTIONS = b"""\
/* The results depend on these options, which this build system's libraries cannot set. */
#if defined(__clang__)
#ifdef __FAST_MATH__
#error "clang: compile this library without -ffast-math, which changes the model's results"
#endif
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("O2", "fp-contract=off", "no-fast-math")
#endif
"""


def with_options(name: str, text: bytes) -> bytes:
    """A source with the name ``name`` that sets the compile options itself."""
    return COMPILE_OPTIONS + text if name.endswith(".c") else text


# A zip archive for CMake, Meson and Make.

_PLAIN_FILES = ("CMakeLists.txt", "meson.build", "model.mk", "microgen_sections.ld")


def _plain_make(component: Component) -> FileTree:
    made = {
        **component.files,
        **{name: _rendered(f"zip/{name}", component) for name in _PLAIN_FILES},
        "README.md": readme(component, "zip"),
    }
    return FileTree({f"{component.name}/{name}": data for name, data in made.items()})


_PLAIN = ExportForm("zip", "CMake, Meson and Make", _plain_make, pack=zipped)


# A component of ESP-IDF.

_ESP_IDF_FILES = ("CMakeLists.txt", "idf_component.yml", "microgen_notes.ld")


def _esp_idf_make(component: Component) -> FileTree:
    made = {name: _rendered(f"esp-idf/{name}", component) for name in _ESP_IDF_FILES}
    return FileTree({**component.files, **made, "README.md": readme(component, "esp-idf")})


_ESP_IDF = ExportForm("esp-idf", "a component of ESP-IDF", _esp_idf_make)


# A module for Zephyr.

_ZEPHYR_FILES = ("CMakeLists.txt", "Kconfig", "microgen_sections.ld", "module.yml")
_FOLDER = "zephyr"


def _zephyr_make(component: Component) -> FileTree:
    option = option_name(component.project)
    made = {
        f"{_FOLDER}/{name}": _zephyr_rendered(name, component, option) for name in _ZEPHYR_FILES
    }
    kept = {name: data for name, data in component.files.items() if name != LISTS}
    text = readme(component, _FOLDER, option=option, has_fpu=_has_fpu(component))
    return FileTree({**kept, **made, "README.md": text})


def option_name(record: Manifest) -> str:
    """The Kconfig option that adds the models to an application, without ``CONFIG_``."""
    return "_".join(["MICROGEN", *(module.module.upper() for module in record.modules)])


def _has_fpu(component: Component) -> bool:
    return Feature.FPU in CPUS[component.cpu].features


def _zephyr_rendered(name: str, component: Component, option: str) -> bytes:
    return calling.render(f"{_FOLDER}/{name}", component, option=option, c_flags=C_FLAGS)


_ZEPHYR = ExportForm("zephyr", "a module for Zephyr", _zephyr_make)


# A library of PlatformIO.


def _platformio_make(component: Component) -> FileTree:
    text = json.dumps(_library(component), indent=2)
    made = {
        "library.json": f"{text}\n".encode(),
        "README.md": readme(component, "platformio"),
    }
    return FileTree({**component.files, **made})


def _library(component: Component) -> dict[str, object]:
    """The contents of ``library.json``. Nothing but the sources of the list is compiled."""
    return {
        "name": component.name,
        "version": component.version,
        "description": f"The neural network {component.name}, generated by microgen",
        "keywords": ["machine learning", "inference"],
        "license": "Apache-2.0",
        "frameworks": "*",
        "platforms": "*",
        "headers": list(component.headers),
        "build": {
            "srcDir": ".",
            "includeDir": component.public_includes[0],
            "srcFilter": ["-<*>", *(f"+<{source}>" for source in component.sources)],
            "flags": [
                *(f"-I{folder}" for folder in component.includes),
                *FLAGS,
                *(f"-Wl,--undefined={symbol}" for symbol in component.kept_symbols),
            ],
        },
    }


_PLATFORMIO = ExportForm("platformio", "a library of PlatformIO", _platformio_make)


# A CMSIS-Pack with one software component.

_VENDOR = "microgen"


def _cmsis_pack_make(component: Component) -> FileTree:
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
    )


def _file_name(component: Component) -> str:
    return f"{_VENDOR}.{component.name}.{component.version}.pack"


_CMSIS_PACK = ExportForm(
    "cmsis-pack", "a CMSIS-Pack", _cmsis_pack_make, pack=zipped, file_name=_file_name
)

FORMS = (_CMSIS_PACK, _ESP_IDF, _PLATFORMIO, _PLAIN, _ZEPHYR)
