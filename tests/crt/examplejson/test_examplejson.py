"""The runtime of ExampleJSON on the host, compared with numpy and run under sanitizers."""

from __future__ import annotations

import random
import subprocess
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from microgen.relay import blob
from microgen.relay.blob import LIBRARY, Module
from microgen.tvm.codegens.examplejson import sizes
from microgen.tvm.codegens.examplejson.text import parse
from tests.crt.examplejson import examplejson_cases as cases
from tests.crt.examplejson.examplejson_cases import (
    EVERYTHING,
    MALFORMED,
    NO_MEMORY,
    UNSUPPORTED,
    Case,
    Result,
    expected,
    payload_of,
    run,
)
from tests.crt.executor.executor_graphs import CRT
from tests.kernels.conformance.conformance import WARNINGS, host_cc
from tests.relay.blob.samples import GUIDE
from tests.support.tools import NEEDS_ARM


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return cases.compiled(tmp_path_factory.mktemp("examplejson"), "examplejson_driver.c")


def load(driver: Path, text: str) -> int:
    (result,) = run(driver, [Case(payload_of(text))])
    return result.load


@pytest.mark.parametrize("text", [GUIDE, EVERYTHING])
def test_what_texts_compute_and_take(driver: Path, text: str) -> None:
    wanted = expected(text)
    assert wanted.load == 0
    assert len(wanted.calls) == len(parse(text))
    assert run(driver, [Case(payload_of(text), pool=wanted.used)]) == [wanted]


def test_random_graphs_are_numpys_to_the_bit(driver: Path) -> None:
    rng = random.Random(5)
    texts = [cases.random_text(rng) for _ in range(600)]
    wanted = [expected(text) for text in texts]
    assert all(result.load == 0 for result in wanted)
    assert run(driver, [Case(payload_of(t), pool=1 << 20) for t in texts]) == wanted
    reusing = [g for t in texts for g in parse(t) if sizes.workspace_bytes(g) < _all_values(g)]
    assert len(reusing) > 300


def _all_values(subgraph: cases.Subgraph) -> int:
    return sum(node.nbytes for node in subgraph.operators if node.id not in subgraph.outputs)


def test_a_byte_less_is_no_memory(driver: Path) -> None:
    rng = random.Random(6)
    texts = [GUIDE, EVERYTHING, *(cases.random_text(rng) for _ in range(50))]
    for text in texts:
        wanted = expected(text)
        small, short = Case(payload_of(text), wanted.used - 1), Case(payload_of(text), 1 << 20, 1)
        refused, ran = run(driver, [small, short])
        assert refused.load == NO_MEMORY
        for call, right in zip(ran.calls, wanted.calls, strict=True):
            assert call.code == (NO_MEMORY if right.workspace else 0)


def test_every_pool_that_is_too_small_is_refused(driver: Path) -> None:
    used = expected(EVERYTHING).used
    results = run(driver, [Case(payload_of(EVERYTHING), pool) for pool in range(used)])
    assert {result.load for result in results} == {NO_MEMORY}


def test_every_beginning_is_as_python_has_it(driver: Path) -> None:
    texts = [text[:end] for text in (GUIDE, EVERYTHING) for end in range(len(text))]
    check(driver, [Case(payload_of(text)) for text in texts])
    cut = [Case(payload_of(GUIDE)[:end]) for end in range(8 + len(GUIDE))]
    assert {result.load for result in run(driver, cut)} == {MALFORMED}


HEAD = "subgraph_0\n  input 0 2\n  input 1 2\n"


