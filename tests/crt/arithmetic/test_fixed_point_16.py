"""The functions of fixed_point_16.h and of gate_functions_16.h on every int16, compared with their
numpy twin and with the real functions."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np

from microgen.base import resources
from microgen.graph.ir.graph import Array, Graph
from microgen.graph.ops import fixed_point_16
from microgen.kernels.recurrent import gate_functions
from microgen.kernels.requantization import transforms
from tests.kernels.conformance.conformance import SANITIZERS, WARNINGS, host_cc

EVERY_INT16 = np.arange(-(2**15), 2**15)
BITS = range(7)  # the integer bits that tanh takes
NOTHING = Graph("", (), (), (), {}, {})
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

# The tables are in constants.inc.
GATES_DRIVER = """
#include <stdint.h>
#include <stdio.h>
#include "microgen/arithmetic/gate_functions_16.h"
#include "constants.inc"
static int16_t values[UINT16_MAX + 1];
static int16_t *every(void)
{
    for (int32_t x = INT16_MIN; x <= INT16_MAX; x++) {
        values[x - INT16_MIN] = (int16_t)x;
    }
    return values;
}
int main(void)
{
    const mg_gate_tables tables = {exponential, factor};
    mg_gate_logistic(&tables, every(), UINT16_MAX + 1);
    (void)fwrite(values, sizeof values, 1, stdout);
    for (int32_t bits = 2; bits <= 6; bits++) {
        mg_gate_tanh(&tables, every(), UINT16_MAX + 1, bits);
        (void)fwrite(values, sizeof values, 1, stdout);
    }
    return 0;
}
"""


def _twin() -> Array:
    """Results [function, argument]: logistic, then tanh of 0 to 6 integer bits."""
    tanhs = [fixed_point_16.tanh(EVERY_INT16, bits) for bits in BITS]
    return np.stack([fixed_point_16.logistic(EVERY_INT16), *tanhs])


def _output(driver: str, dtype: str, folder: Path) -> Array:
    """What a C program prints for every int16: [functions, arguments]."""
    (folder / "driver.c").write_text(driver)
    include = f"-I{resources.folder('crt') / 'include'}"
    command = [host_cc(), *WARNINGS, *SANITIZERS, include, str(folder / "driver.c")]
    subprocess.run([*command, "-o", str(folder / "driver")], check=True)
    done = subprocess.run([folder / "driver"], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return np.frombuffer(done.stdout, dtype).reshape(-1, EVERY_INT16.size)


def test_c_equals_numpy(tmp_path: Path) -> None:
    np.testing.assert_array_equal(_output(DRIVER, "<i4", tmp_path), _twin())


def test_functions_by_tables_equal_numpy(tmp_path: Path) -> None:
    lines = []
    for constant in gate_functions.constants():
        array = transforms.kept(constant.transform, constant.arrays(NOTHING), constant.arguments)
        text = ", ".join(str(value) for value in array.ravel())
        lines.append(f"static const {constant.ctype} {constant.name}[] = {{{text}}};\n")
    (tmp_path / "constants.inc").write_text("".join(lines))
    logistic, _, _, *tanhs = _twin()
    found = _output(GATES_DRIVER, "<i2", tmp_path)
    np.testing.assert_array_equal(found, np.stack([logistic, *tanhs]))


def test_they_are_what_they_are_called() -> None:
    logistic, *tanhs = _twin() / 2**15
    assert np.abs(logistic - 1 / (1 + np.exp(-EVERY_INT16 / 2**12))).max() < ERROR
    for bits, found in zip(BITS, tanhs, strict=True):
        assert np.abs(found - np.tanh(EVERY_INT16 / 2 ** (15 - bits))).max() < ERROR
