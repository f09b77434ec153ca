"""The functions of fixed_point_16.h on every int16, compared with their numpy twin and with the
real functions."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np

from microgen.base import resources
from microgen.graph.ir.graph import Array
from microgen.graph.ops import fixed_point_16
from tests.kernels.conformance.conformance import SANITIZERS, WARNINGS, host_cc

EVERY_INT16 = np.arange(-(2**15), 2**15)
BITS = range(7)  # the integer bits that tanh takes
ERROR = 2.0**-11  # the error of gemmlowp's method with 16 bits

DRIVER = """
#include <stdint.h>
#include <stdio.h>
#include "microgen/arithmetic/fixed_point_16.h"
static void put(int32_t value)
{
    (void)fwrite(&value, sizeof value, 1, stdout);
}
int main(void)
{
    for (int32_t x = INT16_MIN; x <= INT16_MAX; x++) {
        put(mg_logistic_16(x));
    }
    for (int32_t bits = 0; bits <= 6; bits++) {
        for (int32_t x = INT16_MIN; x <= INT16_MAX; x++) {
            put(mg_tanh_16(x, bits));
        }
    }
    return 0;
}
"""


def _twin() -> Array:
    """Results [function, argument]: logistic, then tanh of 0 to 6 integer bits."""
    tanhs = [fixed_point_16.tanh(EVERY_INT16, bits) for bits in BITS]
    return np.stack([fixed_point_16.logistic(EVERY_INT16), *tanhs])


def test_c_equals_numpy(tmp_path: Path) -> None:
    (tmp_path / "driver.c").write_text(DRIVER)
    include = f"-I{resources.folder('crt') / 'include'}"
    command = [host_cc(), *WARNINGS, *SANITIZERS, include, str(tmp_path / "driver.c")]
    subprocess.run([*command, "-o", str(tmp_path / "driver")], check=True)
    done = subprocess.run([tmp_path / "driver"], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    found = np.frombuffer(done.stdout, "<i4").reshape(1 + len(BITS), -1)
    np.testing.assert_array_equal(found, _twin())


def test_they_are_what_they_are_called() -> None:
    logistic, *tanhs = _twin() / 2**15
    assert np.abs(logistic - 1 / (1 + np.exp(-EVERY_INT16 / 2**12))).max() < ERROR
    for bits, found in zip(BITS, tanhs, strict=True):
        assert np.abs(found - np.tanh(EVERY_INT16 / 2 ** (15 - bits))).max() < ERROR