@pytest.mark.parametrize(
    "text",
    [
        "input 0 2\n",
        "subgraph_0 f\n",
        "subgraph_0\n",
        "subgraph_0\n  input 0 2\n",  # it returns nothing
        HEAD + "  input 1 2\n",
        HEAD + "  add\n",
        HEAD + "  add 2\n",
        HEAD + "  add 2 inputs: 0\n",
        HEAD + "  add 2 inputs: 0 1\n",
        HEAD + "  add 2 inputs: 0 1 shape:\n",
        HEAD + "  add 2 inputs: 0 1 shape: 2 1\n",
        HEAD + "  add 2 inputs: 0 1 shape: 3\n",
        HEAD + "  add 2 inputs: 0 1 shape: 2 x\n",
        HEAD + "  add 2 inputs: 0 2 shape: 2\n",  # it reads itself
        HEAD + "  add 2 inputs: 0 7 shape: 2\n",
        HEAD + "  add 2 inputs: 0 1 1 shape: 2\n",
        HEAD + "  add 2 inputs 0 1 shape: 2\n",
        HEAD + "  add 1 inputs: 0 1 shape: 2\n",
        HEAD + "  add 2 inputs: 0 1 shape: 2\nsubgraph_1: f\n",
        HEAD + "  add 2 inputs: 0 1 shape: 2\nsubgraph_0:\n",
        HEAD + "  add 2 inputs: 0 1 shape: 2\nsubgraph_0: f outputs:\n",
        HEAD + "  add 2 inputs: 0 1 shape: 2\nsubgraph_0: f outputs: 3\n",
        HEAD + "  add 2 inputs: 0 1 shape: 2\nsubgraph_0: f 2\n",
        HEAD + "  add 2 inputs: 0 1 shape: 2\nsubgraph_0: f\n  input 3 2\n",
        GUIDE + GUIDE,
        GUIDE + GUIDE.replace("subgraph_0", "subgraph_1") + "subgraph_1: subgraph_0\n",
        "subgraph_0\n  input 0 2\n  input 1 3\n  add 2 inputs: 0 1 shape: 2\n",
        "subgraph_0\n  input 0 2\n  input 1 3\n  add 2 inputs: 1 0 shape: 2\n",
    ],
)
def test_malformed_texts(driver: Path, text: str) -> None:
    assert load(driver, text) == expected(text).load == MALFORMED


def _of_shape(shape: str) -> str:
    return f"subgraph_0\n  input 0 {shape}\n  add 1 inputs: 0 0 shape: {shape}\n"


@pytest.mark.parametrize(
    "shape",
    [
        *("", "1 1 1 1 1 1 1", "0", "2 0 3", "-1", "2.0", "2,", "x", "9" * 5000),
        # too many bytes
        *("536870912", "65536 65536", "46341 46341", "2147483647 2", "32768 32768 1"),
        *("4294967297", "18446744073709551617", "65536 65536 65536 65536", "2 2147483648"),
    ],
)
def test_shapes_that_are_none(driver: Path, shape: str) -> None:
    assert load(driver, _of_shape(shape)) == expected(_of_shape(shape)).load == MALFORMED


@pytest.mark.parametrize("shape", ["1", "1 1 1 1 1 2", "007", "536870911", "23170 23170"])
def test_shapes_that_are_taken(driver: Path, shape: str) -> None:
    assert load(driver, _of_shape(shape)) == expected(_of_shape(shape)).load == 0


@pytest.mark.parametrize("op", ["div", "multiply", "ad", "addd", "add\\", "input:", "\x00"])
def test_unknown_operators(driver: Path, op: str) -> None:
    text = HEAD + f"  {op} 2 inputs: 0 1 shape: 2\n"
    assert load(driver, text) == expected(text).load == UNSUPPORTED


def test_a_workspace_that_no_target_has(driver: Path) -> None:
    lines = [f"  mul {k} inputs: 0 0 shape: 536870911\n" for k in range(1, 4)]
    text = "subgraph_0\n  input 0 536870911\n" + "".join(lines)
    unread = text.replace("mul 2 inputs: 0 0", "mul 2 inputs: 1 0")
    read = unread.replace("mul 3 inputs: 0 0", "mul 3 inputs: 1 2")
    assert [load(driver, each) for each in (text, unread, read)] == [0, 0, NO_MEMORY]
    assert [expected(each).load for each in (text, unread, read)] == [0, 0, NO_MEMORY]


