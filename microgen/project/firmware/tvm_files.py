"""The files of TVM's C interface, which every project has, so that applications written for TVM
compile: headers with TVM's names, and the sources of the functions that they declare."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from types import MappingProxyType

from microgen.project.firmware import crt_files

# The headers; the source of a header's name comes with it. Projects with the graph executor have
# its header, too.
_HEADERS = (
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
_SOURCES = ("src/platform/format_message.c", "src/platform/platform_hooks.c")

_IO = b'#include "platform/io.h"'


@functools.cache
def files() -> Mapping[str, bytes]:
    """Path below ``crt`` -> contents. Firmware contains their code only if the application calls
    it."""
    return MappingProxyType(crt_files.closure((), (*_HEADERS, *_SOURCES)))


@functools.cache
def portable() -> frozenset[str]:
    """The paths of the files that need no platform's input and output."""
    # Another firmware's application may call these; it defines ``TVMLogf`` and ``TVMPlatformAbort``
    # itself.
    return frozenset(name for name, text in files().items() if _IO not in text)
