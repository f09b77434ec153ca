"""Projects whose ``src/main.c`` was replaced: ``run --scope model``."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import microgen
from microgen.base import manifest
from microgen.base.errors import InputError, RunError, UsageError
from microgen.interface.cli import main
from microgen.running import runner
from microgen.running.comparing import compare
from microgen.verifier.scopes import NOT_LOOKED_AT
from tests import test_state
from tests.support.places import EXAMPLES, SMALL
from tests.support.tools import NEEDS_ARM, NEEDS_GDBSERVER

pytestmark = NEEDS_ARM
ARM = "mps2_an386"
INFERENCES = 3

# The run function is called from a function that ends with the call, so that it returns to another
# one. The second call passes no input, and returns an error.
_MAIN = """
#include "platform/io.h"
#include "tvm/runtime/crt/platform.h"
#include "tvmgen_default.h"

static int8_t in[64];
static int8_t out[10];

static int32_t __attribute__((noinline)) infer(void *data)
{
    struct tvmgen_default_inputs inputs = {data};
    struct tvmgen_default_outputs outputs = {{out}};
    return tvmgen_default_run(&inputs, &outputs);
}

int main(void)
{
    int32_t k;
    int32_t status = 0;

    (void)TVMPlatformInitialize();
    for (k = 0; k < INFERENCES; k++) {
        in[k] = (int8_t)(40 + k);
        status |= infer(in);
        if (k == 0) {
            mg_io_print("without input: ");
            mg_io_print_int(infer((void *)0) != 0);
            mg_io_print("\\n");
        }
    }
    mg_io_print("application ended\\n");
    mg_io_exit(status);
}
""".replace("INFERENCES", str(INFERENCES))
_IDLE = """
#include "platform/io.h"
#include "tvmgen_default.h"

static volatile int runs;
static int8_t in[64];
static int8_t out[10];

int main(void)
{
    struct tvmgen_default_inputs inputs = {in};
    struct tvmgen_default_outputs outputs = {{out}};

    if (runs) {
        (void)tvmgen_default_run(&inputs, &outputs);
    }
    mg_io_print("idle\\n");
    mg_io_exit(0);
}
"""

Make = Callable[..., Path]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Make:
    """A function that returns a project with a main of the test's, for a board."""
    known: dict[object, Path] = {}

    def make(text: str, board: str = ARM, **options: object) -> Path:
        key = (text, board, *options.items())
        if key not in known:
            known[key] = tmp_path_factory.mktemp("application") / "p"
            microgen.generate(SMALL, board, known[key], **options)
            if text:
                (known[key] / "src" / "main.c").write_text(text)
        return known[key]

    return make


@pytest.mark.parametrize(
    "board", [ARM, pytest.param("native", marks=NEEDS_GDBSERVER)], ids=["board", "host"]
)
def test_an_application_runs_and_is_compared(made: Make, board: str) -> None:
    project = made(_MAIN, board)
    with pytest.raises(RunError, match=r"src/main\.c was replaced on purpose, add --scope model"):
        microgen.run(project)
    result = microgen.run(project, compare=True, scope="model")
    assert result.console == "without input: 1\napplication ended\n"
    assert result.checks.scope == "model"
    assert result.checks.check("project_files").found.endswith("src/main.c has been replaced")
    reference = result.verdicts[0]
    assert (reference.ok, reference.samples, reference.equal_samples) == (True, 3, INFERENCES)
    assert reference.layers is not None
    assert reference.layers.compared == 4


def test_an_error_in_what_it_computes_is_found(made: Make) -> None:
    project = made(_MAIN)
    microgen.build(project)
    found = runner.followed(project, None, elf=project / "build" / "firmware.elf").items
    assert [one.status == 0 for one in found] == [True, False, True, True]
    wrong = found[2]
    layers = list(wrong.layers)
    layers[1] = replace(layers[1], array=layers[1].array ^ 1)
    edited = [*found[:2], replace(wrong, layers=tuple(layers)), *found[3:]]
    outputs = {name: array + np.int8(1) for name, array in wrong.outputs.items()}
    edited[2] = replace(edited[2], outputs=outputs)
    verdict = compare.compare_application(project, edited)[0]
    assert not verdict.ok
    assert verdict.difference is not None
    assert verdict.difference.tensor == layers[1].tensor


def test_its_inferences_are_profiled(made: Make) -> None:
    result = microgen.run(made(_MAIN), profile=True, scope="model")
    own = microgen.run(made(""), profile=True)
    assert result.per_call is not None
    assert own.per_call is not None
    assert result.samples == len(result.per_call) == INFERENCES  # not the one that failed
    assert set(result.per_call) == set(own.per_call)
    assert result.instructions is not None
    assert all(0 < n - sum(own.per_call[0]) < 200 for n in result.instructions)


