"""The C graph executor on graphs in TVM's format, compared with numpy and run under sanitizers."""

from __future__ import annotations

import copy
import itertools
import json
import random
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from microgen.graph import params_file
from microgen.graph.ir.graph import Array
from tests.crt.executor.executor_graphs import (
    CRT,
    EXECUTOR_SOURCES,
    SOURCES,
    Case,
    Entry,
    Json,
    Result,
    case,
    compiled,
    everything,
    graph,
    run,
    seed_demo,
)
from tests.kernels.conformance.conformance import WARNINGS, host_cc
from tests.support.each_compiled import each_compiled
from tests.support.tools import skip_without

MALFORMED, UNSUPPORTED, BAD_PARAMS, NOT_SET = 0x780, 0x781, 0x782, 0x783
NO_FUNCTION, NO_MEMORY, BAD_STORAGE, NO_INPUT = 0x100, 0x503, 0x600, 0x702
WRONG_TYPE, INVALID = 0x801, 0x803


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("driver"), "graph_executor_driver.c")


def run_one(driver: Path, case: Case) -> Result:
    (result,) = run(driver, [case])
    return result


def floats(data: bytes) -> Array:
    return np.frombuffer(data, np.float32)


def filled(number: int, count: int) -> Array:
    """The values with which the driver fills input ``number``."""
    return np.arange(number, number + count, dtype=np.float32)


def conv2d_bias_relu(x: Array, w: Array, b: Array) -> Array:
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1))).astype(np.float64)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    result = np.einsum("nihwkl,oikl->nohw", windows, w.astype(np.float64))
    return np.maximum(result + b[:, None, None], 0)


# What graphs compute


def test_the_seed_documents_graph_equals_numpy(driver: Path) -> None:
    rng = np.random.default_rng(1)
    x, w = (rng.standard_normal(s, np.float32) for s in ((1, 32, 56, 56), (32, 32, 3, 3)))
    b = rng.standard_normal(32, np.float32)
    result = run_one(
        driver, case(seed_demo(), params_file.dumps({"d1": x, "w1": w, "b1": b}), 1 << 22)
    )
    assert result.codes == (0, 0, 0)
    expected = conv2d_bias_relu(x, w, b).ravel()
    np.testing.assert_allclose(
        floats(result.outputs[0]), expected, atol=1e-5 * np.ptp(expected).item()
    )


def test_tuples_reshapes_copies_and_used_storage(driver: Path) -> None:
    p0 = np.arange(8, dtype=np.float32).reshape(1, 8) * 10
    result = run_one(driver, case(everything(), params_file.dumps({"p0": p0})))
    x = filled(0, 8)
    sums = x + p0[0]
    expected = [sums[:4] + sums[4:], sums[4:], x, x, x]
    assert result.codes == (0, 0, 0)
    for found, wanted in zip(result.outputs, expected, strict=True):
        np.testing.assert_array_equal(floats(found), wanted)


def test_keys_may_stand_in_any_order(driver: Path) -> None:
    tree = everything()
    expected = run_one(driver, case(tree))
    orders = itertools.permutations(tree)
    results = run(driver, [case({key: tree[key] for key in order}) for order in orders])
    assert results == [expected] * 120
    rng = random.Random(1)
    for node in tree["nodes"]:
        keys = list(node)
        rng.shuffle(keys)
        values = dict(node)
        node.clear()
        node.update({key: values[key] for key in keys})
    assert run_one(driver, case(tree)) == expected


def _sized(*sizes: int) -> Json:
    """A chain of operators whose results have these sizes and share one storage."""
    nodes = [("x", "", (), [Entry((1,), "int8", 0)])]
    for i, size in enumerate(sizes):
        nodes.append((f"n{i}", "sum_bytes", [(i, 0)], [Entry((size,), "int8", 1)]))
    return graph(nodes, [(len(sizes), 0)])


