"""The least and greatest values of a dtype, with which searches for extremes start."""

from __future__ import annotations

from typing import Any

import numpy as np


def least(dtype: np.dtype[Any], *, infinite: bool = False) -> Any:
    """The least value of an integer or float dtype, finite unless ``infinite``."""
    if infinite and dtype.kind == "f":
        return -np.inf
    return np.finfo(dtype).min if dtype.kind == "f" else np.iinfo(dtype).min


def greatest(dtype: np.dtype[Any], *, infinite: bool = False) -> Any:
    """The greatest value of an integer or float dtype, finite unless ``infinite``."""
    if infinite and dtype.kind == "f":
        return np.inf
    return np.finfo(dtype).max if dtype.kind == "f" else np.iinfo(dtype).max
