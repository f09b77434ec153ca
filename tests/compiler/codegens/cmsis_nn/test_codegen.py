"""Which nodes the codegen takes, which of CMSIS-NN's files it uses, and its error without them."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from microgen.base.errors import MicrogenError, UnsupportedError
from microgen.compiler import codegens
from microgen.compiler.codegens.cmsis_nn import CODEGEN, calls, choice, numbers, tree
from microgen.compiler.codegens.cmsis_nn.function import compiled
from microgen.compiler.codegens.cmsis_nn.tree import LibraryForm
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import DType
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs
from microgen.graph.ops.dense.dense import DenseAttrs
from microgen.graph.ops.elementwise.addition import AdditionAttrs
from microgen.graph.ops.elementwise.product import MultiplyAttrs
from microgen.graph.ops.pooling.pooling import MaxPool2DAttrs
from microgen.graph.ops.reductions.softmax import SoftmaxAttrs
from microgen.graph.ops.unary.activations import ClipAttrs
from microgen.target import board as boards
from tests.compiler.codegens.cmsis_nn import cases, harness, networks
from tests.kernels.conformance import conformance as c

BOARD = boards.load("mps2_an386")
NONE = Activation.NONE
RNG = np.random.default_rng(0)


def _refusal(case: c.Case) -> str:
    return CODEGEN.refusal(case.node, case.graph, BOARD) or ""


def _dense(rounding: Rounding, bias: int = 0, scale: float = 1.0) -> c.Case:
    x = c.int8(RNG, (1, 4), c.quant(1, 3))
    weight = (c.weight(RNG, (2, 4), None, 1.0), c.bias(np.full(2, bias)))
    attrs = DenseAttrs(NONE, rounding, keep_num_dims=False)
    return c.Case("dense", "nn.dense", attrs, (x, *weight), c.quant(scale, 0))


def _conv2d(data: tuple[int, int, int, int], kernel: tuple[int, int]) -> c.Case:
    x, w = c.int8(RNG, data, c.quant(1, 0)), c.weight(RNG, (1, *kernel, data[3]), None, 1e-3)
    attrs = Conv2DAttrs((1, 1), (1, 1), "SAME", NONE, Rounding.DOUBLE)
    return c.Case("conv2d", "nn.conv2d", attrs, (x, w), c.quant(10, 0))


def test_it_is_registered() -> None:
    assert codegens.registry()["cmsis-nn"] is CODEGEN


def test_a_dense_layer_is_taken_as_the_profile_rounds_it() -> None:
    assert not _refusal(_dense(Rounding.DOUBLE))
    assert re.search(
        "rounded once, but CMSIS-NN rounds them twice", _refusal(_dense(Rounding.SINGLE))
    )


def _operands(lhs: tuple[int, ...], rhs: tuple[int, ...]) -> tuple[c.Tensor, c.Tensor]:
    return c.int8(RNG, lhs, c.quant(1, 0)), c.int8(RNG, rhs, c.quant(1, 0))


def _computed_weights() -> c.Case:
    case = _dense(Rounding.DOUBLE)
    data, weight, bias = case.inputs
    return replace(case, inputs=(data, replace(weight, is_constant=False), bias))


REFUSED = {
    "another op": (
        c.Case("", "clip", ClipAttrs(Activation.RELU), _operands((2,), ())[:1], c.quant(1, 0)),
        "cmsis-nn has no clip",
    ),
    "int16": (
        c.Case(
            *("", "add", AdditionAttrs(NONE)),
            (c.int16(RNG, (2,)), c.int16(RNG, (2,))),
            c.quant(2.0),
            DType.INT16,
        ),
        "is int16, the kernel computes int8",
    ),
    "float32": (
        c.Case("", "nn.softmax", SoftmaxAttrs(1.0), (c.float32(RNG, (2,)),), None, DType.FLOAT32),
        "is float32",
    ),
    "broadcast": (
        c.Case("", "add", AdditionAttrs(NONE), _operands((2, 3), (3,)), c.quant(2.0)),
        r"int8\[2,3\] and int8\[3\] are broadcast",
    ),
    "products shifted left": (
        c.Case("", "multiply", MultiplyAttrs(NONE), _operands((2,), (2,)), c.quant(2.0**-16)),
        "products are shifted left by 17",
    ),
    "sums shifted left": (
        _dense(Rounding.DOUBLE, bias=2**20, scale=2.0**-12),
        r"sums shifted left may reach \d+",
    ),
    "rounded as Relay": (_dense(Rounding.UPWARD), "rounded 'upward'"),
    "computed weights": (_computed_weights(), "'input1' is computed at run time"),
    "softmax of a great scale": (
        c.Case(
            *("", "nn.softmax", SoftmaxAttrs(1.0), (c.int8(RNG, (2,), c.quant(2.0**7, 0)),)),
            c.quant(1 / 256, -128),
        ),
        "shifted left by 31",
    ),
    "a large size": (_conv2d((1, 1, 2**15, 1), (1, 1)), "a size is 32768"),
    "a large kernel": (_conv2d((1, 17, 17, 250), (17, 17)), "72250 products are summed"),
    "a large pool": (
        c.Case(
            *("", "nn.max_pool2d", MaxPool2DAttrs((2**15, 1), (1, 1), "SAME", NONE)),
            (c.int8(RNG, (1, 2, 2, 1), c.quant(1)),),
            c.quant(1),
        ),
        "a size is 32769",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals_say_why(name: str) -> None:
    case, why = REFUSED[name]
    assert re.search(why, _refusal(case))


def test_operands_that_differ_in_ones_only_are_taken() -> None:
    operands = _operands((1, 2, 3), (2, 3))
    case = c.Case("", "add", AdditionAttrs(NONE), operands, c.quant(2.0))
    assert not _refusal(case)


def test_general_functions_stand_in_where_wrappers_are_wrong() -> None:
    found = {form: set[str]() for form in LibraryForm}
    for case in cases.all_cases(range(60)):
        choose = {"nn.conv2d": choice.convolution, "nn.depthwise_conv2d": choice.depthwise}
        if case.op in choose:
            of = numbers.of(case.node, case.graph)
            for form, names in found.items():
                names.add(choose[case.op](form, of).function)
    ordinary = {"arm_convolve_wrapper_s8", "arm_convolve_s8"}
    every = {*ordinary, "arm_depthwise_conv_wrapper_s8", "arm_depthwise_conv_s8"}
    assert found == dict.fromkeys(LibraryForm, every)


@harness.NEEDS_TREE
@pytest.mark.parametrize("board", ["native", "mps2_an386", "mps3_an547"])
def test_buffers_inside_a_function_share_its_scratch(board: str, tmp_path: Path) -> None:
    examples = [networks.residual(seed) for seed in range(3)]
    source = harness.compiled(examples, boards.load(board))
    graph, form = examples[0].graph, LibraryForm.of(boards.load(board).cpu)
    tensors = sum(graph.types[node.outputs[0]].nbytes for node in graph.nodes[:-1])
    contexts = sum(calls.of(node, graph, form).scratch for node in graph.nodes)
    assert tensors / 3 < source.functions[0].scratch < tensors + contexts
    harness.check(examples, board, tmp_path)


@pytest.mark.parametrize("form", LibraryForm)
@pytest.mark.parametrize("seed", range(3))
def test_it_says_which_results_remain_in_scratch(form: LibraryForm, seed: int) -> None:
    """The owner of each byte of scratch, after all of the function's writes in order."""
    (of,) = harness.functions([networks.residual(seed)])
    made = compiled(of, form)
    blocks = made.code.split("\n    {\n")[1:]
    owner = np.full(made.function.scratch, -1)
    overwritten: dict[int, int] = {}
    for i, (node, block) in enumerate(zip(of.graph.nodes, blocks, strict=True)):
        buffer = re.search(r"\.buf = &scratch\[(\d+)\], \.size = (\d+)", block)
        spans = [(-1, int(buffer[1]), int(buffer[2]))] if buffer else []
        if node.outputs[0] in made.function.places:
            offset = made.function.places[node.outputs[0]].offset
            assert f"(int8_t *)&scratch[{offset}]" in block
            spans.append((i, offset, of.graph.types[node.outputs[0]].nbytes))
        for writer, offset, nbytes in spans:
            for victim in {*owner[offset : offset + nbytes].tolist()} - {-1}:
                overwritten.setdefault(victim, i)
            owner[offset : offset + nbytes] = writer
    inner = [i for i, node in enumerate(of.graph.nodes) if node.outputs[0] not in of.graph.outputs]
    names = [node.origin.layer for node in of.graph.nodes]
    assert overwritten.keys() & {*inner}
    assert {of.graph.nodes[i].outputs[0] for i in inner} == made.function.places.keys()
    for i in inner:
        by = made.function.places[of.graph.nodes[i].outputs[0]].overwritten_by
        assert by == (names[overwritten[i]] if i in overwritten else "")


