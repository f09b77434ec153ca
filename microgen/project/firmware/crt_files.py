"""The files of ``crt`` that a project needs, found by the includes of its C files: the runtime, the
sources of kernels' out-of-line forms, and TVM's C interface."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from types import MappingProxyType

from microgen.base import resources
from microgen.base.errors import InternalError
from microgen.planner.program.kernel_call import KernelCode

# It begins with a fixed byte, which is found quickly in megabytes of constants.
_INCLUDE = re.compile(rb'#[ \t]*include[ \t]+["<]([^">]+)[">]')
_RUNTIME_HEADERS = (
    "src/",
    "include/tvm/runtime/crt/",
    "include/microgen/accelerator.h",
    "include/microgen/tracing_device.h",
)


# Every project has TVM's C interface, so that applications written for TVM compile.
# The headers; the source of a header's name comes with it. Projects with the graph executor have
# its header, too.
_TVM_HEADERS = (
    "include/crt_config.h",
    "include/dlpack/dlpack.h",
    "include/tvm/runtime/c_backend_api.h",
    "include/tvm/runtime/c_runtime_api.h",
    "include/tvm/runtime/crt/crt.h",
    "include/tvm/runtime/crt/error_codes.h",
    "include/tvm/runtime/crt/func_registry.h",
    "include/tvm/runtime/crt/logging.h",
    "include/tvm/runtime/crt/module.h",
    "include/tvm/runtime/crt/packed_func.h",
    "include/tvm/runtime/crt/page_allocator.h",
    "include/tvm/runtime/crt/platform.h",
    "include/tvm/runtime/crt/platform_memory.h",
    "include/tvm/runtime/crt/stack_allocator.h",
    "include/tvm/runtime/metadata_types.h",
)
# Functions of platform.h, whose sources have names of their own.
_TVM_SOURCES = ("src/platform/format_message.c", "src/platform/platform_hooks.c")

_IO = b'#include "platform/io.h"'

_ABOUT = """\
/* SPDX-License-Identifier: Apache-2.0 */
/* The out-of-line forms, for any parameters. */
"""


def closure(texts: Iterable[bytes], roots: Iterable[str] = ()) -> dict[str, bytes]:
    """The files below ``crt`` that ``roots`` (paths) and ``texts`` (contents) need, and all files
    that these include."""
    contents: dict[str, bytes] = {}
    pending = [*roots, *(name for text in texts for name in _included(text))]
    while pending:
        name = pending.pop()
        if name in contents:
            continue
        contents[name], included = _with_included(name)
        pending += included
        if name.startswith(_RUNTIME_HEADERS):
            pending += _sources_of(name)
    return contents


def read(name: str) -> bytes:
    """A file below ``crt``."""
    return _with_included(name)[0]


@functools.cache
def _with_included(name: str) -> tuple[bytes, list[str]]:
    """A file below ``crt``, and the files that it includes."""
    path = resources.folder("crt") / name
    try:
        text = path.read_bytes()
    except OSError as error:
        raise InternalError(f"crt/{name} is missing") from error
    return text, _included(text)


@functools.cache
def _headers() -> frozenset[str]:
    """The paths below ``crt`` that an include may name."""
    crt = resources.folder("crt")
    paths = (path for folder in ("include", "src") for path in (crt / folder).rglob("*.*"))
    return frozenset(path.relative_to(crt).as_posix() for path in paths)


def _sources_of(header: str) -> Sequence[str]:
    """The sources that a header of the runtime needs: the source of the same name. A header without
    such a source, but next to other sources, declares the parts of a runtime, and these sources
    include it first."""
    named = _runtime_sources().get(PurePosixPath(header).stem)
    if named or not header.startswith("src/"):
        return named or ()
    sources = itertools.chain.from_iterable(_runtime_sources().values())
    return [source for source in sources if _with_included(source)[1][:1] == [header]]


@functools.cache
def _runtime_sources() -> dict[str, tuple[str]]:
    """Name without suffix -> the runtime's source of that name, a path below ``crt``."""
    crt = resources.folder("crt")
    sources = (crt / "src").rglob("*.c")
    return {path.stem: (path.relative_to(crt).as_posix(),) for path in sources}


def _included(text: bytes) -> list[str]:
    """Paths below ``crt`` of the runtime's headers that a C file includes. Other headers are
    ignored."""
    matches = (match for match in _INCLUDE.finditer(text) if _begins_line(text, match.start()))
    names = (match[1].decode() for match in matches)
    candidates = (f"{folder}/{name}" for name in names for folder in ("include", "src"))
    return [name for name in candidates if name in _headers()]


def _begins_line(text: bytes, start: int) -> bool:
    """Whether a position has only blanks before it in its line."""
    return not text[text.rfind(b"\n", 0, start) + 1 : start].strip()


def kernel_sources(kernels: Iterable[KernelCode]) -> dict[str, str]:
    """The sources that define the kernels' out-of-line forms: path below ``crt`` -> text."""
    by_header: dict[str, list[KernelCode]] = {}
    for kernel in kernels:
        # Kernels of one header are in one source, so that they share the header's other functions.
        by_header.setdefault(kernel.header, []).append(kernel)
    return {f"kernels/{PurePosixPath(name).stem}.c": _source(by_header[name]) for name in by_header}


def _source(kernels: Sequence[KernelCode]) -> str:
    """The source of a header's out-of-line functions. Macros let the header define its own
    functions; each variant's function is a line."""
    macros = dict.fromkeys(f"#define {macro}\n" for each in kernels for macro in each.macros)
    definitions = "".join(f"{each.definition}\n" for each in kernels if each.variant)
    include = f'#include "{kernels[0].header}"\n'
    return "".join((_ABOUT, *macros, include, "\n" if definitions else "", definitions))


@functools.cache
def tvm_files() -> Mapping[str, bytes]:
    """TVM's interface: path below ``crt`` -> contents. Firmware contains the code of these files
    only if the application calls it."""
    return MappingProxyType(closure((), (*_TVM_HEADERS, *_TVM_SOURCES)))


@functools.cache
def portable_tvm_files() -> frozenset[str]:
    """The paths of the files of TVM's interface that need no platform's input and output."""
    # Another firmware's application may call these; it defines ``TVMLogf`` and ``TVMPlatformAbort``
    # itself.
    return frozenset(name for name, text in tvm_files().items() if _IO not in text)
