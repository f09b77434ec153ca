"""The least and greatest values of a dtype, with which searches for extremes start."""

from __future__ import annotations

from typing import Any

import numpy as np


def least(dtype: np.dtype[Any]) -> Any:
    """The least finite value of an integer or float dtype."""
    return np.finfo(dtype).min if dtype.kind == "f" else np.iinfo(dtype).min


def greatest(dtype: np.dtype[Any]) -> Any:
    """The greatest finite value of an integer or float dtype."""
    return np.finfo(dtype).max if dtype.kind == "f" else np.iinfo(dtype).max
