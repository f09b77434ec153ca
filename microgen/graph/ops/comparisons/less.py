"""less: lhs < rhs for each two elements, with numpy's broadcasting."""

from __future__ import annotations

import numpy as np

from microgen.graph.ops.comparisons import comparison

OP = comparison.op("less", np.less)
