"""Which calls of kernels are compiled with the kernel's body and constant parameters. Each is a
function of its own, which takes a compiler long to optimize."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Protocol, TypeVar

from microgen.kernels.base import Implementation


class _OfKernel(Protocol):
    @property
    def kernel(self) -> Implementation: ...


Call = TypeVar("Call", bound=_OfKernel)


def some(calls: Sequence[Call], usual: int) -> list[Call]:
    """At most ``usual`` calls of each kernel, at equal distances. In a run without slow tests, at
    most as many as conftest.py says."""
    most = min(usual, int(os.environ.get("TESTS_MOST_INLINED", usual)))
    of_kernel: dict[str, list[Call]] = {}
    for call in calls:
        of_kernel.setdefault(call.kernel.symbol, []).append(call)
    steps = {symbol: max(1, -(-len(own) // most)) for symbol, own in of_kernel.items()}
    kept = {id(call) for symbol, own in of_kernel.items() for call in own[:: steps[symbol]]}
    return [call for call in calls if id(call) in kept]


def level() -> str:
    """Their optimization. In a run without slow tests it is -O1, which folds constants, too, in two
    thirds of the time."""
    return "-O1" if "TESTS_BUILD_QUICKLY" in os.environ else "-O2"
