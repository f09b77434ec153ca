"""logical_not: whether each element is false."""

from __future__ import annotations

import numpy as np

from microgen.graph.ops.comparisons import logical

OP = logical.op("logical_not", np.logical_not, n_inputs=1)
