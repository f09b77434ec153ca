"""The errors of a run of the graph executor: their codes, and the run after one."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from microgen.graph.ops.moves.indexed import OUTSIDE
from microgen.options import Options
from tests.crt.executor.executor_graphs import CRT, EXECUTOR_SOURCES
from tests.planner.executors.handmade import compiled
from tests.support.each_compiled import UNOPTIMIZED
from tests.support.graphs import rows_of_a_transpose

WRONG_TYPE = 0x0801  # kTvmErrorFunctionCallWrongArgType
INVALID = 0x0803  # kTvmErrorFunctionCallInvalidArg
MAIN = """
#include "tvm/runtime/crt/platform.h"
#include "tvmgen_default.h"
#include "tvmgen_default_graph.h"
#include <stdio.h>

static int16_t x[6] = {1, 2, 3, 4, 5, 6};
static int32_t i[2];
static int16_t y[4];
static struct tvmgen_default_inputs inputs = {x, i};
static struct tvmgen_default_outputs outputs = {.output = y};

static void run(int32_t first)
{
    int status;

    i[0] = first;
    status = (int)tvmgen_default_run(&inputs, &outputs);
    printf("%d: %d %d %d %d\\n", status, y[0], y[1], y[2], y[3]);
}

int main(void)
{
    struct tvmgen_default_inputs none = {NULL, i};
    struct tvmgen_default_inputs odd = {(char *)x + 1, i};
    struct tvmgen_default_outputs nowhere = {.output = NULL};
    TVMGraphExecutor *executor = NULL;
    double seconds[8];

    printf("%d ", (int)tvmgen_default_run(NULL, &outputs));
    printf("%d ", (int)tvmgen_default_run(&inputs, NULL));
    printf("%d ", (int)tvmgen_default_run(&none, &outputs));
    printf("%d ", (int)tvmgen_default_run(&inputs, &nowhere));
    printf("%d\\n", (int)tvmgen_default_run(&odd, &outputs));
    run(1);
    run(3);
    (void)tvmgen_default_graph_executor(&executor);
    printf("%d ", TVMGraphExecutor_Run(executor));
    printf("%d ", TVMGraphExecutor_RunDebug(executor, seconds, 8U));
    printf("%d\\n", TVMGraphExecutor_RunDebug(executor, seconds, 1U));
    run(2);
    printf("%d ", (int)TVMPlatformTimerStart());
    return 0;
}
"""


@pytest.mark.sampled(1)
@pytest.mark.parametrize("optimize", ["balanced", "flash"])
def test_a_failure_is_a_code_and_the_next_run_is_as_the_first(
    optimize: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = Options(executor="graph", optimize=optimize)
    compiled(rows_of_a_transpose(), options, tmp_path, monkeypatch).files.write_to(tmp_path / "p")
    (tmp_path / "main.c").write_text(MAIN)
    host, crt = tmp_path / "p/model/codegen/host", tmp_path / "p/crt"
    sources = [*sorted((host / "src").glob("*.[cS]")), *sorted((crt / "kernels").glob("*.c"))]
    sources += [*EXECUTOR_SOURCES, CRT / "src/platform/platform_posix.c", tmp_path / "main.c"]
    folders = [host / "include", tmp_path / "p/model/executor-config/graph"]
    folders += [crt / "include", CRT / "src"]
    command = ["cc", *UNOPTIMIZED, "-std=c99", "-Wall", "-Werror", "-fsanitize=address,undefined"]
    command += [*(f"-I{folder}" for folder in folders), "-o", str(tmp_path / "app")]
    subprocess.run([*command, *map(str, sources)], check=True)
    done = subprocess.run([tmp_path / "app"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        f"{WRONG_TYPE} {WRONG_TYPE} {WRONG_TYPE} {WRONG_TYPE} {INVALID}",
        "0: 2 5 1 4",
        f"{OUTSIDE}: 2 5 1 4",  # the output is unchanged
        f"{OUTSIDE} {OUTSIDE} {0x0104}",
        "0: 3 6 1 4",
        "0 ",  # the timer of the failed run was stopped
    ]
