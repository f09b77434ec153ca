"""Scikit-learn's handwritten digits, split once into training and held-out samples."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.datasets import load_digits

SPLIT_SEED = 2024
HELD_OUT_FRACTION = 0.2
PIXEL_MAX = 16.0


class Samples(NamedTuple):
    """``images`` float64 [N,8,8,1] in 0..1, ``labels`` int64 [N] in 0..9."""

    images: npt.NDArray[np.float64]
    labels: npt.NDArray[np.int64]


def split() -> tuple[Samples, Samples]:
    """Training samples and held-out samples: a fifth of each digit, drawn with a fixed seed."""
    digits = load_digits()
    images = digits.images[..., np.newaxis] / PIXEL_MAX
    labels = digits.target.astype(np.int64)
    held_out = _held_out(labels)
    return (
        Samples(images[~held_out], labels[~held_out]),
        Samples(images[held_out], labels[held_out]),
    )


def _held_out(labels: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """True for the samples that training never sees."""
    # RandomState's stream is frozen by numpy's compatibility policy; default_rng's is not.
    random = np.random.RandomState(SPLIT_SEED)
    chosen = np.zeros(labels.size, dtype=np.bool_)
    for digit in range(10):
        members = random.permutation(np.flatnonzero(labels == digit))
        chosen[members[: round(members.size * HELD_OUT_FRACTION)]] = True
    return chosen
