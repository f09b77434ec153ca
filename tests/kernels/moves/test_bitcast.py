from pathlib import Path

import numpy as np

from microgen.graph.ir.graph import DType, TensorType
from microgen.graph.ops.moves.views import BITCAST, BitcastAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.conformance.every_dtype import random_array


def cases() -> list[c.Case]:
    """From every dtype to each of its size."""
    rng = np.random.default_rng(0)
    found = []
    for source in DType:
        for target in DType:
            if source.nbytes == target.nbytes and target is not DType.BOOL:
                kind = TensorType((2, 3), source)
                data = c.Tensor(kind, random_array(rng, kind.shape, source))
                name = f"{source.value} to {target.value}"
                found.append(c.Case(name, BITCAST.name, BitcastAttrs(), (data,), None, target))
    return found


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check(cases(), tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined(cases()[:2], tmp_path)
