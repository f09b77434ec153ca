"""The sizes of buffers equal those that CMSIS-NN's own functions return, compiled for each form."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from microgen.compiler.codegens.cmsis_nn import choice, numbers, tree
from microgen.compiler.codegens.cmsis_nn.numbers import CmsisWindow
from microgen.compiler.codegens.cmsis_nn.tree import LibraryForm
from microgen.compiler.codegens.external import CSource
from microgen.target import board as boards
from microgen.target.cpu import CPUS, Cpu
from tests.compiler.codegens.cmsis_nn import cases, harness
from tests.kernels.conformance.conformance import Case
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA

FUNCTIONS = (
    *("arm_convolve_s8_get_buffer_size", "arm_convolve_wrapper_s8_get_buffer_size"),
    *("arm_depthwise_conv_wrapper_s8_get_buffer_size", "arm_fully_connected_s8_get_buffer_size"),
    "arm_avgpool_s8_get_buffer_size",
)
CODE = Path(__file__).with_name("buffer_sizes.c")


def _cases() -> list[Case]:
    """Random convolutions, without ordinary ones of several groups: the wrapper's size is wrong
    there."""
    ops = ("nn.conv2d", "nn.depthwise_conv2d")
    found = [case for case in cases.all_cases(range(100)) if case.op in ops]
    return [case for case in found if case.op == ops[1] or _window(case).groups == 1]


def _window(case: Case) -> CmsisWindow:
    return numbers.of(case.node, case.graph)


def _numbers(case: Case) -> tuple[int, ...]:
    w = _window(case)
    is_depthwise = int(case.op == "nn.depthwise_conv2d")
    pads = w.pads[:2]
    return (*w.data, *w.output, *w.kernel, *w.strides, *w.dilation, *pads, w.depth, is_depthwise)


def _expected(form: LibraryForm, case: Case) -> tuple[int, ...]:
    w = _window(case)
    is_depthwise = case.op == "nn.depthwise_conv2d"
    wrapper = choice.depthwise_wrapper if is_depthwise else choice.convolve_wrapper
    channels = w.output[3]
    dense, pool = choice.fully_connected(form, channels), choice.average_pool(form, channels)
    return choice.convolve(form, w), wrapper(form, w), dense, pool


@harness.NEEDS_TREE
@NEEDS_NINJA
@NEEDS_ARM
@pytest.mark.parametrize("name", ["mps2_an385", "mps2_an386", "mps2_an505", "mps3_an547"])
def test_sizes_equal_those_of_the_c_functions(name: str, tmp_path: Path) -> None:
    board, found = boards.load(name), _cases()
    files = tree.find(harness.TREE).files(FUNCTIONS)
    source = CSource(functions=(), code=CODE.read_text(), files=files, include_dirs=("Include",))
    calls = (
        "#include <stdint.h>\n"
        "void sizes(const int32_t *, const int32_t *, int32_t *);\n"
        "static void call_0(const void *p, void **a) { (void)p; sizes(a[0], a[1], a[2]); }\n"
        + harness.table("call_0")
    )
    numbers = np.array([_numbers(case) for case in found], np.int32)
    sizes = np.zeros((len(found), 4), np.int32)
    given = [np.array([len(found)], np.int32), numbers, sizes]
    record = harness.board_record(0, given, 2)
    answer = harness.run_on_board(source, calls, [record], board, tmp_path)
    sizes = np.frombuffer(answer[: sizes.nbytes], np.int32).reshape(sizes.shape)
    for case, row in zip(found, sizes, strict=True):
        assert _expected(LibraryForm.of(board.cpu), case) == tuple(row), (case.name, _window(case))


@NEEDS_ARM
@harness.NEEDS_TREE
@pytest.mark.parametrize(
    "cpu", [c for c in CPUS.values() if c.architecture == "arm" and not c.since]
)
def test_forms_are_what_the_headers_choose(cpu: Cpu) -> None:
    header = Path(harness.TREE, "Include", "arm_nn_math_types.h")
    command = ["arm-none-eabi-gcc", *cpu.cflags, "-dM", "-E", str(header)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    macros = {line.split()[1] for line in done.stdout.splitlines()}
    forms = (("ARM_MATH_MVEI", LibraryForm.MVE), ("ARM_MATH_DSP", LibraryForm.DSP))
    chosen = next((form for macro, form in forms if macro in macros), LibraryForm.PLAIN)
    assert LibraryForm.of(cpu) is chosen
