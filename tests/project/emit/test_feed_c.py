"""Generated C that gets its input a few rows at a time, with sanitizers: feeding and passing whole
inputs compute what the reference does, in any order of calls."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import microgen
from microgen import frontends
from microgen.base import manifest
from microgen.base.errors import UnsupportedError
from microgen.graph.ir.graph import Array
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from tests.graph.rows.networks import generate
from tests.support.each_compiled import UNOPTIMIZED
from tests.support.tools import NEEDS_CC

pytestmark = NEEDS_CC

SAMPLES = 3
# Each feeding gets a block of exactly its rows, so that AddressSanitizer sees any more that is read
# or that is read later.
MAIN = """
#include "tvmgen_default.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint8_t sample[{input}_SIZE];
static uint8_t result[{output}_SIZE];

static int32_t feed(int32_t number)
{{
    struct tvmgen_default_outputs outputs = {{.{output_name} = result}};
    const size_t start = (size_t)number * {input}_ROWS_SIZE, left = sizeof(sample) - start;
    const size_t nbytes = left < {input}_ROWS_SIZE ? left : {input}_ROWS_SIZE;
    uint8_t *rows = malloc(nbytes);
    int32_t status;

    memcpy(rows, &sample[start], nbytes);
    status = tvmgen_default_feed(rows, &outputs);
    free(rows);
    return status;
}}

static int fed(void)
{{
    for (int32_t i = 0; i < TVMGEN_DEFAULT_FEEDS - 1; i++) {{
        if (feed(i) != TVMGEN_DEFAULT_MORE_ROWS) {{
            return 1;
        }}
    }}
    return feed(TVMGEN_DEFAULT_FEEDS - 1) != TVMGEN_DEFAULT_READY;
}}

static int passed(void)
{{
    struct tvmgen_default_inputs inputs = {{.{input_name} = sample}};
    struct tvmgen_default_outputs outputs = {{.{output_name} = result}};

    return tvmgen_default_run(&inputs, &outputs);
}}

static int cut_off(void)
{{
    if (TVMGEN_DEFAULT_FEEDS > 1 && feed(0) != TVMGEN_DEFAULT_MORE_ROWS) {{
        return 1;
    }}
    tvmgen_default_restart();
    return fed();
}}

static int refused(void)
{{
    struct tvmgen_default_inputs inputs = {{.{input_name} = NULL}};
    struct tvmgen_default_outputs outputs = {{.{output_name} = NULL}};

    return tvmgen_default_feed(NULL, &outputs) != 0x0801 ||
           tvmgen_default_feed(sample, NULL) != 0x0801 ||
           tvmgen_default_feed(sample, &outputs) != 0x0801 ||
           tvmgen_default_run(NULL, &outputs) != 0x0801 ||
           tvmgen_default_run(&inputs, &outputs) != 0x0801;
}}

int main(int argc, char **argv)
{{
    int (*const ways[])(void) = {{fed, passed, cut_off}};

    if (argc != 2 || refused() != 0) {{
        return 1;
    }}
    while (fread(sample, sizeof(sample), 1U, stdin) == 1U) {{
        if (ways[*argv[1] - '0']() != 0) {{
            return 1;
        }}
        fwrite(result, sizeof(result), 1U, stdout);
    }}
    return 0;
}}
"""
WAYS = ("0", "1", "2")


@dataclass(frozen=True)
class Network:
    """A model's file, bytes of samples of its only input, and those of its results."""

    model: Path
    inputs: bytes
    outputs: Array


