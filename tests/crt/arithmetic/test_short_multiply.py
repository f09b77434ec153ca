"""The high word of a product from multiplications of 32 bits, as Armv6-M computes it."""

from pathlib import Path

import numpy as np

from tests.crt.arithmetic.expressions import evaluated, of_int32

COUNT = 20000
DRIVER = of_int32("#define MG_SHORT_MULTIPLY", '#include "microgen/blocks/dsp.h"')
INT32 = np.iinfo(np.int32)


def test_the_high_word_is_that_of_64_bits(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = rng.integers(INT32.min, INT32.max, (COUNT, 3), endpoint=True)
    rows >>= rng.integers(0, 32, rows.shape)
    ends = [INT32.min, INT32.min + 1, -(2**16), -1, 0, 1, 2**16 - 1, 2**16, INT32.max]
    every = np.stack(np.meshgrid(ends, ends, ends), -1).reshape(-1, 3)
    rows = np.concatenate([rows, every]).astype(np.int64)
    expected = (rows[:, 0] * rows[:, 1] + (rows[:, 2] << 16)) >> 32
    expression = "mg_product_high(a[0], a[1], a[2])"
    found = evaluated(DRIVER, expression, rows.astype("<i4"), tmp_path)
    np.testing.assert_array_equal(found, expected)