@pytest.mark.parametrize("sizes", [(100, 5000, 7), (5000, 1, 1), (1, 1, 5000)])
def test_a_storage_is_as_large_as_its_largest_entry(driver: Path, sizes: tuple[int, ...]) -> None:
    used = run_one(driver, case(_sized(*sizes))).used
    one = run_one(driver, case(_sized(1, 1, 1))).used
    assert used - one == 5008 - 16  # sizes are rounded up to multiples of 16
    assert run_one(driver, case(_sized(*sizes), pool=used)).codes == (0, 0, 0)
    # The input's 16 bytes are allocated last.
    assert run_one(driver, case(_sized(*sizes), pool=used - 16)).codes == (0, 0, NO_MEMORY)
    assert run_one(driver, case(_sized(*sizes), pool=used - 17)).codes == (NO_MEMORY, 0, 0)


def test_many_arguments_are_no_limit(driver: Path) -> None:
    count = 200
    nodes = [(f"x{i}", "", (), [Entry((1,), "int8", i)]) for i in range(count)]
    references = [(i, 0) for i in range(count)]
    nodes.append(("all", "sum_bytes", references, [Entry((1,), "int8", count)]))
    result = run_one(driver, case(graph(nodes, [(count, 0)]), pool=1 << 17))
    assert result.codes == (0, 0, 0)


@pytest.mark.parametrize(
    ("dtype", "nbytes"),
    [
        *(("bool", 1), ("uint1", 1), ("int8", 1), ("uint8", 1), ("int16", 2), ("uint16", 2)),
        *(("int32", 4), ("uint32", 4), ("int64", 8), ("uint64", 8)),
        *(("float16", 2), ("float32", 4), ("float64", 8)),
    ],
)
def test_dtypes(driver: Path, dtype: str, nbytes: int) -> None:
    tree = graph(
        [
            ("x", "", [], [Entry((3, 5), dtype, 0)]),
            ("y", "sum_bytes", [(0, 0)], [Entry((2, 2), dtype, 1)]),
        ],
        [(1, 0)],
    )
    result = run_one(driver, case(tree))
    assert result.codes == (0, 0, 0)
    assert len(result.outputs[0]) == 4 * nbytes


def test_what_has_no_meaning_here_is_skipped(driver: Path) -> None:
    tree = everything()
    expected = run_one(driver, case(tree))
    tree["metadata"] = {"signature": [{"deep": [[None, True, -1.5e3]]}]}
    tree["attrs"]["other"] = ["list_int", [1, 2]]
    tree["attrs"]["another"] = ["size_t", 5]
    tree["attrs"]["device_index"] = ["list_int", [1] * 8]
    tree["nodes"][2]["attrs"].update({"layout": "", "T_layout": "NHWC"})
    assert run_one(driver, case(tree)) == expected


@pytest.mark.parametrize("name", ["é", "\U0001f600 x", 'a"b\\c/d\b\f\n\r\t', "ÿ߿ࠀ￿\U00010000"])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_names_may_have_any_character(driver: Path, name: str, ascii_only: bool) -> None:
    tree = everything()
    tree["nodes"][1]["name"] = name
    text = json.dumps(tree, ensure_ascii=ascii_only).encode()
    params = params_file.dumps({name: np.ones((1, 8), np.float32)})
    result = run_one(driver, Case(text, params))
    assert result.codes == (0, 0, 0)
    np.testing.assert_array_equal(floats(result.outputs[1]), filled(0, 8)[4:] + 1)


# Parameters used in place, or copied


def test_parameters_are_read_in_place_where_their_data_is_aligned(driver: Path) -> None:
    tree = everything()
    used = {}
    # The data begins after the start of the file by 88 bytes and the name's length.
    for length in range(8, 16):
        name = "p" * length
        tree["nodes"][1]["name"] = name
        blob = params_file.dumps({name: np.zeros((1, 8), np.float32)})
        result = run_one(driver, case(tree, blob))
        assert result.codes == (0, 0, 0)
        used[length % 4] = result.used
    assert used[0] + 32 == used[1] == used[2] == used[3]