def test_a_function_with_a_refused_node_is_not_compiled() -> None:
    (function,) = harness.functions([harness.Example.of(_dense(Rounding.SINGLE))])
    with pytest.raises(UnsupportedError, match=r"dense.*rounded once"):
        CODEGEN.compile([function], BOARD)


# The tree


def test_without_a_tree_the_error_says_how_to_name_one(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("CMSIS_NN_PATH", "ZEPHYR_BASE"):
        monkeypatch.delenv(variable, raising=False)
    functions = harness.functions([harness.Example.of(_dense(Rounding.DOUBLE))])
    with pytest.raises(MicrogenError) as error:
        CODEGEN.compile(functions, BOARD)
    assert error.value.exit_code == 2
    assert str(error.value) == (
        "cmsis-nn: no source tree of CMSIS-NN is named; say where it is with --codegen-option "
        "cmsis-nn.path=DIR or the environment variable CMSIS_NN_PATH"
    )


def test_unknown_options_are_refused() -> None:
    with pytest.raises(MicrogenError, match=r"no option 'paths'.*it has path"):
        CODEGEN.configured({"paths": "x"})


def _fake_tree(root: Path, revision: str = "18.0.0") -> Path:
    files = {
        "LICENSE": "free",
        "Include/arm_nnfunctions.h": f'/* $Revision: V.{revision} */\n#include "arm_types.h"\n',
        "Include/arm_types.h": "#include <stdint.h>\n",
        "Include/other.h": "",
        "Source/A/a.c": '#include "arm_nnfunctions.h"\n'
        "/* arm_other( */\nstatic int arm_b(void)\n{\n}\nint arm_a(int x,\n int y)\n"
        "{\n    return arm_c(x);\n}\n",
        "Source/B/c.c": "int arm_c(int x);\nint *arm_c(int x)\n{\n    return arm_a(1, 2);\n}\n",
        "Source/B/other.c": "int arm_other(void)\n{\n}\n",
    }
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_what_is_called_and_included_is_taken(tmp_path: Path) -> None:
    found = tree.find(str(_fake_tree(tmp_path)))
    assert [*found.files(["arm_a"])] == [
        *("Include/arm_nnfunctions.h", "Include/arm_types.h", "LICENSE"),
        *("Source/A/a.c", "Source/B/c.c"),
    ]


@pytest.mark.parametrize(
    ("missing", "why"),
    [
        ("LICENSE", "cannot read LICENSE"),
        ("Include/arm_types.h", "cannot read Include/arm_types.h"),
        ("Include/arm_nnfunctions.h", "cannot read Include/arm_nnfunctions.h"),
        ("Source/A/a.c", "no source defines arm_a"),
    ],
)
def test_an_incomplete_tree_is_refused(missing: str, why: str, tmp_path: Path) -> None:
    root = _fake_tree(tmp_path)
    (root / missing).unlink()
    with pytest.raises(MicrogenError, match=f"{why}.*cmsis-nn.path=DIR"):
        tree.find(str(root)).files(["arm_a"])


@pytest.mark.parametrize("revision", ["11.3.0", "18.0.1"])
def test_another_version_is_refused(revision: str, tmp_path: Path) -> None:
    with pytest.raises(MicrogenError, match=rf"revision {revision}; 18.0.0 \(CMSIS-NN 7.0.0\)"):
        tree.find(str(_fake_tree(tmp_path, revision)))


def test_the_option_goes_before_the_environment_and_zephyr(tmp_path: Path) -> None:
    roots = {name: _fake_tree(tmp_path / name) for name in ("a", "b")}
    module = _fake_tree(tmp_path / "modules" / "lib" / "cmsis-nn")
    (tmp_path / "zephyr").mkdir()
    variables = {"CMSIS_NN_PATH": str(roots["b"]), "ZEPHYR_BASE": str(tmp_path / "zephyr")}
    assert tree.find(str(roots["a"]), variables).root == roots["a"]
    assert tree.find(None, variables).root == roots["b"]
    del variables["CMSIS_NN_PATH"]
    assert tree.find(None, variables).root.resolve() == module
    shutil.rmtree(module)
    with pytest.raises(MicrogenError, match="no source tree"):
        tree.find(None, variables)


@harness.NEEDS_TREE
def test_sources_are_those_that_the_functions_call(tmp_path: Path) -> None:
    examples = harness.accepted([_dense(Rounding.DOUBLE)], BOARD)
    source = harness.compiled(examples, BOARD)
    sources = [name for name in source.files if name.endswith(".c")]
    assert [Path(name).name for name in sources] == [
        "arm_fully_connected_s8.c",
        "arm_nn_vec_mat_mult_t_s8.c",
    ]
    assert source.files["LICENSE"] == Path(harness.TREE, "LICENSE").read_bytes()
    again = harness.compiled(examples, BOARD)
    assert (source.code, source.files) == (again.code, again.files)
