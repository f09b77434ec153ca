import dataclasses
import subprocess
from pathlib import Path

import numpy as np

from microgen.graph.ir.graph import DType
from microgen.graph.ops.moves.slices import SlideAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.conformance.every_dtype import DTYPES, dtype_of, random_array, random_type
from tests.support.tools import NEEDS_CC

INCLUDE = Path(__file__).parents[3] / "crt" / "include"


def _case(dtype: DType, seed: int, axis: int, window: tuple[int, ...], rows: int) -> c.Case:
    rng = np.random.default_rng(seed)
    kind = random_type(rng, (), dtype)
    shapes = (window, (*window[:axis], rows, *window[axis + 1 :]))
    inputs = tuple(
        c.Tensor(dataclasses.replace(kind, shape=shape), random_array(rng, shape, dtype))
        for shape in shapes
    )
    name = f"slide {dtype.value} {window} by {rows}"
    return c.Case(name, "slide", SlideAttrs(axis), inputs, kind.quant, dtype)


def _random(seed: int) -> c.Case:
    rng = np.random.default_rng(1000 + seed)
    axis, rows = int(rng.integers(3)), int(rng.integers(1, 6))
    rest = tuple(map(int, rng.integers(1, 8, int(rng.integers(3)))))
    window = (*(1,) * axis, rows + int(rng.integers(1, 9)), *rest)
    return _case(dtype_of(seed), seed, axis, window, rows)


CORNERS = [
    _case(dtype, 7, *corner)
    for dtype in DTYPES
    for corner in ((0, (2,), 1), (1, (1, 3, 1, 4), 1), (1, (1, 5, 1, 3), 4), (0, (9, 8), 2))
]


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*CORNERS, *map(_random, range(100))], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*CORNERS, *map(_random, range(6))], tmp_path)


IN_PLACE = """
#include "microgen/moves/slide.h"
#include <stdio.h>
int main(void)
{
    static union { uint32_t aligned[64]; uint8_t bytes[256]; } window;
    static uint8_t rows[64];
    for (int32_t at = 0; at < 5; at++) {
        for (int32_t kept = 1; kept < 70; kept++) {
            for (int32_t count = 1; count < 40; count++) {
                const mg_slide_params p = {kept, count};
                uint8_t *w = window.bytes + at;
                for (int32_t i = 0; i < kept + count; i++) { w[i] = (uint8_t)i; }
                for (int32_t i = 0; i < count; i++) { rows[i] = (uint8_t)(200 + i); }
                mg_slide_body(&p, w, rows, w);
                for (int32_t i = 0; i < kept + count; i++) {
                    const uint8_t wanted = (uint8_t)(i < kept ? i + count : 200 + i - kept);
                    if (w[i] != wanted) { return 1; }
                }
            }
        }
    }
    return 0;
}
"""


@NEEDS_CC
def test_the_window_may_be_the_output_at_any_address(tmp_path: Path) -> None:
    (tmp_path / "m.c").write_text(IN_PLACE)
    for flags in (["-O0", "-fsanitize=address,undefined"], ["-O2"], ["-O3"]):
        command = ["cc", "-std=c99", *flags, f"-I{INCLUDE}", "m.c", "-o", "m"]
        subprocess.run(command, cwd=tmp_path, check=True)
        subprocess.run([tmp_path / "m"], check=True)
