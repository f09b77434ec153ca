"""Compile options that results depend on, for build systems whose libraries cannot set options."""

from __future__ import annotations

# GCC 12 ignores STDC FP_CONTRACT; `#pragma GCC optimize` works, also for functions that are inlined
# and against -ffast-math. clang obeys STDC FP_CONTRACT, but not against -ffast-math and
# -ffp-contract=fast. Only the first has a macro (docs/guides/components.md: measurements).
TEXT = b"""\
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
    """A source of that name which sets the options itself."""
    return TEXT + text if name.endswith(".c") else text
