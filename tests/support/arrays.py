"""Comparisons of arrays."""

from __future__ import annotations

import numpy as np

from microgen.graph.ir.graph import Array


def assert_same(found: Array, wanted: Array, what: object) -> None:
    """Checks that all elements are equal. ``what`` was computed: its text is made only if they are
    not, because for an object with arrays that takes longer than most references."""
    if not np.array_equal(found, wanted):
        np.testing.assert_array_equal(found, wanted, err_msg=repr(what))