def test_a_copied_parameter_needs_memory(driver: Path) -> None:
    params = params_file.dumps({"p0": np.zeros((1, 8), np.float32)})
    used = run_one(driver, case(everything(), params)).used  # 32 bytes for x, 32 for p0
    result = run_one(driver, case(everything(), params, used - 33))
    assert result.codes == (0, NO_MEMORY, 0)


@pytest.mark.parametrize(
    ("array", "code"),
    [
        (np.zeros((1, 8), np.int32), WRONG_TYPE),
        (np.zeros((8, 1), np.float32), INVALID),
        (np.zeros((8,), np.float32), INVALID),
        (np.zeros((1, 9), np.float32), INVALID),
    ],
)
def test_a_parameter_must_have_its_inputs_type(driver: Path, array: Array, code: int) -> None:
    assert run_one(driver, case(everything(), params_file.dumps({"p0": array}))).load == code


def test_a_parameter_without_an_input_is_refused(driver: Path) -> None:
    params = params_file.dumps({"p1": np.zeros((1, 8), np.float32)})
    assert run_one(driver, case(everything(), params)).load == NO_INPUT


def test_a_file_that_goes_on_is_refused(driver: Path) -> None:
    params = params_file.dumps({"p0": np.zeros((1, 8), np.float32)})
    assert run_one(driver, case(everything(), params + b"\0")).load == BAD_PARAMS


# Refusals


def _set(*path: str | int, to: object) -> Callable[[Json], None]:
    def change(tree: Json) -> None:
        holder: Json = tree
        for key in path[:-1]:
            holder = holder[key]  # type: ignore[index]
        holder[path[-1]] = to  # type: ignore[index]

    return change


