"""Each primitive function is lowered once per target; external functions are compiled last."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from microgen.base.errors import MicrogenError
from microgen.compiler import codegens, partition, passes
from microgen.compiler.codegens.base import Codegen, Primitive, Region
from microgen.compiler.lowering import functions
from microgen.graph.ir.graph import Graph, Node
from microgen.graph.ir.refusal import Refusal
from microgen.options import Options
from microgen.planner.program.types import Role
from microgen.target import board as boards
from microgen.target.board import Board
from tests.devices.networks import BOTH, chain
from tests.support.compiling import program_of

BOARD = boards.load("mps2_an386")
CONV = "tvmgen_default_fused_nn_conv2d_nn_bias_add"


def test_equal_functions_of_one_target_are_one() -> None:
    program = program_of(chain("npu0", "npu0"), Options(targets=BOTH))
    assert [f.name for f in program.functions] == [CONV]


def test_equal_functions_of_two_targets_are_two_of_distinct_names() -> None:
    program = program_of(chain("", "dsp", "", "dsp2"), Options(targets=("dsp", "dsp2")))
    assert [f.name for f in program.functions] == [CONV, f"{CONV}_1", f"{CONV}_2"]
    assert [call.function for call in program.calls] == [CONV, f"{CONV}_1", CONV, f"{CONV}_2"]
    first, second, third = program.functions
    assert first.body == second.body == third.body


def test_functions_are_listed_by_target() -> None:
    program = program_of(chain("npu1", "", "npu0", "npu1"), Options(targets=BOTH))
    found = {t: [f.name for f in fs] for t, fs in program.lowered_functions.items()}
    assert list(found) == ["npu1", "host", "npu0"]
    assert sum(map(len, found.values())) == len(program.functions) == 3


def test_only_operators_of_devices_are_passed_a_context_last() -> None:
    program = program_of(chain("npu0", "dsp", ""), Options(targets=("npu0:device-api", "dsp")))
    roles = [[p.role for p in f.parameters].count(Role.DEVICE) for f in program.functions]
    assert roles == [1, 0, 0]
    last = program.functions[0].parameters[-1]
    assert (last.ctype, last.name) == ("void", "device_context_npu0")
    assert [call.device for call in program.calls] == ["npu0", "", ""]


def test_external_functions_have_their_own_names_and_are_never_one() -> None:
    program = program_of(chain("npu0/f", "", "npu0/g"), Options(targets=BOTH))
    assert [f.name for f in program.functions] == ["f", CONV, "g"]
    assert [(m.target, m.functions) for m in program.external_modules] == [("npu0", ("f", "g"))]


def test_external_modules_are_one_per_target() -> None:
    places = ("npu1/tvmgen_default_npu1_main_0", "npu0/b-c", "npu1/d")
    program = program_of(chain(*places), Options(targets=BOTH))
    found = {m.target: m.functions for m in program.external_modules}
    assert found == {"npu1": ("tvmgen_default_npu1_main_0", "d"), "npu0": ("b_c",)}


class _Recording:
    """The built-in codegen, which also records what it lowers."""

    name = "builtin"

    def __init__(self) -> None:
        self.real: Codegen = codegens.registry()["builtin"]
        self.lowered: list[str] = []

    def claims(self, graph: Graph, board: Board) -> Sequence[Region | Refusal[Node]]:
        return self.real.claims(graph, board)

    def lower(self, regions: Sequence[Region], graph: Graph, board: Board) -> Sequence[Primitive]:
        self.lowered += [region.function or region.main.outputs[0] for region in regions]
        return self.real.lower(regions, graph, board)


def test_external_functions_are_compiled_after_all_others_target_by_target() -> None:
    graph = passes.run(chain("npu0/f", "", "npu1/g", "npu0/h", "npu1"))
    recording = _Recording()
    parts = partition.assign(graph, [recording], BOARD)
    lowered = functions.lower_regions(parts, {"builtin": recording}, BOARD, "tvmgen_x", ())
    assert recording.lowered == ["layer1", "layer4", "f", "h", "g"]
    assert [item.function.name for item in lowered.regions][::2] == [
        "f",
        "g",
        lowered.functions_without(())[4].name,
    ]
    assert [m.functions for m in lowered.external] == [("f", "h"), ("g",)]


@pytest.mark.parametrize(
    ("places", "message"),
    [
        (("npu0/f.1", "", "npu0/f_1"), "'f_1' is 'f_1' in C, as 'f.1' is"),
        (("npu0/output",), "as an input or an output is"),
        (("npu0/TVMDeviceNpu0Open",), "a name of the runtime"),
        (("npu0/main",), "a name of the runtime"),
    ],
)
def test_an_external_function_with_a_name_of_something_else_is_refused(
    places: tuple[str, ...], message: str
) -> None:
    with pytest.raises(MicrogenError, match=message):
        program_of(chain(*places), Options(targets=BOTH))


def test_a_function_on_two_targets_is_refused() -> None:
    with pytest.raises(MicrogenError, match="function 'f' has nodes on 'npu0' and 'npu1'"):
        program_of(chain("npu0/f", "npu1/f"), Options(targets=BOTH))


def test_a_function_that_something_interrupts_is_refused() -> None:
    with pytest.raises(MicrogenError, match=r'layer "layer1".*before the function has ended'):
        program_of(chain("npu0/f", "", "npu0/f"), Options(targets=BOTH))
