"""Kernels whose requantization is proven for a layer's sums, whatever its rounding is."""

from __future__ import annotations

from microgen.kernels.requantization import weighted

_PROVEN = {one.name for one in (weighted.LINEAR, weighted.LINEAR_MIXED, *weighted.HIGH)}


def is_for_any_rounding(symbol: str) -> bool:
    """Whether the kernel of that name has such a requantization."""
    return not _PROVEN.isdisjoint(symbol.split("_"))