def network(seed: int, folder: Path) -> Network:
    """A random network whose layers can be computed row by row."""
    case = generate(seed)
    model = folder / f"network{seed}.tflite"
    model.write_bytes(case.net.model(case.outputs))
    graph, rng = frontends.load(model), np.random.default_rng(seed)
    (name,) = graph.inputs
    kind = graph.types[name]
    samples: list[Array] = []
    for _ in range(SAMPLES):
        if kind.dtype.value == "float32":
            samples.append(rng.standard_normal(kind.shape).astype(np.float32))
        else:
            samples.append(rng.integers(-128, 128, kind.shape).astype(kind.dtype.numpy))
    results = [evaluate(graph, {name: sample}, registry()) for sample in samples]
    outputs = np.stack([np.asarray(found[graph.outputs[0]]) for found in results])
    return Network(model, b"".join(s.tobytes() for s in samples), outputs)


def built(model: Path, rows: int, folder: Path, optimize: str) -> Path:
    """A program that is fed so many rows at a time."""
    shutil.rmtree(folder, ignore_errors=True)
    microgen.generate(model, "native", folder, input_rows=rows, optimize=optimize)
    record = manifest.load(folder)
    names = {"input_name": record.inputs[0].name, "output_name": record.outputs[0].name}
    macros = {f"{kind[:-5]}": f"TVMGEN_DEFAULT_{name}".upper() for kind, name in names.items()}
    (folder / "own.c").write_text(MAIN.format(**names, **macros))
    host = folder / "model" / "codegen" / "host"
    unoptimized = "TESTS_BUILD_QUICKLY" in os.environ
    command = ["cc", *(UNOPTIMIZED if unoptimized else ("-O1",)), "-std=c99", "-o", "own"]
    command += ["-Wall", "-Wextra", "-Wconversion", "-Werror"]
    command += ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    command += [f"-I{host / 'include'}", f"-I{folder / 'crt' / 'include'}"]
    kernels = (folder / "crt" / "kernels").glob("*.c")
    sources = [*sorted((host / "src").glob("*.[cS]")), *sorted(kernels), "own.c"]
    subprocess.run([*command, *map(str, sources)], check=True, cwd=folder)
    return folder / "own"


def check(found: Network, rows: int, folder: Path, optimize: str = "ram") -> None:
    """All ways to run the model give the reference's results, sample after sample."""
    program, wanted = built(found.model, rows, folder, optimize), found.outputs
    for way in WAYS:
        ran = subprocess.run([program, way], input=found.inputs, capture_output=True, check=False)
        assert ran.returncode == 0, (way, ran.stderr.decode())
        results = np.frombuffer(ran.stdout, wanted.dtype).reshape(wanted.shape)
        # Kernels may add floats in another order than numpy.
        same = np.array_equal if wanted.dtype != np.float32 else _close
        assert same(results, wanted), f"way {way}, {rows} rows at a time"


def _close(found: Array, wanted: Array) -> bool:
    return bool(np.allclose(found, wanted, rtol=1e-4, atol=1e-4 * np.abs(wanted).max(initial=0)))


def height(found: Network) -> int:
    graph = frontends.load(found.model)
    return graph.types[graph.inputs[0]].shape[1]


def in_every_rate(seed: int, folder: Path) -> int:
    """Check a network with some numbers of rows at a time. Returns with how many."""
    found = network(seed, folder)
    high, done = height(found), 0
    for rows in sorted({1, 2, 1 + high // 2, high} & {*range(1, high + 1)}):
        goal = ("ram", "speed", "flash", "balanced")[(seed + rows) % 4]
        try:
            check(found, rows, folder / "p", goal)
            done += 1
        except UnsupportedError as error:
            if error.where != "--input-rows":
                raise
    return done


# Networks of int8, int8, float32 and int16.
@pytest.mark.sampled(1)
@pytest.mark.parametrize("seed", [4, 9, 11])
def test_fed_networks_compute_what_the_reference_does(seed: int, tmp_path: Path) -> None:
    assert in_every_rate(seed, tmp_path) > 2


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 200))
def test_a_hundred_fed_networks_compute_what_the_reference_does(seed: int, tmp_path: Path) -> None:
    if len(generate(seed).net.inputs) == 1:
        in_every_rate(seed, tmp_path)
