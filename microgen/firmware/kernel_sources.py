"""The C sources of a project that calls kernels' out-of-line forms, which their headers define."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath


def sources(headers: Iterable[str]) -> dict[str, str]:
    """For each kernel's header, a path below ``crt/include``, the source that defines its
    out-of-line forms: path below ``crt`` -> text."""
    return {f"kernels/{PurePosixPath(header).stem}.c": _source(header) for header in headers}


def macro(header: str) -> str:
    """The macro that makes a kernel's header define the out-of-line forms."""
    return f"MG_{PurePosixPath(header).stem.upper()}_IMPLEMENTATION"


def _source(header: str) -> str:
    return (
        "/* SPDX-License-Identifier: Apache-2.0 */\n"
        "/* The out-of-line forms, for any parameters. */\n"
        f'#define {macro(header)}\n#include "{header}"\n'
    )
