"""Compile options that results depend on, for build systems whose libraries cannot set options."""

from __future__ import annotations

# GCC 12 ignores STDC FP_CONTRACT, with which clang switches contraction off; `#pragma GCC optimize`
# works, also for functions that are inlined (docs/components.md has the measurement).
TEXT = b"""\
/* The results depend on these options, which this build system's libraries cannot set. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("O2", "fp-contract=off", "no-fast-math")
#endif
"""


def with_options(name: str, text: bytes) -> bytes:
    """A source of that name which sets the options itself."""
    return TEXT + text if name.endswith(".c") else text
