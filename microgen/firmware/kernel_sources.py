"""The C sources of a project that calls kernels' out-of-line forms."""

from __future__ import annotations

from collections.abc import Iterable

from microgen.program.kernel_code import KernelCode


def sources(kernels: Iterable[KernelCode]) -> dict[str, str]:
    """The sources that define the kernels' out-of-line forms: path below ``crt`` -> text."""
    return {f"kernels/{kernel.stem}.c": _source(kernel) for kernel in kernels}


def _source(kernel: KernelCode) -> str:
    include = f'#include "{kernel.header}"\n'
    if kernel.variant:
        return f"{_ABOUT}{include}\n{kernel.definition}\n"
    return f"{_ABOUT}#define {kernel.macro}\n{include}"


_ABOUT = """\
/* SPDX-License-Identifier: Apache-2.0 */
/* The out-of-line forms, for any parameters. */
"""
