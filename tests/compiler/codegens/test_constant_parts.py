"""Parts for code generators whose operands are all constants: they are constants themselves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import microgen
from microgen.graph.ir import interpreter
from microgen.graph.ops import registry
from tests.support.tools import NEEDS_NINJA

TEXT = """#[version = "0.0.5"]
def @main(%a: Tensor[(3), float32]) {
  %0 = abs(-2f);
  %1 = add(%0, %0);
  (add(%a, %0), multiply(%a, %1), %1, add(%a, %a))
}
"""
CODEGENS = ("ccompiler", "dnnl", "examplejsoncompiler")


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "constants.relay"
    path.write_text(TEXT, encoding="ascii")
    return path


@pytest.mark.parametrize("merge", [False, True])
@pytest.mark.parametrize("names", [*((name,) for name in CODEGENS), CODEGENS], ids=str)
def test_they_are_computed_when_the_project_is_generated(
    names: tuple[str, ...], merge: bool, model: Path
) -> None:
    made = microgen.compile_model(model, "native", codegen=names, merge_regions=merge)
    given = {"a": np.array([1, -2, 3], np.float32)}
    values = {**made.graph.constants, **interpreter.evaluate(made.graph, given, registry())}
    found = [values[name].tolist() for name in made.graph.outputs]
    assert found == [[3, 0, 5], [4, -8, 12], 4, [2, -4, 6]]
    assert {function.target for function in made.program.functions} & {*names}
    assert all(node.inputs for node in made.graph.nodes)


@pytest.mark.sampled(1)
@NEEDS_NINJA
@pytest.mark.parametrize("names", [("ccompiler",), CODEGENS], ids=str)
def test_the_firmware_has_them(names: tuple[str, ...], model: Path, tmp_path: Path) -> None:
    microgen.generate(model, "native", tmp_path / "p", codegen=names)
    found = microgen.run(tmp_path / "p", {"a": np.array([1, -2, 3], np.float32)}, compare=True)
    assert found.verdicts[0].ok
    assert [o.reshape(-1).tolist() for o in found.outputs.values()] == [
        [3, 0, 5],
        [4, -8, 12],
        [4],
        [2, -4, 6],
    ]
