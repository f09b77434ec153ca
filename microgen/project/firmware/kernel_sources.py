"""The C sources of a project that calls kernels' out-of-line forms."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from microgen.planner.program.kernel_code import KernelCode


def sources(kernels: Iterable[KernelCode]) -> dict[str, str]:
    """The sources that define the kernels' out-of-line forms: path below ``crt`` -> text."""
    found: dict[str, list[KernelCode]] = {}
    for kernel in kernels:
        # Kernels of one header are in one source, so that they have its other functions in common.
        found.setdefault(kernel.header, []).append(kernel)
    return {f"kernels/{PurePosixPath(name).stem}.c": _source(found[name]) for name in found}


def _source(kernels: Sequence[KernelCode]) -> str:
    first = kernels[0]
    include = f'#include "{first.header}"\n'
    if first.variant:
        definitions = "\n".join(kernel.definition for kernel in kernels)
        return f"{_ABOUT}{include}\n{definitions}\n"
    return f"{_ABOUT}#define {first.macro}\n{include}"


_ABOUT = """\
/* SPDX-License-Identifier: Apache-2.0 */
/* The out-of-line forms, for any parameters. */
"""
