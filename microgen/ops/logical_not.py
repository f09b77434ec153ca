"""logical_not: whether it is false, of each element."""

from __future__ import annotations

import numpy as np

from microgen.ops import logical

OP = logical.op("logical_not", np.logical_not, n_inputs=1)