REFUSED = {
    "forward reference": (_set("nodes", 2, "inputs", 0, to=[4, 0, 0]), MALFORMED),
    "reference to itself": (_set("nodes", 2, "inputs", 0, to=[2, 0, 0]), MALFORMED),
    "no such output": (_set("nodes", 4, "inputs", 1, to=[3, 2, 0]), MALFORMED),
    "four numbers": (_set("heads", 0, to=[4, 0, 0, 0]), MALFORMED),
    "no such head": (_set("heads", 0, to=[7, 0, 0]), MALFORMED),
    "input that is an operator": (_set("arg_nodes", 1, to=2), MALFORMED),
    "input that is not there": (_set("arg_nodes", 1, to=7), MALFORMED),
    "rows that do not fit": (_set("node_row_ptr", to=[0, 1, 2, 3, 4, 6, 7, 8]), MALFORMED),
    "too few rows": (_set("node_row_ptr", to=[0, 1, 2, 3, 5, 6, 7]), MALFORMED),
    "last row": (_set("node_row_ptr", 7, to=9), MALFORMED),
    "too few shapes": (_set("attrs", "shape", 1, to=[[1]] * 7), MALFORMED),
    "too many dtypes": (_set("attrs", "dltype", 1, to=["int8"] * 9), MALFORMED),
    "negative dimension": (_set("attrs", "shape", 1, 0, to=[-1, 8]), MALFORMED),
    "large dimension": (_set("attrs", "shape", 1, 0, to=[2**32]), MALFORMED),
    "large shape": (_set("attrs", "shape", 1, 0, to=[2**16, 2**16]), UNSUPPORTED),
    "larger shape": (_set("attrs", "shape", 1, 0, to=[2**30] * 40), UNSUPPORTED),
    "wrong list": (_set("attrs", "shape", 0, to="list_int"), MALFORMED),
    "dtype": (_set("attrs", "dltype", 1, 0, to="float8"), UNSUPPORTED),
    "lanes": (_set("attrs", "dltype", 1, 0, to="float32x4"), UNSUPPORTED),
    "storage scope": (_set("attrs", "storage_scope", to=["list_str", []]), UNSUPPORTED),
    "storage id": (_set("attrs", "storage_id", 1, 7, to=8), BAD_STORAGE),
    "storage of two inputs": (_set("attrs", "storage_id", 1, 1, to=0), BAD_STORAGE),
    "reshape elsewhere": (_set("attrs", "storage_id", 1, 6, to=6), BAD_STORAGE),
    "copy in place": (_set("attrs", "storage_id", 1, 7, to=0), BAD_STORAGE),
    "copy of another size": (_set("attrs", "shape", 1, 7, to=[7]), MALFORMED),
    "devices": (_set("attrs", "device_index", to=["list_int", [1]]), MALFORMED),
    "key": (_set("other", to=1), UNSUPPORTED),
    "node key": (_set("nodes", 2, "control_deps", to=[]), UNSUPPORTED),
    "operator": (_set("nodes", 2, "op", to="other_op"), UNSUPPORTED),
    "flatten_data": (_set("nodes", 2, "attrs", "flatten_data", to="1"), UNSUPPORTED),
    "number of inputs": (_set("nodes", 2, "attrs", "num_inputs", to="1"), MALFORMED),
    "number of outputs": (_set("nodes", 2, "attrs", "num_outputs", to="2"), MALFORMED),
    "outputs without end": (
        _set("nodes", 2, "attrs", "num_outputs", to="2147483647"),
        MALFORMED,
    ),
    "number with a sign": (_set("nodes", 2, "attrs", "num_outputs", to="+1"), MALFORMED),
    "function": (_set("nodes", 2, "attrs", "func_name", to="add_f3"), NO_FUNCTION),
    "longer function": (_set("nodes", 2, "attrs", "func_name", to="add_f32x"), NO_FUNCTION),
    "long function": (_set("nodes", 2, "attrs", "func_name", to="a" * 500), NO_FUNCTION),
    "no function": (_set("nodes", 2, "attrs", "func_name", to=""), MALFORMED),
    "attribute that is no text": (_set("nodes", 2, "attrs", "x", to=1), MALFORMED),
    "input with inputs": (_set("nodes", 1, "inputs", to=[[0, 0, 0]]), MALFORMED),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refusals(driver: Path, what: str) -> None:
    change, code = REFUSED[what]
    tree = copy.deepcopy(everything())
    change(tree)
    assert run_one(driver, case(tree)).create == code


@pytest.mark.parametrize("key", [*everything(), "name", "op", "inputs", "func_name", "dltype"])
def test_a_key_may_not_stand_twice_or_be_missing(driver: Path, key: str) -> None:
    text = json.dumps(everything())
    doubled = text.replace(f'"{key}": ', f'"{key}": 1, "{key}": ', 1)
    missing = text.replace(f'"{key}"', '"metadata"', 1)
    for changed in (doubled, missing):
        assert changed != text
        found = run_one(driver, Case(changed.encode())).create
        assert found in (MALFORMED, UNSUPPORTED)
    assert run_one(driver, Case(doubled.encode())).create == MALFORMED


@pytest.mark.parametrize(
    "text", ["", " ", "null", "[]", "{}", '{"nodes": []}', "[" * 100, '{"metadata": ' + "[" * 40]
)
def test_what_is_no_graph(driver: Path, text: str) -> None:
    assert run_one(driver, Case(text.encode())).create == MALFORMED


@pytest.mark.parametrize(
    "value",
    [
        *("01", "-", "1.", ".5", "1e", "tru", "nul", '"\\x"', '"\\u12g4"', "'a'", '"\n"', '"a'),
        *("[1,]", "[,1]", "[[1,],2]", "[1 2]", "1]", '{"a"}', '{"a":}', "{1:2}", '{"a":1,}'),
    ],
)
def test_what_is_no_json(driver: Path, value: str) -> None:
    text = json.dumps(everything()).encode()
    for place in (b'{"metadata": %s, ', b'{"metadata": [%s], ', b'{"metadata": {"x": %s}, '):
        changed = text.replace(b"{", place % value.encode(), 1)
        assert run_one(driver, Case(changed)).create == MALFORMED
    good = text.replace(b"{", b'{"metadata": [-0, 1.5E+3, "\\u12aF", [], {}, [{}, [[]]]], ', 1)
    assert run_one(driver, Case(good)).create == 0


def test_what_an_operator_returns_is_what_a_run_returns(driver: Path) -> None:
    tree = graph(
        [
            ("x", "", [], [Entry((1,), "int8", 0)]),
            ("y", "fails", [(0, 0)], [Entry((1,), "int8", 1)]),
        ],
        [(1, 0)],
    )
    assert run_one(driver, case(tree)).codes == (0, 0, -17)


def test_an_input_that_cannot_be_set_fails_the_run(driver: Path) -> None:
    tree = everything()
    tree["arg_nodes"] = [0]
    assert run_one(driver, case(tree)).codes == (0, 0, NOT_SET)


# The interfaces


@pytest.mark.parametrize("program", ["graph_executor_api.c", "packed_api.c", "tvm_program.c"])
def test_a_c_program(program: str, tmp_path: Path) -> None:
    binary = compiled(tmp_path, program)
    done = subprocess.run([binary], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, "ok\n"), done.stdout + done.stderr


@pytest.mark.sampled(1)
@pytest.mark.parametrize("spelling", ["LIFO", "FIFO"])
def test_the_stack_allocators_check(spelling: str, tmp_path: Path) -> None:
    option = f"-DTVM_CRT_STACK_ALLOCATOR_ENABLE_{spelling}_CHECK"
    binary = compiled(tmp_path, "packed_api.c", options=[option])
    done = subprocess.run([binary], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, "ok\n"), done.stdout + done.stderr


# How it compiles

TARGETS = {
    "host": [],
    "cortex-m0": ["-mthumb", "-mcpu=cortex-m0"],
    "cortex-m55": ["-mthumb", "-mcpu=cortex-m55", "-mfloat-abi=hard"],
    "riscv": ["-march=rv32imc", "-mabi=ilp32"],
}
LIBGCC = r"__aeabi_\w+|__gnu_thumb1_case_\w+|__\w+[ds]i3"
GIVEN = rf"mem(cpy|move|set)|TVMPlatformTimer(Start|Stop)|_GLOBAL_OFFSET_TABLE_|{LIBGCC}"


def _compiler(target: str) -> str:
    if target == "host":
        return host_cc()
    compiler = "riscv64-unknown-elf-gcc" if target == "riscv" else "arm-none-eabi-gcc"
    skip_without(compiler)
    return compiler


# Run in every run of the tests: firmware's own option for each target, and once none.
BUILDS = [
    *(pytest.param(target, "-Os") for target in TARGETS),
    *(
        pytest.param(target, "-O0", marks=() if target == "host" else pytest.mark.slow)
        for target in TARGETS
    ),
]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("target", "option"), BUILDS)
def test_it_compiles_without_a_warning_and_needs_nothing_else(
    target: str, option: str, tmp_path: Path
) -> None:
    compiler = _compiler(target)
    includes = [f"-I{CRT / 'include'}", f"-I{CRT / 'src'}"]
    if target == "riscv":  # Debian's compiler has no C library
        includes.append(f"-I{CRT / 'libc'}")
    command = (compiler, *TARGETS[target], *WARNINGS, option, *includes)
    objects = each_compiled(command, SOURCES, tmp_path)
    nm = compiler.removesuffix("gcc") + "nm" if target != "host" else "nm"
    listing = subprocess.run([nm, *objects], capture_output=True, text=True, check=True).stdout
    defined = set(re.findall(r" [A-TV-Z] (\w+)", listing))
    undefined = set(re.findall(r" U (\w+)", listing)) - defined
    assert not [name for name in undefined if not re.fullmatch(GIVEN, name)], undefined


def test_a_project_gets_what_the_executor_needs() -> None:
    names = {source.stem for source in EXECUTOR_SOURCES}
    assert names == {
        *("graph_executor", "graph_json", "graph_memory", "graph_params", "graph_tables"),
        *("json_keys", "json_reader", "json_text", "module_stream", "param_file", "module"),
        *("func_registry", "platform_memory", "stack_allocator"),
    }