@pytest.mark.parametrize(
    "options",
    [
        {},
        *(
            pytest.param(options, marks=pytest.mark.slow)
            for options in ({"interface": "packed"}, {"input_rows": 1})
        ),
    ],
    ids=["c", "packed", "rows"],
)
def test_the_projects_own_main_is_an_application_too(
    made: Make, tmp_path: Path, options: dict[str, object]
) -> None:
    project = made("", **options)
    samples = {"image": np.arange(128, dtype=np.int8).reshape(2, 1, 8, 8, 1)}
    result = microgen.run(project, samples, scope="model")
    expected = microgen.run(project, samples)
    for name, array in expected.outputs.items():
        np.testing.assert_array_equal(result.outputs[name], array)
    if "input_rows" in options:
        with pytest.raises(microgen.MicrogenError, match="are not one pointer each"):
            microgen.run(project, samples, compare=True, scope="model")
        assert microgen.run(project, samples, profile=True, scope="model").samples == 2
    else:
        compared = microgen.run(project, samples, compare=True, scope="model")
        assert compared.verdicts[0].samples == compared.verdicts[0].equal_samples == 2


def test_what_main_does_not_do_is_not_claimed(
    made: Make, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    idle, samples = str(made(_IDLE)), str(tmp_path / "x.npz")
    np.savez(samples, image=np.zeros((1, 8, 8, 1), np.int8))
    assert main(["run", idle, "--scope", "model"]) == 0
    first, said = capsys.readouterr().out.splitlines()
    assert first == NOT_LOOKED_AT
    assert said == "idle"
    for option in ("--compare", "--profile"):
        assert main(["run", idle, "--scope", "model", option]) == 1
        assert "the program never calls tvmgen_default_run" in capsys.readouterr().err
    assert main(["run", idle, "--scope", "model", "--input", samples]) == 2
    assert "main of this firmware does not read samples" in capsys.readouterr().err
    assert main(["run", idle, "--scope", "model", "--output", samples]) == 2
    assert "main wrote no outputs" in capsys.readouterr().err
    assert main(["run", idle, "--scope", "model", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["scope"] == "model"


def test_what_is_refused(made: Make) -> None:
    project = made(_IDLE)
    with pytest.raises(UsageError, match="--compare: is for --scope project"):
        microgen.run(project, compare=True, scope="model", on="gdb:localhost:1")
    with pytest.raises(InputError, match="does not read samples"):
        microgen.run(project, {"image": np.zeros((1, 8, 8, 1), np.int8)}, scope="model")
    with pytest.raises(UsageError, match="--scope: is 'both', expected project or model"):
        microgen.run(project, scope="both")  # type: ignore[arg-type]


def test_a_model_that_was_changed_is_not_run(made: Make, tmp_path: Path) -> None:
    project = tmp_path / "p"
    shutil.copytree(made(_MAIN), project, ignore=shutil.ignore_patterns("build"))
    source = project / "model" / "codegen" / "host" / "src" / "default_lib0.c"
    source.write_text(source.read_text() + "\n/* changed */\n")
    with pytest.raises(RunError, match=r"default_lib0\.c has changed"):
        microgen.run(project, scope="model")


@pytest.mark.slow
def test_a_program_that_calls_the_graph_executor_itself(tmp_path: Path) -> None:
    microgen.generate(SMALL, ARM, tmp_path / "p", executor="graph")
    shutil.copy(EXAMPLES / "digits" / "graph_debug.c", tmp_path / "p" / "src" / "main.c")
    result = microgen.run(tmp_path / "p", scope="model")
    assert result.console.endswith("status 0\n")
    assert "TVMGraphExecutor_RunNode" in result.checks.check("run_symbol").found
    assert "tvmgen_default_graph_executor" in result.checks.check("stack").found
    with pytest.raises(RunError, match="the program never contains tvmgen_default_run"):
        microgen.run(tmp_path / "p", compare=True, scope="model")


_STATEFUL = """
#include "platform/io.h"
#include "tvm/runtime/crt/platform.h"
#include "tvmgen_default.h"

static int8_t in[{input}];
static int8_t out[{output}];

int main(void)
{{
    int32_t k;
    struct tvmgen_default_inputs inputs = {{in}};
    struct tvmgen_default_outputs outputs = {{{{out}}}};

    (void)TVMPlatformInitialize();
    tvmgen_default_reset();
    for (k = 0; k < 5; k++) {{
        in[k] = (int8_t)(11 * k + 20);
        if (k == 3) {{
            tvmgen_default_reset();
        }}
        if (tvmgen_default_run(&inputs, &outputs) != 0) {{
            mg_io_exit(1);
        }}
    }}
    mg_io_exit(0);
}}
"""


@pytest.mark.slow
def test_a_state_that_the_application_resets(tmp_path: Path) -> None:
    """From there on nothing is compared, because the state would have to be known."""
    (tmp_path / "m.tflite").write_bytes(test_state._model())
    project = tmp_path / "p"
    microgen.generate(tmp_path / "m.tflite", ARM, project)
    record = manifest.load(project)
    sizes = {"input": record.inputs[0].nbytes, "output": record.outputs[0].nbytes}
    (project / "src" / "main.c").write_text(_STATEFUL.format(**sizes))
    verdict = microgen.run(project, compare=True, scope="model").verdicts[0]
    assert verdict.ok
    assert (verdict.samples, verdict.equal_samples) == (3, 3)
