"""logical_and: whether both of each two elements are true, with numpy's broadcasting."""

from __future__ import annotations

import numpy as np

from microgen.graph.ops.comparisons import logical

OP = logical.op("logical_and", np.logical_and)
