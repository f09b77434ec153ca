"""The stack bound, compared with the compiler's own frames, and on code that has none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from _pytest.mark import ParameterSet

from microgen.building.builder import disassemble
from microgen.verifier import VerifyReport, stack_bound, verify
from microgen.verifier.elf.elf import load
from microgen.verifier.instructions.disassembly import parse
from microgen.verifier.instructions.flow import code_of, frame
from tests.support.tools import NEEDS_ARM_GCC, NEEDS_LLVM

pytestmark = NEEDS_ARM_GCC

Make = Callable[..., Any]
UNDEFINED = ("undefined", ("0xea50800d",), False)
# In every run of the tests: the instructions of Armv6-M and of Armv8.1-M, which has all of Armv7-M.
CORTEX_M = [
    *("microbit", "mps3_an547"),
    *(pytest.param(f"mps2_an{n}", marks=pytest.mark.slow) for n in (385, 386, 500)),
]


@pytest.fixture(params=["gcc", pytest.param("llvm", marks=NEEDS_LLVM)])
def compiler(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def failed(project: Any, **options: Any) -> VerifyReport:
    report = verify(project.root, project_files=False, **options)
    assert [check.name for check in report.failed] == ["stack"]
    return report


def _levels(*levels: str) -> list[ParameterSet]:
    """Both boards with each level. In every run of the tests, each level is on one of them."""
    return [
        pytest.param(board, level, marks=[pytest.mark.slow] * ((i + k) % 2))
        for i, board in enumerate(("microbit", "mps3_an547"))
        for k, level in enumerate(levels)
    ]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("board", "level"), _levels("-O0", "-Os", "-O2", "-O3"))
def test_frames_are_those_that_the_compiler_reports(project: Make, board: str, level: str) -> None:
    built = project(board)
    built.flags = [level]
    built.add(
        "__attribute__((noinline)) static int32_t big(volatile int32_t* p, int64_t n)\n"
        "{ volatile int32_t a[600]; for (int i = 0; i < 600; i++) a[i] = *p;\n"
        "  return a[n % 600] + (int32_t)(n / (*p | 1)); }\n"
        "int32_t extra(int32_t n) { volatile int32_t x = n; return big(&x, n) + x; }"
    ).build()
    elf = load(built.elf)
    code = code_of(elf, built.board, parse(disassemble(built.elf, built.board)))
    frames = {s.stem: frame(code, elf.code_address(s)) for s in elf.functions()}
    reported = {}
    for path in (built.root / "build").glob("*.su"):
        for line in path.read_text().splitlines():
            place, nbytes, kind = line.split("\t")
            assert kind == "static"
            reported[place.split(":")[-1]] = int(nbytes)
    common = reported.keys() & frames.keys()
    assert {"big", "main", "tvmgen_default_fused_dense"} <= common
    assert {n: frames[n].depth for n in common} == {n: reported[n] for n in common}
    assert all(not f.problems for f in frames.values())


@pytest.mark.parametrize(
    ("text", "mnemonic", "operands", "is_conditional"),
    [
        ("  8:\tbdd0      \tpopne\t{r4, r6-r7, pc}", "pop", ("{r4, r6-r7, pc}",), True),
        (
            "  8:\tf852 3021 \tldrne.w\tr3, [r2, r1, lsl #2]",
            *("ldr", ("r3", "[r2, r1, lsl #2]"), True),
        ),
        ("  8:\tf84d 3d04 \tstr.w\tr3, [sp, #-4]!\t@ 0x4", "str", ("r3", "[sp, #-4]!"), False),
        ("  8:\td902      \tbls.n\t10 <f+0x8>", "bls", ("10 <f+0x8>",), False),
        ("  8:\tf000 f801 \tbl\tc <und>", "bl", ("c <und>",), False),
        ("  8:\tea50 800d \t\t\t@ <UNDEFINED> instruction: 0xea50800d", *UNDEFINED),
        ("  8:\tea50 800d \tcinc\t, r0, eq\t@ <UNPREDICTABLE>: ", *UNDEFINED),
        ("  8:\tea50 800d \tcset\tr0, <und>", *UNDEFINED),
        ("  8:\tea50 800d \tCINC r0", *UNDEFINED),
    ],
)
def test_instruction_text(
    text: str, mnemonic: str, operands: tuple[str, ...], is_conditional: bool
) -> None:
    before = "  6:\tbf18      \tit\tne\n" if is_conditional else ""
    instruction = parse(before + text)[8]
    assert (instruction.mnemonic, instruction.operands) == (mnemonic, operands)
    assert instruction.is_conditional == is_conditional


def test_instructions_under_one_condition_are_passed_over_together() -> None:
    text = (
        "  2:\tbf1a      \titte\tne\n  4:\tb002      \taddne\tsp, #8\n"
        "  6:\t6808      \tldrne\tr0, [r1]\n  8:\t4610      \tmoveq\tr0, r2\n"
    )
    found = [(i.condition, i.skip_to) for i in parse(text).values()]
    assert found == [("", 4), ("ne", 8), ("", 8), ("eq", 10)]


def test_a_compare_under_a_condition_makes_another_one() -> None:
    text = (
        "  2:\tbf1c      \titt\tne\n  4:\t2808      \tcmpne\tr0, #8\n"
        "  6:\t4610      \tmovne\tr0, r2\n"
    )
    found = [(i.condition, i.skip_to) for i in parse(text).values()]
    assert found == [("", 4), ("ne", 6), ("ne", 8)]


EARLY_RETURN = """
__attribute__((naked)) int32_t extra(int32_t n)
{
    __asm__("push {r7, lr}; sub sp, #8; cmp r0, #0;"
            "itt ne; addne sp, #8; popne {r7, pc};"
            "add sp, #SIZE; pop {r7, pc}");
}
"""


def test_an_early_return_under_a_condition_is_followed(project: Make) -> None:
    built = project().add(EARLY_RETURN.replace("SIZE", "8")).build()
    assert stack_bound(built.root).problems == ()
    (problem,) = stack_bound(project().add(EARLY_RETURN.replace("SIZE", "4")).build().root).problems
    assert "returns 4 bytes off" in problem


def test_bound_is_the_deepest_path_with_an_exception(project: Make) -> None:
    built = project("mps2_an385").build()
    result = stack_bound(built.root)
    assert result.problems == ()
    steps = [step.rsplit(" ", 1) for step in result.path]
    cut = next(i for i, (name, _) in enumerate(steps) if name == "exception frame")
    thread, handler = (sum(int(n) for _, n in part) for part in (steps[:cut], steps[cut + 1 :]))
    assert result.nbytes == -(-thread // 8) * 8 + 32 + -(-handler // 8) * 8
    assert [name for name, _ in steps[:3]] == ["Reset_Handler", "main", "tvmgen_default_run"]


def test_painted_stack_over_the_bound_fails(project: Make) -> None:
    built = project().build()
    nbytes = stack_bound(built.root).nbytes
    assert verify(built.root, painted_stack=nbytes).ok
    failed(built, painted_stack=nbytes + 4)


def test_frame_larger_than_the_stack(project: Make) -> None:
    built = project().add(
        "int32_t extra(int32_t n) { volatile char a[5000]; a[n & 4095] = 1; return a[0]; }"
    )
    failed(built.build())


@pytest.mark.sampled(2)
@pytest.mark.parametrize("board", CORTEX_M)
def test_recursion(project: Make, board: str) -> None:
    built = project(board)
    built.flags = ["-O1"]
    built.add("int32_t extra(int32_t n) { return n < 2 ? n : extra(n - 1) + extra(n - 2); }")
    found = failed(built.build()).check("stack").found
    assert "recursion: extra -> extra" in found


@pytest.mark.sampled(2)
@pytest.mark.parametrize("board", CORTEX_M)
def test_call_through_a_variable(project: Make, board: str) -> None:
    built = project(board).add(
        "static int32_t twice(int32_t n) { return 2 * n; }\n"
        "int32_t (*volatile hook)(int32_t) = twice;\n"
        "int32_t extra(int32_t n) { return hook(n) + 1; }"
    )
    assert "unknown indirect call" in failed(built.build()).check("stack").found


@pytest.mark.sampled(2)
@pytest.mark.parametrize("board", CORTEX_M)
def test_call_through_a_constant_table_takes_the_deepest_entry(project: Make, board: str) -> None:
    built = project(board).add(
        "static int32_t flat(int32_t n) { return 2 * n; }\n"
        "static int32_t deep(int32_t n) { volatile int32_t a[100]; a[n & 63] = n; return a[1]; }\n"
        "static int32_t (*const hooks[2])(int32_t) = {flat, deep};\n"
        "int32_t extra(int32_t n) { return hooks[n & 1](n) + 1; }"
    )
    built.build()
    assert verify(built.root).ok
    assert any(step.startswith("deep 4") for step in stack_bound(built.root).path)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("board", "level"),
    [
        *_levels("-Os", "-O2"),
        *(
            pytest.param(f"mps2_an{n}", level, marks=pytest.mark.slow)
            for n in (385, 386, 500)
            for level in ("-Os", "-O2")
        ),
    ],
)
def test_switches_are_followed(project: Make, board: str, level: str) -> None:
    cases = "".join(f"case {i}: return far{i % 3}(n * {i * i + 3});\n" for i in range(12))
    functions = "".join(
        f"__attribute__((noinline)) static int32_t far{i}(int32_t n)\n"
        f"{{ volatile int32_t a[{50 * (i + 1)}]; a[n & 31] = n; return a[2]; }}\n"
        for i in range(3)
    )
    built = project(board)
    built.flags = [level]
    built.add(f"{functions}int32_t extra(int32_t n) {{ switch (n) {{ {cases} }} return 0; }}")
    built.build()
    assert verify(built.root).ok
    assert any(step.startswith("far2 6") for step in stack_bound(built.root).path)


@NEEDS_LLVM
@pytest.mark.parametrize("compiler", ["llvm"])
@pytest.mark.parametrize(
    ("statement", "load"), [("p[0] /= n; ", "ldrb"), ("p[0] /= n; " * 60, "ldrh")]
)
def test_clangs_tables_of_bytes_and_half_words_on_armv6m(
    project: Make, statement: str, load: str
) -> None:
    # With debug information, clang 14 makes tables of words instead.
    cases = "".join(
        f"case {i}: p[{i}] = near(n * {i * i + 3}); {statement}break;\n" for i in range(7)
    )
    built = project("microbit")
    built.flags = ["-Os", "-g0"]
    built.add(
        "static volatile int32_t p[9];\n"
        "__attribute__((noinline)) static int32_t near(int32_t n)\n"
        "{ volatile int32_t a[150]; a[n & 31] = n; return a[2]; }\n"
        f"int32_t extra(int32_t n) {{ switch (n) {{ {cases} }} return p[3]; }}"
    )
    assert verify(built.build().root).failed == ()
    assert any(step.startswith("near 6") for step in stack_bound(built.root).path)
    text = disassemble(built.elf, built.board)
    assert f"\t{load}\tr0, [r0, #4]" in text
    assert "\tadd\tpc, r0" in text


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "align",
    ["bfc r4, #0, #4", "bic r4, r4, #15", "ldr r5, =0x0F\\n bic r4, r4, r5"],
)
def test_a_stack_pointer_that_is_rounded_down_is_as_low_as_it_may_be(
    project: Make, align: str
) -> None:
    built = project("mps2_an386").add(
        "__attribute__((naked, noinline)) int32_t extra(int32_t n) {\n"
        '    __asm__("push {r4, r5, r7, lr}\\n add r7, sp, #8\\n sub sp, #400\\n"\n'
        f'            "mov r4, sp\\n {align}\\n mov sp, r4\\n"\n'
        '            "sub.w r4, r7, #8\\n mov sp, r4\\n pop {r4, r5, r7, pc}\\n .ltorg"); }'
    )
    built.build()
    assert any(step == f"extra {16 + 400 + 12}" for step in stack_bound(built.root).path)
    assert verify(built.root).ok


@pytest.mark.sampled(1)
def test_far_jumps_of_armv6m_are_no_calls(project: Make) -> None:
    # A loop over more code than a Thumb-1 branch can reach, so GCC closes it with `bl`.
    steps = "".join(f"p[{i}] += n * {i + 3};\n" for i in range(600))
    built = project("microbit")
    built.flags = ["-O0"]
    built.add(
        "extern volatile int32_t p[600]; volatile int32_t p[600];\n"
        f"int32_t extra(int32_t n) {{ while (p[0] < n) {{ {steps} }} return p[1]; }}"
    )
    assert verify(built.build().root).failed == ()
    assert "extra" in {i.operands[-1].split("<")[-1].split("+")[0] for i in far_jumps(built)}


def far_jumps(built: Any) -> list[Any]:
    instructions = parse(disassemble(built.elf, built.board)).values()
    return [i for i in instructions if i.mnemonic == "bl" and "+" in i.operands[-1]]


def test_stack_of_variable_size(project: Make) -> None:
    built = project().add(
        "int32_t extra(int32_t n) { volatile char a[n & 63]; a[0] = 1; return a[0]; }"
    )
    assert "cannot follow the stack pointer" in failed(built.build()).check("stack").found


def test_push_in_a_loop(project: Make) -> None:
    built = project().add(
        "__attribute__((naked)) int32_t extra(int32_t n)\n"
        '{ __asm__("1: push {r0, r1}\\n subs r0, #1\\n bne 1b\\n bx lr"); }'
    )
    assert "the stack grows in a loop" in failed(built.build()).check("stack").found


def test_stack_that_is_not_given_back(project: Make) -> None:
    built = project().add(
        '__attribute__((naked)) int32_t extra(int32_t n) { __asm__("push {r0, r1}\\n bx lr"); }'
    )
    assert "returns 8 bytes off" in failed(built.build()).check("stack").found
