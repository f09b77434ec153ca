"""logical_or: whether one is true, of each two elements, with numpy's broadcasting."""

from __future__ import annotations

import numpy as np

from microgen.ops import logical

OP = logical.op("logical_or", np.logical_or)
