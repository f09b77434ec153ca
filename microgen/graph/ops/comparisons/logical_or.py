"""logical_or: whether at least one of each two elements is true, with numpy's broadcasting."""

from __future__ import annotations

import numpy as np

from microgen.graph.ops.comparisons import logical

OP = logical.op("logical_or", np.logical_or)
