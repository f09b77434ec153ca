"""The notes' demo, partitioned for dnnl, from its text to firmware under QEMU."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import microgen
from microgen.compiler.codegens.payloads import readers
from microgen.interface.cli import main
from microgen.project.firmware.module_blob import blob_of
from microgen.relay import blob
from microgen.relay.blob.payloads import ConstLoader
from microgen.running import runner
from microgen.tvm.codegens.json_graph import JsonRuntime
from tests.byoc.seed_demo import by_onnxruntime, close, expected, samples
from tests.relay import seed
from tests.support.places import SEED_DEMO
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA, NEEDS_RISCV
from tests.tvm.codegens.json_graph.test_notes import _CONV2D, _RELU

BOARDS = (
    pytest.param("native", marks=NEEDS_NINJA),
    pytest.param("mps3_an547", marks=[NEEDS_ARM, NEEDS_NINJA]),
    pytest.param("qemu_riscv32", marks=[NEEDS_RISCV, NEEDS_NINJA, pytest.mark.slow]),
)

MY = '''"""Convolutions, and nothing else."""
from microgen.compiler.codegens.external import ExternalCodegen
from microgen.relay.transform import Support


class My(ExternalCodegen):
    """Takes convolutions."""

    name = "my"
    support = Support("my", {"nn.conv2d": lambda call: None})

    def compile(self, functions, board):
        return []


CODEGEN = My()
'''


def test_partition_prints_the_notes_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["partition", str(SEED_DEMO), "--codegen", "dnnl"]) == 0
    out, err = capsys.readouterr()
    assert out == seed.PARTITIONED
    assert "seed_demo.relay:3:8: nn.bias_add is not for dnnl: dnnl has no nn.bias_add" in err


def test_so_does_one_from_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "my.py").write_text(MY, encoding="utf-8")
    found = ["partition", str(SEED_DEMO), "--codegen", "my", "--codegen-path", str(tmp_path)]
    assert main(found) == 0
    assert capsys.readouterr().out == seed.PARTITIONED_FOR_MY


def test_patterns_and_merged_regions_make_one_function_of_the_demo(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["partition", str(SEED_DEMO), "--codegen", "dnnl", "--composite", "--merge-regions"]
    assert main(words) == 0
    text = capsys.readouterr().out
    assert text.count("def @") == 2
    assert 'Composite="dnnl.conv2d_bias_relu"' in text
    assert 'PartitionedFromPattern="nn.conv2d_nn.bias_add_nn.relu_"' in text


@pytest.mark.parametrize(
    ("step", "words"),
    [
        ("composite", 'Composite="dnnl.conv2d_bias_relu"'),
        ("annotate", 'annotation.compiler_begin(%d1, compiler="dnnl")'),
        ("merge", 'annotation.compiler_end(%9, compiler="dnnl")'),
    ],
)
def test_each_step_can_be_seen(step: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--composite"] if step != "merge" else []
    assert main(["partition", str(SEED_DEMO), "--codegen", "dnnl", "--step", step, *options]) == 0
    assert words in capsys.readouterr().out


def test_the_blob_is_that_of_v0_14_and_has_the_notes_graphs() -> None:
    program = microgen.compile_model(SEED_DEMO, "mps3_an547", codegen=("dnnl",)).program
    found = blob.loads(blob_of(program), readers())
    assert [m.type_key for m in found.modules] == ["const_loader", "dnnl_json", "dnnl_json", "_lib"]
    assert found.children == ((1, 2, 3), (), (), ())
    loader, last, first, _ = found.contents
    assert isinstance(loader, ConstLoader)
    symbols = ("tvmgen_default_dnnl_main_0", "tvmgen_default_dnnl_main_2")
    assert loader.variables == dict.fromkeys(symbols, ())
    for content, symbol, notes in zip((first, last), symbols, (_CONV2D, _RELU), strict=True):
        assert isinstance(content, JsonRuntime)
        assert content.symbol == symbol
        graph = json.loads(content.graph_json)
        assert graph.pop("symbol") == f"dnnl_{symbol}"
        assert graph == notes


@pytest.mark.sampled(1)
@pytest.mark.parametrize("board", BOARDS)
def test_it_computes_what_the_demo_does(board: str, tmp_path: Path) -> None:
    options = {"composite": True, "merge_regions": True} if board == "native" else {}
    microgen.generate(SEED_DEMO, board, tmp_path / "p", codegen=("dnnl",), **options)
    report = microgen.verify(tmp_path / "p")
    assert report.ok, str(report)
    inputs = samples(1)
    # comparing layers takes another inference, which takes seconds without an FPU
    has_fpu = board != "qemu_riscv32"
    result = microgen.run(tmp_path / "p", inputs, compare=has_fpu)
    assert all(verdict.ok for verdict in result.verdicts)
    (found,) = result.outputs.values()
    assert close(found, expected(inputs))
    assert close(found, by_onnxruntime(inputs))


@NEEDS_NINJA
def test_other_json_in_the_blob_computes_something_else(tmp_path: Path) -> None:
    project = tmp_path / "p"
    microgen.generate(SEED_DEMO, "native", project, codegen=("dnnl",))
    source = project / "model/codegen/host/src/default_blob.c"
    text = source.read_text(encoding="ascii")
    numbers = bytes(int(n, 16) for n in re.findall("0x([0-9a-f]{2}),", text))
    assert numbers.count(b'"nn.relu"') == 1
    changed = numbers.replace(b'"nn.relu"', b'"tanh"   ')
    head = text[: text.index("0x")]
    body = ",".join(map(hex, changed))
    source.write_text(f"{head}{body}}};\n", encoding="ascii")
    elf = microgen.build(project).elf
    inputs = samples(1)
    (outputs,) = runner.run(project, inputs, elf=elf).outputs.values()  # runs it without verifying
    found = outputs[0]
    plain = expected(inputs)[0]
    assert not close(found, plain)
    assert np.abs(found).max() <= 1.0  # relu's largest output would be greater
    positive = plain > 0
    np.testing.assert_allclose(found[positive], np.tanh(plain[positive]), atol=1e-5)