def check(driver: Path, damaged: Sequence[Case], seconds: int = 120) -> list[Result]:
    """The results of all cases, which equal Python's."""
    results = run(driver, damaged, seconds)
    for case, result in zip(damaged, results, strict=True):
        text = cases.text_of(case.payload)
        wanted = Result(MALFORMED, 0) if text is None else expected(text)
        if result.load == NO_MEMORY:
            assert wanted.load in (MALFORMED, UNSUPPORTED, NO_MEMORY) or wanted.used > case.pool
            continue
        assert result.load == wanted.load, case
        if result.load == 0:
            calls = tuple(_withheld(call, case.withheld) for call in wanted.calls)
            found = tuple(replace(c, crc=0) if c.code else c for c in result.calls)
            assert replace(result, calls=found) == replace(wanted, calls=calls), case
    return results


def _withheld(call: cases.Call, nbytes: int) -> cases.Call:
    if nbytes == 0 or call.workspace == 0:
        return call
    return cases.Call(NO_MEMORY, call.workspace, 0)


def test_mutations_are_run_or_refused_as_python_has_it(driver: Path) -> None:
    results = check(driver, list(cases.mutations(1, 4_000)))
    loads = Counter(result.load for result in results)
    calls = Counter(call.code for result in results for call in result.calls)
    # The mutations reach every refusal, and do not only break the syntax.
    assert loads.keys() == {0, MALFORMED, UNSUPPORTED, NO_MEMORY}
    assert calls.keys() == {0, NO_MEMORY}
    assert min(loads.values()) > 40
    assert calls[0] > 600


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 12))
def test_many_mutations_are_run_or_refused_as_python_has_it(driver: Path, seed: int) -> None:
    check(driver, list(cases.mutations(seed, 20_000)))


ALL = """\
subgraph_1
  input 0 2 3
  input 1 2 3
  mul 2 inputs: 0 1 shape: 2 3
subgraph_1: all outputs: 2 0 2
"""


def test_the_interface(tmp_path: Path) -> None:
    binary = cases.compiled(tmp_path, "examplejson_api.c")
    made = Module("examplejson", payload_of(GUIDE + ALL))
    stdin = blob.dumps(Module(LIBRARY, None, (made,)))
    done = subprocess.run([binary], input=stdin, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"ok\n", b"")


@NEEDS_ARM
def test_structures_have_the_bytes_that_the_plan_counts(tmp_path: Path) -> None:
    for compiler, pointer in ((host_cc(), 8), ("arm-none-eabi-gcc", 4)):
        functions, nodes, outputs = (
            sizes._block(fields, pointer)
            for fields in (sizes._FUNCTION, sizes._NODE, sizes._OUTPUT)
        )
        source = tmp_path / f"sizes{pointer}.c"
        source.write_text(
            '#include "examplejson/examplejson_graph.h"\n#include "modules/module_pool.h"\n'
            + "".join(
                f"typedef char same_{kind}[MG_POOL_ALIGNED(sizeof(mg_examplejson_{kind})) == {n}"
                " ? 1 : -1];\n"
                for kind, n in (("function", functions), ("node", nodes), ("output", outputs))
            )
        )
        includes = [f"-I{CRT / 'include'}", f"-I{CRT / 'src'}"]
        command = [compiler, *WARNINGS, *includes, "-c", str(source), "-o", str(tmp_path / "o")]
        subprocess.run(command, check=True)


@NEEDS_ARM
def test_the_runtime_is_small(tmp_path: Path) -> None:
    """docs/reference/examplejson.md states its size."""
    size = "arm-none-eabi-size"
    total = 0
    sources = [*(CRT / "src" / "examplejson").glob("*.c")]
    assert len(sources) == 4
    for source in sources:
        made = tmp_path / f"{source.stem}.o"
        includes = [f"-I{CRT / 'include'}", f"-I{CRT / 'src'}"]
        flags = ["-mcpu=cortex-m4", "-mthumb", "-Os", "-std=c99"]
        command = ["arm-none-eabi-gcc", *flags, *includes, "-c", str(source), "-o", str(made)]
        subprocess.run(command, check=True)
        lines = subprocess.run([size, made], capture_output=True, text=True, check=True).stdout
        total += int(lines.splitlines()[1].split()[0])
    assert total <= 3000, total
