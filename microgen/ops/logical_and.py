"""logical_and: whether both are true, of each two elements, with numpy's broadcasting."""

from __future__ import annotations

import numpy as np

from microgen.ops import logical

OP = logical.op("logical_and", np.logical_and)
